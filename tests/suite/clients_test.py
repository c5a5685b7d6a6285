"""Libraries and languages above MPI-IO, profilers beside Forebay, processes that have no file."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD, Output, compare
from suite.on import ALL, FULL
from suite.pool import pool
from suite.programs import CALLS, VARIANTS, plain
from suite.record import Record
from suite.verdict import Failed, ensure

PYTHON = "/usr/bin/python3"
LIBRARY_FOLDER = Path("/usr/lib/x86_64-linux-gnu")
MPI4PY = "mpi4py==4.1.2"
SMALL_POOL = VARIANTS["pool"]


def _twice(
    mpi: m.Mpi,
    ranks: int,
    command: Sequence[str | Path],
    tail: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str],
    seconds_max: float = 100,
    pooled: bool = False,
) -> None:
    """Runs `command FOLDER tail` plain and through Forebay (and the pool) and compares the
    folders."""
    without, through = folder / "plain", folder / "forebay"
    without.mkdir()
    through.mkdir()

    def run(one: Path, more: Mapping[str, str]) -> None:
        m.run(
            mpi,
            ranks,
            [*command, one, *tail],
            environment={**environment, **more},
            seconds_max=seconds_max,
        ).ensure_success()

    run(without, {})
    variables = m.forebay(through / RECORD)
    if pooled:
        with pool(through, SMALL_POOL) as served:
            run(through, served.with_mpi(variables))
            ensure(served.taken() > 0, "nothing was deposited")
    else:
        run(through, variables)
    compare(without, through, ranks=ranks)


def _hdf5(mpi: m.Mpi) -> list[str]:
    there = f"{LIBRARY_FOLDER}/hdf5/{mpi.family}"
    return [f"-I/usr/include/hdf5/{mpi.family}", f"-L{there}", "-lhdf5"]


NETCDF = [f"-I{LIBRARY_FOLDER}/netcdf/mpi/include", "-lnetcdf_mpi"]
LIBRARIES = (
    *(("pnetcdf", m.OPEN_MPI, ["-lpnetcdf"], ranks) for ranks in (1, 3, 4)),
    *(("netcdf4", m.OPEN_MPI, NETCDF, ranks) for ranks in (1, 4)),
    *(("hdf5", mpi, _hdf5(mpi), ranks) for mpi in m.DEBIAN for ranks in (1, 2, 4)),
)
LEFT_TO_TEST_ALL = (
    *(("pnetcdf", "ompi414", 1, False), ("hdf5", "ompi414", 1, False)),
    *(("hdf5", "mpich402", 2, False), ("hdf5", "mpich402", 2, True)),
)
POOLED = (("pnetcdf", 3), ("netcdf4", 4), ("hdf5", 2))
LIBRARY_CASES = (
    *((*case, False) for case in LIBRARIES),
    *((*case, True) for case in LIBRARIES if (case[0], case[3]) in POOLED),
)


@pytest.mark.parametrize(
    ("mpi", "source", "libraries", "ranks", "pooled"),
    [
        pytest.param(
            *(mpi, f"{name}.c", libraries, ranks, pooled),
            id=f"{name}-{mpi.name}-{ranks}" + ("-pool" if pooled else ""),
            marks=FULL if (name, mpi.name, ranks, pooled) in LEFT_TO_TEST_ALL else (),
        )
        for name, mpi, libraries, ranks, pooled in LIBRARY_CASES
    ],
)
def test_library(
    mpi: m.Mpi, source: str, libraries: Sequence[str], ranks: int, pooled: bool, folder: Path
) -> None:
    program = m.build(mpi, source, libraries=libraries)
    _twice(mpi, ranks, [program], [], folder, {}, pooled=pooled)


@pytest.mark.parametrize(
    ("ranks", "pooled"),
    [pytest.param(1, False, marks=FULL), (3, False), pytest.param(3, True, id="3-pool")],
)
def test_h5py(ranks: int, pooled: bool, folder: Path) -> None:
    """Debian's h5py and mpi4py are for its default MPI, Open MPI."""
    script = m.SOURCES / "h5py_case.py"
    _twice(m.OPEN_MPI, ranks, [PYTHON, script], [], folder, {}, pooled=pooled)


def mpi4py_with_tests() -> tuple[Path, Path]:
    """The package and its tests, from PyPI."""
    home = m.BUILD / "mpi4py"
    package, tests = home / "package", home / "tests"
    if not package.exists():
        wheel = m.download(
            MPI4PY, _fresh(home / "wheel"), "--only-binary", ":all:", "--python-version", "3.11"
        )
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(home / "new")
        (home / "new").replace(package)
    if not tests.exists():
        source = m.download(MPI4PY, _fresh(home / "source"), "--no-binary", ":all:")
        with tarfile.open(source) as archive:
            wanted = [
                x for x in archive if "/test/" in x.name and x.isfile() and ".." not in x.name
            ]
            archive.extractall(home / "new", members=wanted)
        next((home / "new").glob("mpi4py-*/test")).replace(tests)
    return package, tests


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder


