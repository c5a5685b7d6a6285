"""Programs of many kinds with I/O ranks: they leave what as many plain ranks leave, byte by byte,
with the pool below them, too."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite.clients_test import mpi4py_with_tests
from suite.io_ranks import forebay_run, io_ranks_environment, same_files
from suite.on import FULL
from suite.typed import SYSTEM_PYTHON
from suite.verdict import ensure

LIBRARY_FOLDER = Path("/usr/lib/x86_64-linux-gnu")
NETCDF = ("-lnetcdf",)
PARALLEL_NETCDF = (f"-I{LIBRARY_FOLDER}/netcdf/mpi/include", "-lnetcdf_mpi")
# I/O ranks, spread, and the ranks that the program is to see.
Shape = tuple[int, int, int]
SHAPES: Sequence[Shape] = ((1, 1, 2), (2, 1, 4), (2, 2, 4), (4, 2, 4))
QUICK: Shape = (2, 2, 4)
# Tests of mpi4py's own that use communicators and objects made of them. Others begin worlds of
# their own, or none.
MPI4PYS_OWN = (
    *("test_attributes", "test_comm", "test_comm_inter", "test_comm_topo", "test_environ"),
    *("test_errhandler", "test_group", "test_info", "test_objmodel", "test_pickle"),
    *("test_subclass", "test_util_sync", "test_cco_obj_inter", "test_cco_vec", "test_p2p_obj"),
    *("test_win", "test_rma"),
)


def _hdf5(mpi: m.Mpi) -> Sequence[str]:
    there = f"{LIBRARY_FOLDER}/hdf5/{mpi.family}"
    return [f"-I/usr/include/hdf5/{mpi.family}", f"-L{there}", "-lhdf5"]


# The source, the libraries, the files that it leaves, and the MPI on which `make test` runs it.
PROGRAMS = (
    *(("io_ranks_unformatted.f90", mpi, (), 3, mpi is m.MPICH) for mpi in m.DEBIAN),
    *(("io_ranks_root_netcdf.c", mpi, NETCDF, 2, mpi is m.OPEN_MPI) for mpi in m.DEBIAN),
    *(("hdf5.c", mpi, _hdf5(mpi), 2, False) for mpi in m.DEBIAN),
    ("pnetcdf.c", m.OPEN_MPI, ["-lpnetcdf"], 2, False),
    ("netcdf4.c", m.OPEN_MPI, PARALLEL_NETCDF, 2, False),
)


def _twice(
    mpi: m.Mpi,
    shape: Shape,
    program: Sequence[object],
    folder: Path,
    *,
    count: int,
    tail: Sequence[str] = (),
    more: Mapping[str, str] | None = None,
) -> None:
    """The program in a world of that size, with I/O ranks, and by the command, which puts a pool
    below it."""
    io_ranks, spread, seen = shape
    for name in ("plain", "cut", "pooled"):
        (folder / name).mkdir()
    m.run(mpi, seen, [*program, folder / "plain"], environment=more).ensure_success()
    variables = {**io_ranks_environment(mpi, io_ranks, spread), **(more or {})}
    words = [*program, folder / "cut", *tail]
    m.run(mpi, seen + io_ranks, words, environment=variables).ensure_success()
    same_files(folder / "plain", folder / "cut", count=count)
    options = ["--io-ranks", io_ranks, "--spread", spread, "--pool", folder / "pooled"]
    ended = forebay_run(mpi, options, seen + io_ranks, *program, folder / "pooled", *tail)
    ended.ensure_success()
    told = f"I/O ranks: {io_ranks} of {seen + io_ranks}; the program saw {seen} ranks"
    ensure(told in ended.text and "through the pool: " in ended.text, ended.tail)
    same_files(folder / "plain", folder / "pooled", count=count)


@pytest.mark.parametrize(
    ("mpi", "source", "libraries", "count", "shape"),
    [
        pytest.param(
            *(mpi, source, libraries, count, shape),
            id="{}-{}-{}-{}-{}".format(source.partition(".")[0], mpi.name, *shape),
            marks=() if is_quick and shape == QUICK else FULL,
        )
        for source, mpi, libraries, count, is_quick in PROGRAMS
        for shape in SHAPES
    ],
)
def test_files_are_those_of_as_many_plain_ranks(
    mpi: m.Mpi, source: str, libraries: Sequence[str], count: int, shape: Shape, folder: Path
) -> None:
    program = m.build(mpi, source, libraries=libraries)
    _twice(mpi, shape, [program], folder, count=count)


@pytest.mark.parametrize(
    ("mpi", "python", "shape"),
    [
        pytest.param(m.OPEN_MPI, SYSTEM_PYTHON, (2, 2, 4), id="ompi414-mpi4py3-2-2-4"),
        *(
            pytest.param(
                *(mpi, sys.executable, shape),
                id="{}-mpi4py4-{}-{}-{}".format(mpi.name, *shape),
                marks=FULL,
            )
            for mpi in m.DEBIAN
            for shape in SHAPES
        ),
    ],
)
def test_mpi4py_sees_what_it_sees_in_a_world_of_that_size(
    mpi: m.Mpi, python: str, shape: Shape, folder: Path
) -> None:
    """Groups, splits, attributes, windows, messages of objects and files."""
    (folder / "lib").mkdir()
    (folder / "lib" / "libmpi.so.12").symlink_to(LIBRARY_FOLDER / "libmpich.so.12")
    own = {"MPI4PY_MPIABI": mpi.family}
    if mpi is m.MPICH:
        own["LD_LIBRARY_PATH"] = str(folder / "lib")
    front = ["env", *(f"{name}={value}" for name, value in own.items())]
    program = [*front, python, m.SOURCES / "io_ranks_case.py"]
    _twice(mpi, shape, program, folder, count=2 + 2 * shape[2], tail=["cut"])


@pytest.mark.full
def test_mpi4pys_own_tests_have_the_verdicts_of_a_world_of_that_size(folder: Path) -> None:
    package, tests = mpi4py_with_tests()
    own = {
        "PYTHONPATH": str(package),
        "MPI4PY_MPIABI": m.OPEN_MPI.family,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    program = [SYSTEM_PYTHON, m.SOURCES / "mpi4py_case.py"]
    for name, ranks, variables in (
        ("plain", 3, {}),
        ("cut", 5, io_ranks_environment(m.OPEN_MPI, 2)),
    ):
        (folder / name).mkdir()
        words = [*program, folder / name, tests, *MPI4PYS_OWN]
        m.run(
            m.OPEN_MPI, ranks, words, environment={**own, **variables}, seconds_max=300
        ).ensure_success()
    told = (folder / "plain" / "out.txt").read_text().splitlines()
    ensure(sum(line.endswith(" 2: ok") for line in told) > 400, f"hardly any passed: {told[-5:]}")
    same_files(folder / "plain", folder / "cut", count=1)
