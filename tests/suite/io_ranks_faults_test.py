"""Deaths and full disks while a program with I/O ranks writes: nobody hangs, every rank is told,
and what was acknowledged is in the files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import full_when_asked, mounted_tmpfs
from suite.io_ranks import forebay_run
from suite.on import FULL, on
from suite.verdict import ensure

BLOCK = 1 << 18
BLOCKS_BEFORE = 8
RANKS = 3
# Nothing is drained while the program runs.
KEPT = ("--set", "pool_quiet=60000", "--set", "pool_age=3600")


def _acknowledged_is_there(folder: Path) -> None:
    """Each block whose write has returned, in the file of each rank."""
    counts = struct.unpack(f"<{RANKS}q", Path(f"{folder}.acknowledged").read_bytes())
    ensure(min(counts) >= BLOCKS_BEFORE, f"too little was written: {counts}")
    for rank, count in enumerate(counts):
        found = (folder / str(rank)).read_bytes()
        for at in range(count):
            wanted = bytes([(rank * 31 + at) & 0xFF]) * BLOCK
            ensure(found[at * BLOCK : (at + 1) * BLOCK] == wanted, f"rank {rank} lost block {at}")


@pytest.mark.parametrize(
    ("mpi", "way", "kept"),
    [
        pytest.param(
            *(mpi, way, kept),
            id=f"{mpi.name}-{way}" + ("-kept" if kept else ""),
            marks=() if (mpi, way, kept) == (m.OPEN_MPI, "kill", True) else FULL,
        )
        for mpi in m.DEBIAN
        for way in ("kill", "kill_io_ranks")
        for kept in (True, False)
    ],
)
def test_a_rank_that_is_killed_takes_nothing_along(
    mpi: m.Mpi, way: str, kept: bool, folder: Path
) -> None:
    """A rank of the program amid a write, or the I/O rank while others write: the launcher ends the
    job, and the daemon, which is none of its ranks, writes what it has taken."""
    (folder / "out").mkdir()
    program = m.build(mpi, "io_ranks_writes.c")
    options = ["--io-ranks", 1, "--pool", folder / "out", *(KEPT if kept else ())]
    ended = forebay_run(mpi, options, RANKS + 1, program, folder / "out", way)
    ensure(ended.status not in (0, 74), f"status {ended.status}:\n{ended.tail}")
    _acknowledged_is_there(folder / "out")


@on(m.OPEN_MPI, m.MPICH)
@pytest.mark.full
def test_a_full_disk_is_told_to_each_rank(mpi: m.Mpi, folder: Path) -> None:
    mark = folder / "all is written"
    program = m.build(mpi, "io_ranks_writes.c")
    with mounted_tmpfs(folder / "small", "64m") as small, full_when_asked(small, mark):
        (small / "out").mkdir()
        options = ["--io-ranks", 1, "--pool", small / "out", *KEPT]
        words = [program, small / "out", "full", mark]
        ended = forebay_run(mpi, options, RANKS + 1, *words, folder=folder)
        ensure(ended.status == 74, f"status {ended.status}:\n{ended.tail}")
        for rank in range(RANKS):
            told = f"rank {rank}: fsync: No space left on device"
            ensure(told in ended.text, f"not told to rank {rank}:\n{ended.tail}")
            ensure(str(small / "out" / str(rank)) in ended.text, f"file {rank} is not named")
        ensure("forebay pool rescue" in ended.text, f"no way out is told:\n{ended.tail}")
