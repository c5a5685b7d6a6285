"""`forebay probe` as a user runs it, in a folder of its own, while something goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite import mpi as m
from suite.file_systems import python_of_nobody, until
from suite.verdict import ensure

RANKS = 2
SECONDS = 25
WITHIN = ("--seconds", str(SECONDS), "--share", "100%")
SECONDS_MAX = 200
# The packages of forebay are Python only: another interpreter of the machine can use them, too.
PACKAGES = f"{m.ROOT / 'python'}:{sysconfig.get_path('purelib')}"


@dataclass(frozen=True, kw_only=True)
class Prober:
    """Probes below `folder`. `prefix`: what makes the user another."""

    folder: Path
    python: str = sys.executable
    prefix: Sequence[str] = ()
    launcher: Sequence[str] = ()

    @property
    def journal(self) -> Path:
        return self.folder / "portrait.toml.journal"

    @property
    def portrait(self) -> Path:
        return self.folder / "portrait.toml"

    def words(self, directory: Path, *options: str) -> list[str]:
        ranks = self.launcher or m.MPICH.start(RANKS, {})
        given = ("probe", str(directory), *WITHIN, *options, "-o", str(self.portrait))
        return self.forebay(*given, "--", *ranks)

    def forebay(self, *words: str) -> list[str]:
        return [*self.prefix, self.python, "-m", "forebay", *words]

    def run(self, words: Sequence[str], *, status: int) -> str:
        """Its output on standard error; another status is a failure."""
        with self.started(words) as (process, errors):
            ended = until(lambda: process.poll() is not None, SECONDS_MAX)
        said = errors.read_text()
        ensure(ended, f"not done: {' '.join(words)}\n{said[-1500:]}")
        ensure(process.returncode == status, f"status {process.returncode}\n{said[-1500:]}")
        ensure("Traceback" not in said, said)
        return said

    @contextlib.contextmanager
    def started(self, words: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
        """Running, with the file that has what it says on standard error."""
        errors = self.folder / "errors"
        environment = {**m.clean_environment(), "PYTHONPATH": PACKAGES}
        if os.environ.get("FOREBAY_LIBDIR"):
            environment["FOREBAY_LIBDIR"] = os.environ["FOREBAY_LIBDIR"]
        with errors.open("wb") as file:
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
            )
        try:
            yield process, errors
        finally:
            m.end_group(process)

    def measured(self) -> int:
        """So many probes are in the journal."""
        with contextlib.suppress(FileNotFoundError):
            lines = self.journal.read_text().splitlines()
            return sum('"sample"' in line for line in lines)
        return 0

    def discarded(self) -> list[str]:
        """Why probes in the journal do not count."""
        lines = [json.loads(line) for line in self.journal.read_text().splitlines()]
        return [line["discarded"] for line in lines if line.get("discarded")]

    def await_probes(self, process: subprocess.Popen[bytes], count: int) -> None:
        """Until so many are done, and another one is not."""
        is_there = until(
            lambda: self.measured() >= count or process.poll() is not None, SECONDS_MAX
        )
        said = (self.folder / "errors").read_text()[-1500:]
        ensure(is_there and process.poll() is None, f"no {count} probes\n{said}")


def unprivileged(folder: Path) -> Prober:
    """One without root; `folder` is that user's."""
    folder = folder.resolve()
    prefix, python = python_of_nobody(folder)
    return Prober(folder=folder, prefix=prefix, python=python)


def children(parent: int) -> set[int]:
    """All processes that a process has started, and these."""
    above: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            above[int(folder.name)] = int(_stat(int(folder.name))[1])
    found, parents = set[int](), {parent}
    while parents:
        parents = {pid for pid, its in above.items() if its in parents}
        found |= parents
    return found


def state(pid: int) -> str:
    """As ps says it; X for what is gone."""
    try:
        return _stat(pid)[0]
    except OSError:
        return "X"


def is_there(pid: int) -> bool:
    """Not even as a zombie that waits for init."""
    return state(pid) not in "XZ"


def can_end(pid: int) -> bool:
    """Whether it is there and not in a call that the kernel does not end."""
    return is_there(pid) and state(pid) != "D"


def _stat(pid: int) -> list[str]:
    """State, parent …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
