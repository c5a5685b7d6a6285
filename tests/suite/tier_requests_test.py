"""Requests of a tier to a slow parallel file system: counted by a file system that says what it was
asked. Closes, and names and attributes, which the kernel remembers for a while, are not counted."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.file_systems import served_file_system, until
from suite.ordinary_user import IS_ROOT
from suite.verdict import ensure

KIB = 1 << 10
_REQUEST = re.compile(r"opcode: (\w+)")
_NOT_COUNTED = frozenset(
    {"LOOKUP", "GETATTR", "POLL", "FLUSH", "RELEASE", "FORGET", "BATCH_FORGET", "INTERRUPT"}
)

pytestmark = pytest.mark.skipif(
    not IS_ROOT or not mo.can_mount(), reason="no forebay-mount, or no root. Build it; be root."
)


@dataclass(frozen=True, kw_only=True)
class Slow:
    """A folder on the slow file system, under a tier."""

    folder: Path
    log: Path

    @contextlib.contextmanager
    def counted(self, counts: Counter[str]) -> Iterator[None]:
        """Adds what is asked meanwhile."""
        begin = self.log.stat().st_size
        yield
        with self.log.open(encoding="utf-8", errors="replace") as lines:
            lines.seek(begin)
            counts.update(one for one in _REQUEST.findall(lines.read()) if one not in _NOT_COUNTED)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    with tempfile.TemporaryDirectory(prefix="tier.", dir="/tmp") as made:
        log, fast = Path(made, "requests"), Path(made, "fast")
        fast.mkdir(mode=0o700)
        monkeypatch.setenv("FS_REQUESTS", str(log))
        with served_file_system(Path(made), "attribute_fs.c") as (mount, _):
            folder = mount / "me"
            folder.mkdir()
            options = ("--fast", str(fast), "--policy", "write preload move=manual")
            with mo.served(folder, options=options):
                yield Slow(folder=folder, log=log)


def _order(file: Path, what: str) -> None:
    os.setxattr(file, "user.forebay.order", what.encode())


def _state(file: Path) -> str:
    state: str = json.loads(os.getxattr(file, "user.forebay.state"))["state"]
    return state


def _at_most(counts: Counter[str], **most: int) -> None:
    over = {name: found for name, found in counts.items() if found > most.get(name, 0)}
    ensure(not over, f"more than {most} was asked: {dict(counts)}")


def test_a_file_that_is_written_costs_its_name_and_its_marker(slow: Slow) -> None:
    (slow.folder / "earlier").write_bytes(b"x")  # what is asked once
    counts: Counter[str] = Counter()
    with slow.counted(counts), (slow.folder / "x").open("wb", buffering=0) as file:
        for _ in range(16):
            file.write(bytes(64 * KIB))
    ensure(_state(slow.folder / "x") == "dirty", "it did not come to the tier")
    # GETXATTR: its folder's policy, and whether another node has it, before and when it is made.
    _at_most(counts, CREATE=1, OPEN=1, GETXATTR=3, SETXATTR=1, REMOVEXATTR=1)


def test_a_replica_is_read_without_the_slow_file_system(slow: Slow) -> None:
    file = slow.folder / "x"
    file.write_bytes(bytes(256 * KIB))
    _order(file, "move")
    ensure(_state(file) == "clean", "it is not moved")
    # A file that was changed within the second before it was looked at is compared (git's rule).
    until(lambda: time.time() > file.stat().st_mtime + 1.5, 10)
    file.read_bytes()
    counts: Counter[str] = Counter()
    with slow.counted(counts):
        content = file.read_bytes()
    ensure(content == bytes(256 * KIB), "it has other bytes")
    # The file is opened for the program, and looked at: nobody else may have changed it.
    _at_most(counts, OPEN=2, GETXATTR=3)


def test_a_file_is_moved_in_one_pass(slow: Slow) -> None:
    file = slow.folder / "x"
    file.write_bytes(bytes(256 * KIB))
    counts: Counter[str] = Counter()
    with slow.counted(counts):
        _order(file, "move")
    ensure(_state(file) == "clean", "it is not moved")
    # SETXATTR: that it is on its way, and that it is there. FSYNC: before that, and after it.
    _at_most(counts, OPEN=2, GETXATTR=4, SETXATTR=2, WRITE=2, SETATTR=1, FSYNC=2)
