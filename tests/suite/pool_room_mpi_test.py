"""A disk that gets full below the pool of an MPI program: close and sync say so on all ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import mpi as m
from suite import pool as daemon
from suite.compare import RECORD, Output
from suite.file_systems import full_when_asked, mounted_tmpfs
from suite.on import EACH, FULL
from suite.pool import Pool
from suite.pooled import KEPT
from suite.verdict import ensure

RANKS = 4
MIB = 1 << 20
HOWS = ["blocks", "pieces", "alone"]


def _told(mpi: m.Mpi, folder: Path, how: str, file: Path, mark: str, one: Pool) -> Output:
    program = m.build(mpi, "late_errors.c")
    environment = one.with_mpi(m.forebay(folder / RECORD))
    words = [program, folder, how, file, mark]
    m.run(mpi, RANKS, words, seconds_max=180, environment=environment).ensure_success()
    output = Output.read(folder)
    ensure(output.complete, "the program did not come to its end")
    ensure(not output.cases["late_errors"].wrong, output.cases["late_errors"].wrong)
    return output


@EACH
@pytest.mark.parametrize("how", [*HOWS, *(pytest.param(f"{how}-sync", marks=FULL) for how in HOWS)])
def test_what_cannot_arrive_is_told_at_the_close_on_each_rank(
    how: str, mpi: m.Mpi, folder: Path
) -> None:
    """Both MPIs said that all was well where the disk got full since the daemon had last looked at
    it, which is each second; Open MPI does not pass on what closing its own descriptor says."""
    with mounted_tmpfs(folder / "small", "48m") as small:
        pooled = small / "pool"
        pooled.mkdir()
        with daemon.pool(pooled, KEPT, rescue=folder) as one:
            mark = folder / "all is written"
            with full_when_asked(small, mark):
                told = _told(mpi, folder, how, pooled / "file", str(mark), one).info
            ensure(one.taken() == 2 * RANKS * MIB, f"{one.taken()} bytes were deposited")
            ensure(told["write"]["class"] == "MPI_SUCCESS", f"write: {told['write']['class']}")
            for what in ["sync", "close"] if how.endswith("-sync") else ["close"]:
                ensure(told[what]["class"] == "MPI_ERR_NO_SPACE", f"{what}: {told[what]['class']}")
            ensure(one.end() == 1, "the daemon ended as if all had arrived")


@EACH
@pytest.mark.parametrize("how", HOWS)
def test_a_close_waits_for_no_disk_that_has_room(how: str, mpi: m.Mpi, folder: Path) -> None:
    """There is less than the pool could hold, but enough for what it has."""
    with mounted_tmpfs(folder / "small", "48m") as small:
        pooled = small / "pool"
        pooled.mkdir()
        with daemon.pool(pooled, KEPT, rescue=folder) as one:
            told = _told(mpi, folder, how, pooled / "file", "-", one).info
            ensure(told["close"]["class"] == "MPI_SUCCESS", f"close: {told['close']['class']}")
        ensure((pooled / "file").stat().st_size == 2 * RANKS * MIB, "some of it is not there")
