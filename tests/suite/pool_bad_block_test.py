"""A file system that fails on one block of one file: all else arrives, and what did not is told,
kept, and written once the block is mended."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from suite.command import forebay
from suite.file_systems import fuse_file_system
from suite.pool_run_test import KEPT, content, run_json
from suite.verdict import ensure

BLOCK = 64 << 10
BLOCKS = 192
BAD = 100
"""Number of the block that fails."""

# Says what each call returns that is to tell of the error, and goes on all the same.
WRITER = f"""
import errno, os, sys
def said(what, call):
    try:
        print(what, call())
    except OSError as error:
        print(what, errno.errorcode[error.errno])
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
other = os.open(sys.argv[1] + ".other", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
for number in range({BLOCKS}):
    for one in (file, other):
        assert os.pwrite(one, bytes([number % 251]) * {BLOCK}, number * {BLOCK}) == {BLOCK}
if sys.argv[2] == "sync":
    said("fsync", lambda: os.fsync(file))
    said("write", lambda: os.pwrite(file, bytes([0]) * {BLOCK}, 0))
    said("close", lambda: os.close(file))
    said("fsync of the other", lambda: os.fsync(other))
"""


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("sync", ["fsync EIO", "write EIO", "close EIO", "fsync of the other None"]),
        ("leave", []),
    ],
)
def test_a_block_that_cannot_be_written(mode: str, expected: Sequence[str], folder: Path) -> None:
    place = ("out", str(BAD * BLOCK), str(BLOCK))
    with fuse_file_system(folder, "bad_block_fs.c", *place) as disk:
        bad = folder / "backing" / "bad"
        bad.touch()
        out = disk / "out"
        program = [sys.executable, "-c", WRITER, str(out), mode]
        status, said, told = run_json(folder, *KEPT, "--pool", disk, "--", *program)
        ensure(status == told["status"] == 74, told)
        ensure(said.splitlines() == list(expected), said)
        ensure((disk / "out.other").read_bytes() == content(BLOCKS), "the other file is not there")
        (kept,) = told["pool"]["rescued"]
        ensure(kept["path"] == str(out) and kept["error_text"] == "Input/output error", kept)
        ensure(kept["bytes"] == BLOCK, f"{kept['bytes']} bytes are told, {BLOCK} did not arrive")
        arrived, expected_bytes = bytearray(out.read_bytes()), content(BLOCKS)
        hole = slice(BAD * BLOCK, (BAD + 1) * BLOCK)
        ensure(not any(arrived[hole]), "the bad block was written")
        arrived[hole] = expected_bytes[hole]
        ensure(bytes(arrived) == expected_bytes, "another block did not arrive")
        still = forebay("pool", "rescue", kept["file"], cwd=folder)
        ensure(still.returncode == 74 and "Input/output error" in still.stderr, still.stderr)
        bad.unlink()
        done = forebay("pool", "rescue", kept["file"], cwd=folder)
        ensure(done.returncode == 0, done.stderr)
        ensure(out.read_bytes() == expected_bytes, "other bytes once it is rescued")
        ensure(not list(folder.glob("forebay-rescue-*")), "the rescue folder is still there")
