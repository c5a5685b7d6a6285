"""forebay-ior on both MPIs: what the original gets wrong, and every back end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from suite import mpi as m
from suite.verdict import ensure

GOOD, USAGE, INPUT_OUTPUT, DATA_WRONG, TIME_LIMIT, REFUSED = range(6)


def program(mpi: m.Mpi) -> Path:
    path = m.LIBRARIES / mpi.family / "forebay-ior"
    ensure(path.exists(), f"no {path} (it is not built). Run `make build`.")
    return path


@dataclass(frozen=True, kw_only=True)
class Ior:
    """Runs forebay-ior in `folder` on some ranks."""

    mpi: m.Mpi
    folder: Path
    ranks: int = 2
    seconds_max: float = 60

    def __call__(self, line: str, *, status: int = GOOD, **environment: str) -> str:
        words = ["env", "-C", str(self.folder), str(program(self.mpi)), *line.split()]
        ended = m.run(
            self.mpi,
            self.ranks,
            words,
            seconds_max=self.seconds_max,
            environment=environment,
        )
        ensure(not ended.late, f"no end of {ended.command}\n{ended.tail}")
        ensure(
            ended.status == status,
            f"status {ended.status} instead of {status}: {ended.command}\n{ended.tail}",
        )
        return ended.text

    def ensure_clean(self, *kept: str) -> None:
        left = sorted(path.name for path in self.folder.iterdir())
        ensure(left == sorted(kept), f"{left} are left instead of {sorted(kept)}")


def rows_of(text: str, head: str) -> tuple[list[str], list[list[str]]]:
    """The table whose head begins with `head`: names of its columns, and its rows."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(head))
    names = lines[at].split()
    rows = [line.split() for line in lines[at + 1 :] if re.match(r"(write|read) +[\d.]", line)]
    return names, [row for row in rows if len(row) == len(names)]


RESULTS, SUMMARY = "access    bw(MiB/s)", "Operation   Max(MiB)"


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and line[0] != "#"]
