"""The output API where the disk is full, or a rank ends amid a step: every rank is told, nobody
hangs, and the steps before are in the file. And in a world with I/O ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import mounted_tmpfs
from suite.io_ranks import forebay_run
from suite.on import FULL, on
from suite.output_programs import (
    NETCDF4_OPTIONS,
    RECORD_OPTIONS,
    c_program,
    ensure_steps,
    file_of_pnetcdf,
    records_of_gfortran,
    same,
)
from suite.verdict import ensure

RANKS = 3
# A step has 8 MiB: two are on the disk, and there is no room for a third.
DISK = "20m"
STEPS_ON_DISK = 2
FORMATS = {"cdf5": "", "netcdf4": NETCDF4_OPTIONS, "fortran": RECORD_OPTIONS}
QUICK_FULL_DISKS = (("cdf5", "plain"), ("netcdf4", "plain"), ("netcdf4", "pool"))
QUICK_DEATHS = (("netcdf4", "kill"), ("cdf5", "exit"))


def _has(mpi: m.Mpi, kind: str) -> bool:
    """Debian has PnetCDF for Open MPI only."""
    return kind != "cdf5" or mpi.is_open_mpi


def _run(mpi: m.Mpi, way: str, *words: object, folder: Path) -> m.Ended:
    """`way`: plain, or `forebay run` with a pool or without."""
    program = c_program(mpi, "output_ends")
    if way == "plain":
        ended = m.run(mpi, RANKS, [program, *words])
        ensure(not ended.late, f"it hangs:\n{ended.tail}")
        return ended
    options = ["--pool", Path(str(words[1])).parent] if way == "pool" else []
    return forebay_run(mpi, options, RANKS, program, *words, folder=folder)


@pytest.mark.parametrize(
    ("mpi", "kind", "way"),
    [
        pytest.param(
            *(mpi, kind, way),
            id=f"{mpi.name}-{kind}-{way}",
            marks=() if mpi is m.OPEN_MPI and (kind, way) in QUICK_FULL_DISKS else FULL,
        )
        for mpi in m.DEBIAN
        for kind in FORMATS
        for way in ("plain", "run", "pool")
        if _has(mpi, kind)
    ],
)
def test_a_full_disk_is_told_to_each_rank(mpi: m.Mpi, kind: str, way: str, folder: Path) -> None:
    with mounted_tmpfs(folder / "small", DISK) as small:
        path = small / "out" / "steps"
        path.parent.mkdir()
        ended = _run(mpi, way, "full", path, FORMATS[kind], folder=folder)
        ensure(ended.status != 0, f"it ends with success:\n{ended.tail}")
        if way == "pool":
            # Deposited bytes are acknowledged: the error may come when the program has ended.
            ensure("No space left" in ended.text, ended.tail)
            return
        for rank in range(RANKS):
            ensure(f"rank {rank}: told by fbo_" in ended.text, f"not told to {rank}:\n{ended.tail}")
        ensure_steps(path, FORMATS[kind], STEPS_ON_DISK)


@on(m.OPEN_MPI, full=[m.MPICH])
def test_a_file_that_is_not_complete_keeps_another_name(mpi: m.Mpi, folder: Path) -> None:
    with mounted_tmpfs(folder / "small", "1m") as small:
        path, part = small / "steps", small / "steps.part"
        options = f"{RECORD_OPTIONS} complete=rename"
        ended = _run(mpi, "plain", "full", path, options, folder=folder)
        ensure(ended.status != 0 and f"written is in {part}" in ended.text, ended.tail)
        ensure(part.exists() and not path.exists(), f"{path} is there")


@pytest.mark.parametrize(
    ("mpi", "kind", "way"),
    [
        pytest.param(
            *(mpi, kind, way),
            id=f"{mpi.name}-{kind}-{way}",
            marks=() if mpi is m.OPEN_MPI and (kind, way) in QUICK_DEATHS else FULL,
        )
        for mpi in m.DEBIAN
        for kind in FORMATS
        for way in ("kill", "exit", "abort")
        if _has(mpi, kind)
    ],
)
def test_steps_before_a_death_are_in_the_file(
    mpi: m.Mpi, kind: str, way: str, folder: Path
) -> None:
    """Through the pool as without it, and the job's status is the same, but for MPICH's launcher,
    which may tell the status of the rank that left or of those that it kills then."""
    statuses = []
    for over in ("plain", "pool"):
        path = folder / over / "steps"
        path.parent.mkdir()
        statuses.append(_run(mpi, over, way, path, FORMATS[kind], folder=folder).status)
        ensure_steps(path, FORMATS[kind], 2)
    ensure(0 not in statuses, f"statuses {statuses}")
    if mpi.is_open_mpi or way != "exit":
        ensure(statuses[0] == statuses[1], f"statuses {statuses}")


@on(m.OPEN_MPI, full=[m.MPICH])
@pytest.mark.parametrize("pooled", [False, pytest.param(True, marks=FULL)])
def test_a_world_with_io_ranks_writes_the_same_files(
    mpi: m.Mpi, pooled: bool, folder: Path
) -> None:
    out = folder / "out"
    out.mkdir()
    files = ["ocean.dat", RECORD_OPTIONS, *(["ocean.nc", "writers=2"] if mpi.is_open_mpi else [])]
    options = ["--io-ranks", 1, *(["--pool", out] if pooled else [])]
    ended = forebay_run(mpi, options, 3, c_program(mpi), out, *files, folder=folder)
    ended.ensure_success()
    same(out / "ocean.dat", records_of_gfortran("native", "", folder))
    if mpi.is_open_mpi:
        same(out / "ocean.nc", file_of_pnetcdf(folder, 2))
