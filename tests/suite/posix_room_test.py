"""A file system that is full, and has room again: a program is told of no full disk that would not
be full without the pool, and of each that is."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.file_systems import mounted_tmpfs
from suite.verdict import ensure

REFILLED = """
import errno, os

def until_full(name, piece):
    fd, wrote, error = os.open(name, os.O_RDWR | os.O_CREAT, 0o644), 0, 0
    try:
        while True:
            wrote += os.write(fd, piece)
    except OSError as full:
        error = full.errno
    try:
        os.close(fd)
    except OSError as late:
        error = late.errno
    return wrote, errno.errorcode[error]

def small(name):
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        wrote = sum(os.write(fd, bytes(1024)) for _ in range(100))
        os.close(fd)
        return wrote
    except OSError as failed:
        return errno.errorcode[failed.errno]

for round in range(10):
    print(round, until_full("fill", bytes([round + 1]) * PIECE))
    os.unlink("fill")
    print(round, small("small"))
    os.unlink("small")
"""


def _refilled(folder: Path, piece: int, environment: Mapping[str, str]) -> str:
    code = REFILLED.replace("PIECE", str(piece))
    return pooled.run([sys.executable, "-c", code], folder, environment)


@pytest.mark.parametrize("piece", [1024, 100_000])
@pytest.mark.parametrize("size", ["8m", "24m", "80m"])
def test_a_disk_that_has_room_again_is_not_full(size: str, piece: int, folder: Path) -> None:
    """A file that is unlinked and closed gives its room back before anybody else needs it, though
    the daemon had it open. 8 MiB: there is never room to promise; 24: there is at first; 80: there
    is for longer."""
    with mounted_tmpfs(folder / "plain", size) as plain:
        expected = _refilled(plain, piece, {})
    with mounted_tmpfs(folder / "pool", size), pooled.pool(folder, {}) as served:
        said = _refilled(served.folder, piece, served.environment())
    wrong = [
        line
        for line in zip(said.splitlines(), expected.splitlines(), strict=True)
        if line[0] != line[1] and "ENOSPC')" not in line[0]
    ]
    ensure(not wrong, f"with the pool, and plain: {wrong}")
    if size == "8m":
        ensure(said == expected, f"{said}\nand plain\n{expected}")
