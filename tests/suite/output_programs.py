"""Programs that use the output API, and what their files are to have."""

from __future__ import annotations

import subprocess
from pathlib import Path

from suite import mpi as m
from suite.typed import SYSTEM_PYTHON
from suite.verdict import ensure

INCLUDES = m.LIBRARIES / "include"
RECORD_OPTIONS = "format=fortran"
NETCDF4_OPTIONS = "format=netcdf4"
# The steps that tests/mpi/output_ends.c writes: those that are there, at least `least`.
CHECK_STEPS = """
import sys, numpy as np
path, options, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
count = 128 * 8192
if "fortran" in options:
    record = np.dtype([("before", "i4"), ("data", "f8", count), ("behind", "i4")])
    with open(path, "rb") as file:
        bytes_ = file.read()
    steps = np.frombuffer(bytes_[: len(bytes_) // record.itemsize * record.itemsize], record)
    steps = steps["data"][:least]
else:
    import netCDF4
    file = netCDF4.Dataset(path)
    assert list(file["time"][:]) == list(range(len(file["time"]))), file["time"][:]
    steps = [np.asarray(step).reshape(-1) for step in file["temp"][:]]
assert len(steps) >= least, f"{len(steps)} steps"
for number, step in enumerate(steps):
    assert np.array_equal(step, 600000.0 * number + np.arange(count) + 0.5), f"step {number}"
"""


def linked(mpi: m.Mpi) -> list[str]:
    """The compiler's words for a program that uses the API."""
    folder = m.LIBRARIES / mpi.family
    return [f"-I{INCLUDES}", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lforebay_output"]


def c_program(mpi: m.Mpi, name: str = "output") -> Path:
    return m.build(mpi, f"{name}.c", libraries=linked(mpi))


def same(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    if first == second:
        return
    pairs = zip(first, second, strict=False)
    at = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
    ensure(False, f"{one} ({len(first)} bytes) and {other} ({len(second)}) differ at byte {at}")


def records_of_gfortran(order: str, flag: str, folder: Path) -> Path:
    """The file of write statements."""
    program = m.build_with(
        ["gfortran", *m.FORTRAN_FLAGS, *filter(None, [flag])],
        "output_records.f90",
        m.BUILD / "bin",
        target=f"output_records{flag}",
    )
    made = folder / f"records-{order}{flag}.dat"
    subprocess.run([program, made, order], check=True)
    return made


def file_of_pnetcdf(folder: Path, ranks: int = 4) -> Path:
    """The file of PnetCDF's own calls."""
    program = m.build(m.OPEN_MPI, "output_pnetcdf.c", libraries=["-lpnetcdf"])
    m.run(m.OPEN_MPI, ranks, [program, folder / "plain.nc"]).ensure_success()
    return folder / "plain.nc"


def ensure_steps(path: Path, options: str, least: int) -> None:
    """The first `least` steps of output_ends.c are in the file, and no other is wrong."""
    done = subprocess.run(
        [SYSTEM_PYTHON, "-c", CHECK_STEPS, path, options, str(least)],
        capture_output=True,
        text=True,
        check=False,
    )
    ensure(done.returncode == 0, f"{path}: {done.stderr}")
