"""The output API: its files are what other libraries write of the same data, from C, Fortran and
Python, through the pool and without, and wrong uses are errors on every rank."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD
from suite.on import EACH, FULL, on
from suite.output_programs import (
    INCLUDES,
    NETCDF4_OPTIONS,
    RECORD_OPTIONS,
    c_program,
    file_of_pnetcdf,
    linked,
    records_of_gfortran,
    same,
)
from suite.pool import pool
from suite.programs import VARIANTS
from suite.typed import SYSTEM_PYTHON
from suite.verdict import ensure

# How gfortran writes them: options of the API, of `open`, and of the compiler.
RECORD_KINDS = (
    (RECORD_OPTIONS, "native", ""),
    (f"{RECORD_OPTIONS} endian=big", "big_endian", ""),
    (f"{RECORD_OPTIONS} endian=little marker=8", "little_endian", "-frecord-marker=8"),
)
# Checks the file of output.c. Takes the path, and netCDF's name of the format.
CHECK_OCEAN = """
import sys, netCDF4, numpy as np
file = netCDF4.Dataset(sys.argv[1])
assert file.data_model == sys.argv[2] and file.Conventions == 'CF-1.8'
assert file['temp'].dimensions == ('time', 'depth', 'lat', 'lon')
assert file['temp'].units == 'degC' and file['time'].units == 'days since 2000-01-01'
assert file.dimensions['time'].isunlimited() and list(file['time'][:]) == [0, 0.25, 0.5]
for step in range(3):
    want = 600000.0 * step + np.arange(40 * 100 * 131) + 0.5
    assert np.array_equal(np.asarray(file['temp'][step]).reshape(-1), want)
    assert np.array_equal(np.asarray(file['salt'][step]).reshape(-1), want.astype('f4'))
assert np.array_equal(file['area'][:].reshape(-1), np.arange(100 * 131) + 0.5)
assert np.array_equal(file['ice'][2].mask[:, 0], np.arange(100) >= 40)
"""
# Checks the file of output_sizes.c. Takes the path, options, and numbers of ranks and steps.
CHECK_SIZES = """
import sys, numpy as np
path, options, ranks, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
step, rank = np.arange(steps)[:, None], np.arange(ranks)[None, :]
want = {"byte": (rank + step) % 100, "word": -((rank + step) % 100),
        "large": 10**12 * (rank + 1) + step}
types = {"byte": "i1", "word": "i2", "large": "i8"}
if "fortran" in options:
    fields = [(name + part, "i4" if part else (types[name], ranks))
              for name in want for part in ("[", "", "]")]
    file = np.fromfile(path, np.dtype(fields))
    for name in want:
        size = ranks * np.dtype(types[name]).itemsize
        assert (file[name + "["] == size).all() and (file[name + "]"] == size).all(), name
else:
    import netCDF4
    file = netCDF4.Dataset(path)
    file.set_auto_mask(False)
    assert list(file["time"][:]) == list(range(steps))
for name in want:
    found = np.asarray(file[name][:])
    assert found.dtype.newbyteorder("=") == np.dtype(types[name]), found.dtype
    assert np.array_equal(found, want[name]), name
