"""A tier of fast storage for a test: a folder, a fast place, and a mount with both."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from suite import mounted as mo
from suite import mpi as m
from suite.file_systems import until
from suite.verdict import ensure

TOOL = m.LIBRARIES / "forebay-tier"
LEDGER_WRITER = m.ROOT / "tests" / "posix" / "tier_ledger.py"
MIB = 1 << 20
KEPT = "write move=manual"


@dataclass(frozen=True, kw_only=True)
class Tier:
    """A folder with a fast place. Nobody has mounted it yet."""

    folder: Path
    fast: Path
    root: Path = field(default=Path())

    def options(self, policy: str, *more: str) -> Sequence[str]:
        return ("--fast", str(self.fast), "--policy", policy, *more)

    @contextlib.contextmanager
    def started(self, policy: str = "write", *more: str) -> Iterator[mo.Mounted]:
        with mo.served(self.folder, options=self.options(policy, *more)) as mount:
            yield mount

    def tool(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """forebay-tier, once the process that had the place has let it go."""
        return mo.run_in(Path("/"), str(TOOL), *words, check=check)

    def replicas(self) -> list[Path]:
        return sorted(Path(self.fast, "replicas").iterdir())

    def rescued(self) -> list[Path]:
        return sorted(one for one in Path(self.fast, "rescue").iterdir() if one.suffix != ".txt")


@contextlib.contextmanager
def new_tier() -> Iterator[Tier]:
    with tempfile.TemporaryDirectory(prefix="tier.", dir="/tmp") as made:
        folder, fast = Path(made, "global"), Path(made, "fast")
        folder.mkdir()
        fast.mkdir(mode=0o700)
        yield Tier(folder=folder, fast=fast, root=Path(made))


@contextlib.contextmanager
def ledger_writer(
    folder: Path, ledger: Path, *words: str, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that writes files, and to a ledger outside what they have; killed behind."""
    command = [sys.executable, *map(str, (LEDGER_WRITER, folder, ledger)), *words]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as writer:
        try:
            yield writer
        finally:
            writer.kill()


def lines_of(ledger: Path) -> int:
    return ledger.read_text().count("\n") if ledger.exists() else 0


def check_ledger(ledger: Path, folder: Path) -> None:
    """Fails if a file has not what the ledger says, or if that says nothing."""
    book = [json.loads(line) for line in ledger.read_text().splitlines()]
    ensure(book, "nothing was written before the kill")
    for one in book:
        found = (folder / one["name"]).read_bytes()
        ensure(found == random.Random(one["seed"]).randbytes(one["bytes"]), f"{one}: {len(found)}")


def bytes_of(count: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(count)


def status_of(folder: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads(os.getxattr(folder, "user.forebay.status"))
    return found


def state_of(file: Path) -> str:
    state: str = json.loads(os.getxattr(file, "user.forebay.state"))["state"]
    return state


def order(file: Path, what: str) -> None:
    os.setxattr(file, "user.forebay.order", what.encode())


def stop(mount: mo.Mounted, expected: int = 0) -> str:
    """Ends the tier; returns what it said."""
    mount.process.terminate()
    _, said = mount.process.communicate(timeout=mo.SECONDS_MAX)
    ensure(
        mount.process.returncode == expected, f"it ended with {mount.process.returncode}: {said}"
    )
    return said


def until_moved(folder: Path) -> None:
    ensure(until(lambda: status_of(folder)["waiting"] == 0, mo.SECONDS_MAX), "it is not moved")