@pytest.mark.parametrize(
    ("mpi", "ranks", "pooled"),
    [
        pytest.param(m.MPICH, 2, False, id="mpich402-2", marks=FULL),
        pytest.param(m.OPEN_MPI, 2, False, id="ompi414-2", marks=FULL),
        pytest.param(m.OPEN_MPI, 3, False, id="ompi414-3", marks=FULL),
        *(pytest.param(mpi, 2, True, id=f"{mpi.name}-2-pool", marks=FULL) for mpi in m.ALL),
    ],
)
def test_mpi4py(mpi: m.Mpi, ranks: int, pooled: bool, folder: Path) -> None:
    package, tests = mpi4py_with_tests()
    links = folder / "lib"
    links.mkdir()
    if mpi is m.MPICH:  # Debian's name is not the one that mpi4py looks for
        (links / "libmpi.so.12").symlink_to(LIBRARY_FOLDER / "libmpich.so.12")
    elif mpi.wheel:
        links = Path(mpi.launcher).parents[1] / "lib"
    environment = {
        "PYTHONPATH": str(package),
        "MPI4PY_MPIABI": mpi.family,
        "LD_LIBRARY_PATH": str(links),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    script = m.SOURCES / "mpi4py_case.py"
    command: list[str | Path] = [PYTHON, script]
    _twice(mpi, ranks, command, [tests], folder, environment, seconds_max=900, pooled=pooled)
    lines = Record.read(folder / "forebay" / RECORD).files
    ensure(sum(line.writes for line in lines) > 10, "hardly anything was taken over")
    told = [one for case in Output.read(folder / "forebay").cases.values() for one in case.told]
    ensure(sum(line.endswith(": ok") for line in told) > 100, "hardly any test passed")


@pytest.mark.parametrize(
    ("mpi", "watcher_first"),
    [
        pytest.param(m.MPICH, True, id="mpich402-before", marks=FULL),
        pytest.param(m.MPICH, False, id="mpich402-behind", marks=FULL),
        pytest.param(m.OPEN_MPI, True, id="ompi414-before", marks=FULL),
        pytest.param(m.OPEN_MPI, False, id="ompi414-behind"),
    ],
)
def test_profiler(mpi: m.Mpi, watcher_first: bool, folder: Path) -> None:
    reference = plain(CALLS, mpi, 3)
    watcher = m.build_with(
        [mpi.cc, *m.C_FLAGS, "-shared", "-fPIC"],
        "watcher.c",
        m.BUILD / "bin" / mpi.name,
        libraries=["-ldl"],
        target="libwatcher.so",
    )
    counts = folder.with_suffix(".counts")
    counts.unlink(missing_ok=True)
    libraries = [str(watcher), str(m.PRELOAD)]
    environment = {
        **m.forebay(folder / RECORD),
        "WATCHER_COUNTS": str(counts),
        "LD_PRELOAD": ":".join(libraries if watcher_first else libraries[::-1]),
    }
    CALLS.run(mpi, 3, folder, environment)
    compare(reference, folder, ranks=3)
    ensure(counts.exists(), "the profiler did not see MPI_Finalize")
    opens, views, writes, reads, closes = map(int, counts.read_text().split())
    if watcher_first:
        ensure(opens == closes and opens > 40, f"the profiler saw {opens} opens, {closes} closes")
        ensure(views > 10 and writes > 60 and reads > 5, f"saw {views}, {writes}, {reads}")


@ALL
def test_no_file(mpi: m.Mpi, folder: Path) -> None:
    program = m.build(mpi, "bystander.c")
    environment = m.forebay(folder / RECORD)
    ended = m.run(mpi, 2, [program], environment=environment, seconds_max=60)
    ensure(ended.status == 3, f"the exit status is {ended.status}: {ended.tail}")
    ensure("core before 0 after 0" in ended.text, f"the core is mapped: {ended.tail}")
    ensure(not (folder / RECORD).exists(), "a record was written")
    ended = m.run(mpi, 2, [program, folder / "file"], environment=environment, seconds_max=60)
    ensure("core before 0 after 1" in ended.text, f"no core with a file: {ended.tail}")
    ensure(ended.status == 3, f"the exit status is {ended.status}")


@ALL
def test_launcher(mpi: m.Mpi, folder: Path) -> None:
    """The launcher itself has the library preloaded, and says what it says without."""
    command = [mpi.launcher, "--version"]
    without = m.launch(command, seconds_max=30)
    through = m.launch(command, seconds_max=30, environment=m.forebay(folder / RECORD))
    ensure((without.status, without.text) == (through.status, through.text), through.tail)


def test_other_processes(folder: Path) -> None:
    show = "cat /proc/$$/maps; exit 7"
    environment = m.forebay(folder / RECORD)
    for command in (["sh", "-c", show], ["bash", "-c", show]):
        ended = m.launch(command, seconds_max=30, environment=environment)
        ensure(ended.status == 7, f"{command[0]} ended with {ended.status}")
        ensure("libforebay_mpi" in ended.text, "the library was not preloaded")
        ensure("libforebay_core" not in ended.text, f"the core is in {command[0]}")
    script = "import sys; print(open('/proc/self/maps').read()); sys.exit(5)"
    ended = m.launch([PYTHON, "-c", script], seconds_max=30, environment=environment)
    ensure(ended.status == 5 and "libforebay_core" not in ended.text, "the core is in Python")
    done = subprocess.run(
        ["sh", "-c", "echo $0", "same"],
        capture_output=True,
        text=True,
        env={**m.clean_environment(), **environment},
        check=False,
    )
    ensure((done.stdout, done.stderr) == ("same\n", ""), "something was said")
    ensure(not (folder / RECORD).exists(), "a record was written")


def test_silent_library_is_noticed(folder: Path) -> None:
    """The suite's own guard: a program that runs plain must not pass for one through Forebay."""
    reference = plain(CALLS, m.OPEN_MPI, 2)
    shutil.copytree(reference, folder, dirs_exist_ok=True)
    try:
        compare(reference, folder, ranks=2)
    except Failed:
        return
    raise Failed("a plain run was taken for one through Forebay")
