"""Processes that fork while their threads write, and processes that share a file by its locks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])


@HOW
@pytest.mark.parametrize("children", [300, pytest.param(1500, marks=FULL)])
def test_forks_beside_threads_that_write(
    children: int, settings: Mapping[str, str], folder: Path
) -> None:
    """Two threads that forked at a time put the offset back by what a third one had written."""
    program = pooled.program("forks.c", "-pthread")
    with pooled.pool(folder, settings) as served:
        said = pooled.run([program, children], served.folder, served.environment())
        ensure(served.taken() > 0, "nothing was deposited")
    expected = "wrong or twice: 0\nmissing: 0\nfiles with an offset that went back: 0\n"
    ensure(said == expected, said)
    plain = folder / "pool" / "shared"
    ensure(plain.stat().st_size % 512 == 0, "the file ends within a record")


@HOW
@pytest.mark.parametrize("how", ["fcntl", "ofd", "flock"])
def test_locks(how: str, settings: Mapping[str, str], folder: Path) -> None:
    """A process that takes the lock reads everything that another wrote before it gave the lock
    away. Nothing that the capture does gives a lock away: truncate() by a name did."""
    pooled.Twice(command=[pooled.program("locks.c"), how]).ensure_same(folder, settings)