"""
# Few and many rounds of few and many writers.
SHAPES = ("", "writers=1", "writers=3 window=64KiB", "window=32KiB")


@functools.cache
def _fortran_program(mpi: m.Mpi) -> Path:
    """The module is compiled together with the program, as users do it."""
    folder = m.BUILD / "bin" / mpi.name
    target = folder / "output_fortran"
    with m.alone(target):
        command: list[str | Path] = [
            *(mpi.fortran, "-std=f2008", "-O1", "-g", "-Wall", "-Werror"),
            *("-J", folder, INCLUDES / "forebay_output.f90"),
            *(m.SOURCES / "output_fortran.f90", "-o", target),
            *linked(mpi),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    ensure(done.returncode == 0, f"the Fortran program does not build:\n{done.stderr[-2000:]}")
    return target


def _ensure_ocean(path: Path, model: str) -> None:
    done = subprocess.run(
        [SYSTEM_PYTHON, "-c", CHECK_OCEAN, path, model],
        capture_output=True,
        text=True,
        check=False,
    )
    ensure(done.returncode == 0, done.stderr)


def _write(mpi: m.Mpi, ranks: int, folder: Path, *files: str) -> None:
    """`files`: names and options in turn."""
    m.run(mpi, ranks, [c_program(mpi), folder, *files]).ensure_success()


@on(m.OPEN_MPI, full=[m.MPICH])
@pytest.mark.parametrize("ranks", [4, *(pytest.param(some, marks=FULL) for some in (1, 7))])
def test_fortran_records_are_those_of_gfortran(mpi: m.Mpi, ranks: int, folder: Path) -> None:
    files: Sequence[str] = [
        word for number, kind in enumerate(RECORD_KINDS) for word in (f"{number}.dat", kind[0])
    ]
    _write(mpi, ranks, folder, *files)
    for number, (_, order, flag) in enumerate(RECORD_KINDS):
        same(folder / f"{number}.dat", records_of_gfortran(order, flag, folder))


@EACH
def test_fortran_programs_write_thesame(mpi: m.Mpi, folder: Path) -> None:
    program = _fortran_program(mpi)
    m.run(mpi, 4, [program, folder / "fortran.dat", RECORD_OPTIONS]).ensure_success()
    same(folder / "fortran.dat", records_of_gfortran("native", "", folder))


@pytest.mark.parametrize("ranks", [4, *(pytest.param(some, marks=FULL) for some in (1, 3))])
def test_a_netcdf_file_is_that_of_pnetcdf(ranks: int, folder: Path) -> None:
    files = [word for number, shape in enumerate(SHAPES) for word in (f"{number}.nc", shape)]
    _write(m.OPEN_MPI, ranks, folder, *files)
    reference = file_of_pnetcdf(folder)
    for number in range(len(SHAPES)):
        same(folder / f"{number}.nc", reference)


@FULL
def test_a_netcdf_file_of_fortran_and_python_is_thesame(folder: Path) -> None:
    reference = file_of_pnetcdf(folder)
    program = _fortran_program(m.OPEN_MPI)
    m.run(m.OPEN_MPI, 4, [program, folder / "fortran.nc", "writers=2"]).ensure_success()
    same(folder / "fortran.nc", reference)
    script = m.SOURCES / "output_case.py"
    environment = {
        "PYTHONPATH": str(m.ROOT / "python"),
        "FOREBAY_LIBDIR": str(m.LIBRARIES),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    python = [SYSTEM_PYTHON, script, folder / "python.nc"]
    m.run(m.OPEN_MPI, 3, [*python, "writers=2"], environment=environment).ensure_success()
    same(folder / "python.nc", reference)
    m.run(m.OPEN_MPI, 2, python, environment=environment).ensure_success()


@pytest.mark.parametrize(
    ("mpi", "options", "model"),
    [
        pytest.param(m.OPEN_MPI, "", "NETCDF3_64BIT_DATA", id="cdf5"),
        pytest.param(m.OPEN_MPI, "format=netcdf4 writers=3 window=64KiB", "NETCDF4", id="ompi414"),
        pytest.param(m.MPICH, "format=netcdf4 writers=2", "NETCDF4", id="mpich402"),
    ],
)
def test_netcdfs_library_reads_the_file(mpi: m.Mpi, options: str, model: str, folder: Path) -> None:
    _write(mpi, 4, folder, "ocean.nc", options)
    _ensure_ocean(folder / "ocean.nc", model)


@on(m.OPEN_MPI, full=[m.MPICH])
def test_a_compressed_file_is_smaller(mpi: m.Mpi, folder: Path) -> None:
    compressed = "format=netcdf4 compress=4 writers=3"
    _write(mpi, 3, folder, "plain.nc", "format=netcdf4", "small.nc", compressed)
    _ensure_ocean(folder / "small.nc", "NETCDF4")
    plain, small = (Path(folder / name).stat().st_size for name in ("plain.nc", "small.nc"))
    ensure(small < plain / 2, f"{small} bytes, and {plain} without compression")


@pytest.mark.parametrize(
    ("mpi", "options", "steps"),
    [
        pytest.param(
            *(mpi, options, steps),
            id=f"{mpi.name}-{options or 'cdf5'}-{steps}",
            marks=() if mpi is m.OPEN_MPI and steps < 100 else FULL,
        )
        for mpi in m.DEBIAN
        for options in ("", NETCDF4_OPTIONS, RECORD_OPTIONS)
        for steps in (5, 10_000)
        if mpi.is_open_mpi or (options and steps < 100)
    ],
)
def test_single_elements_of_few_bytes_in_many_steps(
    mpi: m.Mpi, options: str, steps: int, folder: Path
) -> None:
    path, ranks = folder / "sizes", 3
    program = c_program(mpi, "output_sizes")
    m.run(mpi, ranks, [program, steps, path, options], seconds_max=300).ensure_success()
    words = [str(path), options, str(ranks), str(steps)]
    done = subprocess.run(
        [SYSTEM_PYTHON, "-c", CHECK_SIZES, *words], capture_output=True, text=True, check=False
    )
    ensure(done.returncode == 0, done.stderr)


@on(m.OPEN_MPI, full=[m.MPICH])
def test_a_complete_file_gets_its_name(mpi: m.Mpi, folder: Path) -> None:
    _write(mpi, 2, folder, "ocean.dat", f"{RECORD_OPTIONS} complete=rename")
    same(folder / "ocean.dat", records_of_gfortran("native", "", folder))
    ensure(not (folder / "ocean.dat.part").exists(), "the other name is still there")


@pytest.mark.parametrize(
    ("mpi", "ranks", "options"),
    [
        pytest.param(m.OPEN_MPI, 1, "", id="cdf5-1"),
        pytest.param(m.OPEN_MPI, 3, "", id="cdf5-3"),
        pytest.param(m.OPEN_MPI, 3, "format=netcdf4", id="ompi414-3"),
        pytest.param(m.MPICH, 2, "format=netcdf4", id="mpich402-2"),
    ],
)
def test_another_number_of_ranks_reads_the_file(
    mpi: m.Mpi, ranks: int, options: str, folder: Path
) -> None:
    _write(mpi, 4, folder, "ocean.nc", options)
    program = c_program(mpi, "output_restart")
    m.run(mpi, ranks, [program, folder / "ocean.nc", options]).ensure_success()


@EACH
def test_wrong_uses_are_errors_on_all_ranks(mpi: m.Mpi, folder: Path) -> None:
    ended = m.run(mpi, 4, [c_program(mpi, "output_errors"), folder]).ensure_success()
    ensure("all refused" in ended.text, ended.text)


def test_without_pnetcdf_a_netcdf_file_is_refused(folder: Path) -> None:
    """As MPICH's is here: Debian has PnetCDF for Open MPI only."""
    library = (m.LIBRARIES / "mpich" / "libforebay_output.so").read_bytes()
    if b"libpnetcdf" in library:
        pytest.skip("a PnetCDF of MPICH is here")
    ended = m.run(m.MPICH, 2, [c_program(m.MPICH), folder, "x.nc", ""])
    ensure(ended.status != 0 and "without a PnetCDF of this MPI" in ended.text, ended.text)


@EACH
def test_the_pool_takes_what_is_written(mpi: m.Mpi, folder: Path) -> None:
    names = ["ocean.dat", RECORD_OPTIONS, *(["ocean.nc", ""] if mpi.is_open_mpi else [])]
    program = c_program(mpi)
    with pool(folder, VARIANTS["pool"]) as one:
        environment = one.with_mpi(m.forebay(folder / RECORD))
        m.run(mpi, 4, [program, folder, *names], environment=environment).ensure_success()
        ensure(one.taken() > 0, "nothing was deposited")
    same(folder / "ocean.dat", records_of_gfortran("native", "", folder))
    if mpi.is_open_mpi:
        same(folder / "ocean.nc", file_of_pnetcdf(folder))
