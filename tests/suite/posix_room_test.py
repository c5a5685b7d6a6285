"""A file system that is full, and has room again: a program is told of no full disk that would not
be full without the pool, and of each that is."""

from __future__ import annotations

import ast
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
    fd, wrote, error = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644), 0, 0
    try:
        for _ in range(100):
            wrote += os.write(fd, bytes(1024))
        os.close(fd)
    except OSError as failed:
        error = failed.errno
    return wrote, errno.errorcode.get(error, "")

for round in range(10):
    print(until_full("fill", bytes([round + 1]) * PIECE))
    os.unlink("fill")
    print(small("small"))
    os.unlink("small")
"""


def _refilled(folder: Path, piece: int, environment: Mapping[str, str]) -> list[tuple[int, str]]:
    """Bytes written and the error, "" for none: of the file that fills the disk, of the small one
    behind it, and so on."""
    code = REFILLED.replace("PIECE", str(piece))
    said = pooled.run([sys.executable, "-c", code], folder, environment)
    return [ast.literal_eval(line) for line in said.splitlines()]


@pytest.mark.parametrize("piece", [1024, 100_000])
@pytest.mark.parametrize("size", ["8m", "24m", "80m"])
def test_a_disk_that_has_room_again_is_not_full(size: str, piece: int, folder: Path) -> None:
    """A file that is unlinked and closed gives its room back before anybody else needs it, though
    the daemon had it open. 8 MiB: there is never room to promise; 24: there is at first; 80: there
    is for longer."""
    with mounted_tmpfs(folder / "plain", size) as plain:
        expected = _refilled(plain, piece, {})
    with mounted_tmpfs(folder / "pool", size), pooled.pool(folder, {}) as served:
        found = _refilled(served.folder, piece, served.environment())
    wrong = [
        (pool, plain)
        for pool, plain in zip(found, expected, strict=True)
        if pool[1] != plain[1] or pool[0] < plain[0] - piece
    ]
    ensure(not wrong, f"with the pool, and plain: {wrong}")
    if size == "8m":
        ensure(found == expected, f"{found}\nand plain\n{expected}")
