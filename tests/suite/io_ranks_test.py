"""I/O ranks: programs that were not changed see fewer ranks than were started, whatever they ask,
in whatever language, and leave what as many plain ranks leave."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import generate_world_calls as generator
import pytest

from suite import mpi as m
from suite.io_ranks import forebay_run, io_ranks_environment, library_of, same_files
from suite.on import EACH, FULL, on
from suite.typed import SYSTEM_PYTHON
from suite.verdict import ensure

LIBRARY_FOLDER = Path("/usr/lib/x86_64-linux-gnu")
INCLUDES = {
    "mpich": (Path("/usr/include/x86_64-linux-gnu/mpich"),),
    "openmpi": (
        LIBRARY_FOLDER / "openmpi" / "include",
        LIBRARY_FOLDER / "openmpi" / "include" / "openmpi",
    ),
}
FORTRAN_LIBRARIES = {
    "mpich": ("libmpichfort.so.12",),
    "openmpi": ("libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"),
}
# Calls of these libraries past the functions of mpi.h. Those with a communicator are about
# attributes, which fortran_attributes.cpp takes care of.
PAST_MPI = re.compile(r"^(MPII_Comm|ompi_(attr|comm|group|win|file|topo|proc))_?.*")
CARED_FOR = re.compile(
    r"^(MPII_Comm_[gs]et_attr|ompi_attr_([gs]et_[af]int|create_keyval_\w+)|\w+_f)$"
)
# I/O ranks, spread, and the ranks that the program is to see.
Shape = tuple[int, int, int]
FAST_SHAPES: Sequence[Shape] = ((2, 2, 4),)
SLOW_SHAPES: Sequence[Shape] = ((1, 1, 1), (1, 1, 4), (2, 1, 4), (4, 1, 4), (4, 2, 4), (3, 1, 7))
SHAPES = pytest.mark.parametrize(
    "shape",
    [
        *(pytest.param(one, id="{}-{}-{}".format(*one)) for one in FAST_SHAPES),
        *(pytest.param(one, id="{}-{}-{}".format(*one), marks=FULL) for one in SLOW_SHAPES),
    ],
)


def _names(library: Path, *options: str) -> set[str]:
    words = ["nm", "-D", *options, str(library)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in said.splitlines()}


def _declared(mpi: m.Mpi) -> Mapping[str, str]:
    """The functions in the installed headers, with the text of their parameters."""
    text = "".join(
        path.read_text(encoding="utf-8")
        for folder in INCLUDES[mpi.family]
        for path in [*folder.glob("mpi*.h"), *folder.rglob("mpiext_*_c.h")]
    )
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    found = re.finditer(r"\b(MPIX?_[A-Z]\w+)\s*\(([^;{}#]*?)\)[^;{},]*;", text)
    return {one[1]: one[2] for one in found}


@EACH
def test_every_function_that_takes_a_communicator_is_replaced(mpi: m.Mpi) -> None:
    """All functions of the installed MPI that take a communicator, group or window: those with a
    communicator are ours, by both names; groups and windows are made of communicators."""
    exported = _names(library_of(mpi), "--defined-only")
    declared = {
        name: parameters
        for name, parameters in _declared(mpi).items()
        if re.search(r"\bMPI_(Comm|Group|Win)\b", parameters)
    }
    ensure(len(declared) > 200, f"only {len(declared)} functions were found in mpi.h")
    left = []
    for name, parameters in declared.items():
        takes = re.search(r"\bMPI_Comm\s+(?!\*)\w*", parameters)
        if takes and name not in generator.LEFT and not {name, f"P{name}"} <= exported:
            left.append(name)
    ensure(not left, f"these meet the true world: {left}")
    for name in (*generator.BY_HAND, *generator.ALSO_BY_HAND):
        ensure({name, f"P{name}"} <= exported, f"{name} is not exported")


@EACH
def test_fortrans_libraries_reach_the_mpi_through_us(mpi: m.Mpi) -> None:
    exported = _names(library_of(mpi), "--defined-only")
    declared = generator.prototypes(
        generator.preprocessed("cc", [str(one) for one in INCLUDES[mpi.family]])
    )
    taking = generator.with_communicators(declared)
    for library in FORTRAN_LIBRARIES[mpi.family]:
        wanted = _names(LIBRARY_FOLDER / library, "--undefined-only")
        lacking = [
            name
            for name in wanted
            if name.removeprefix("P") in taking
            and name not in exported
            and name.removeprefix("P") not in generator.LEFT
        ]
        ensure(not lacking, f"{library} meets the true world by {lacking}")
        past = [name for name in wanted if PAST_MPI.match(name) and not CARED_FOR.match(name)]
        objects = [name for name in past if name not in ("ompi_mpi_comm_world",)]
        ensure(not objects, f"{library} has other ways to a communicator: {objects}")


@EACH
def test_the_library_refers_to_no_mpi(mpi: m.Mpi) -> None:
    """It is loaded into shells and launchers, too."""
    wanted = _names(library_of(mpi), "--undefined-only")
    ensure(not [one for one in wanted if re.match(r"P?MPI|ompi", one)], str(sorted(wanted)))


@EACH
@SHAPES
def test_a_c_program_sees_the_compute_ranks_only(mpi: m.Mpi, shape: Shape, folder: Path) -> None:
    io_ranks, spread, seen = shape
    program = m.build(mpi, "io_ranks.c")
    for name, ranks, variables in (
        ("plain", seen, {}),
        ("cut", seen + io_ranks, io_ranks_environment(mpi, io_ranks, spread)),
    ):
        (folder / name).mkdir()
        words = [program, folder / name, seen]
        ended = m.run(mpi, ranks, words, environment=variables).ensure_success()
        ensure(f"saw {seen}\n" in ended.text, ended.tail)
        ends = re.findall("deleted (.*)", ended.text)
        ensure(ends == ["its own", "the world's"], f"attributes at the end: {ends}")
    same_files(folder / "plain", folder / "cut", count=1)


@pytest.mark.parametrize(
    ("mpi", "binding"),
    [
        pytest.param(
            mpi,
            binding,
            id=f"{mpi.name}-{binding}",
            marks=() if (mpi is m.OPEN_MPI) == (binding == "f08") else FULL,
        )
        for mpi in m.DEBIAN
        for binding in ("mpif", "use", "f08")
    ],
)
def test_a_fortran_program_sees_the_compute_ranks_only(
    mpi: m.Mpi, binding: str, folder: Path
) -> None:
    program = m.build(mpi, f"io_ranks_{binding}.f90")
    for name, ranks, variables in (("plain", 2, {}), ("cut", 3, io_ranks_environment(mpi, 1))):
        (folder / name).mkdir()
        words = [program, folder / name, "2"]
        ended = m.run(mpi, ranks, words, environment=variables).ensure_success()
        ensure("saw 2\n" in ended.text, ended.tail)
    same_files(folder / "plain", folder / "cut", count=2)


PYTHON = """
import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
assert world.size == world.Dup().size == world.Get_group().size == world.allreduce(1) == 3
file = MPI.File.Open(world, sys.argv[1] + "/out", MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_at_all(1000 * world.rank, bytes([world.rank]) * 1000)
file.Close()
if world.rank == 0:
    print("saw", world.size)
"""


@pytest.mark.parametrize(
    ("mpi", "python"),
    [
        pytest.param(m.OPEN_MPI, SYSTEM_PYTHON, id="ompi414-mpi4py3"),
        pytest.param(m.MPICH, sys.executable, id="mpich402-mpi4py4", marks=FULL),
        pytest.param(m.OPEN_MPI, sys.executable, id="ompi414-mpi4py4", marks=FULL),
    ],
)
def test_mpi4py_sees_the_compute_ranks_only(mpi: m.Mpi, python: str, folder: Path) -> None:
    """It loads its MPI by dlopen, and looks whether functions of newer MPIs are there."""
    (folder / "lib").mkdir()
    (folder / "lib" / "libmpi.so.12").symlink_to(LIBRARY_FOLDER / "libmpich.so.12")
    own = {"MPI4PY_MPIABI": mpi.family}
    if mpi is m.MPICH:
        own["LD_LIBRARY_PATH"] = str(folder / "lib")
    variables = {**io_ranks_environment(mpi, 2), **own}
    ended = m.run(mpi, 5, [python, "-c", PYTHON, folder], environment=variables)
    ensure("saw 3\n" in ended.ensure_success().text, ended.tail)
    ensure((folder / "out").read_bytes() == b"".join(bytes([n]) * 1000 for n in range(3)), "bytes")


def _end(mpi: m.Mpi, way: str, io_ranks: int) -> tuple[int, str]:
    """The status of three ranks of the program, and what was printed."""
    program = m.build(mpi, "io_ranks_ends.c")
    variables = {"LD_PRELOAD": "", **(io_ranks_environment(mpi, io_ranks) if io_ranks else {})}
    words = [program, way, "3"]
    ended = m.run(mpi, 3 + io_ranks, words, environment=variables, seconds_max=60)
    ensure(not ended.late, f"{way} hangs:\n{ended.tail}")
    return ended.status, ended.text


@EACH
@pytest.mark.parametrize(
    "way",
    ["early", "kill", *(pytest.param(way, marks=FULL) for way in ("abort", "exit", "status"))],
)
def test_a_job_ends_as_without_io_ranks(mpi: m.Mpi, way: str) -> None:
    plain, _ = _end(mpi, way, 0)
    status, text = _end(mpi, way, 2)
    # Hydra tells the status of the rank that left, or that of those which it has then killed.
    usual = {3, 9} if way == "exit" and mpi is m.MPICH else {plain}
    ensure(status in usual, f"status {status}, not {plain}:\n{text}")


@EACH
def test_the_job_ends_when_an_io_rank_is_killed(mpi: m.Mpi) -> None:
    status, text = _end(mpi, "kill_io_ranks", 1)
    ensure(status != 0, f"nobody was told:\n{text}")


@EACH
def test_what_would_bring_other_worlds_is_refused(mpi: m.Mpi) -> None:
    status, text = _end(mpi, "refused", 1)
    ensure(status == 0 and "cannot spawn processes" in text, text)


@EACH
def test_a_world_that_cannot_be_cut_is_left_whole(mpi: m.Mpi) -> None:
    program = m.build(mpi, "io_ranks_ends.c")
    ended = m.run(
        mpi, 3, [program, "early", "3"], environment=io_ranks_environment(mpi, 2)
    ).ensure_success()
    ensure(ended.text.count("there are no I/O ranks") == 1, ended.tail)


@pytest.mark.full
@on(*m.WHEELS)
def test_an_mpi_of_another_version_is_left_alone(mpi: m.Mpi) -> None:
    """It has functions that take a communicator and that the library does not know."""
    program = m.build(mpi, "io_ranks_ends.c")
    ended = m.run(
        mpi, 4, [program, "early", "4"], environment=io_ranks_environment(mpi, 1)
    ).ensure_success()
    ensure(ended.text.count("there are no I/O ranks") == 1, ended.tail)


@EACH
def test_a_program_with_an_mpi_function_of_its_own_is_left_alone(mpi: m.Mpi) -> None:
    """The size that it sees is not the one that it should see."""
    program = m.build_with(
        [mpi.cc, *m.C_FLAGS, "-DOWN_SIZE"],
        "io_ranks_ends.c",
        m.BUILD / "bin" / mpi.name,
        target="io_ranks_own_size",
    )
    ended = m.run(
        mpi, 4, [program, "early", "4"], environment=io_ranks_environment(mpi, 1)
    ).ensure_success()
    ensure(ended.text.count("has its MPI functions") == 1, ended.tail)


def _forebay_run(
    mpi: m.Mpi, options: Sequence[str], ranks: int, *program: object, status: int = 0
) -> str:
    """Returns what `forebay run` prints."""
    ended = forebay_run(mpi, options, ranks, *program)
    ensure(ended.status == status, f"status {ended.status}:\n{ended.tail}")
    return ended.text


@EACH
def test_the_command_carves_them_out_and_serves_them_by_a_pool(mpi: m.Mpi, folder: Path) -> None:
    for name in ("plain", "cut"):
        (folder / name).mkdir()
    program = m.build(mpi, "io_ranks.c")
    m.run(mpi, 3, [program, folder / "plain", "3"]).ensure_success()
    options = ["--io-ranks", "1", "--pool", str(folder / "cut")]
    text = _forebay_run(mpi, options, 4, program, folder / "cut", "3")
    ensure("I/O ranks: 1 of 4; the program saw 3 ranks" in text, text)
    ensure("through the pool: " in text and "there were no I/O ranks" not in text, text)
    same_files(folder / "plain", folder / "cut", count=1)


@pytest.mark.full
def test_a_netcdf_file_is_that_of_as_many_plain_ranks(folder: Path) -> None:
    program = m.build(m.OPEN_MPI, "output_pnetcdf.c", libraries=["-lpnetcdf"])
    for name in ("plain", "cut"):
        (folder / name).mkdir()
    m.run(m.OPEN_MPI, 4, [program, folder / "plain" / "x.nc"]).ensure_success()
    options = ["--io-ranks", "2", "--spread", "2", "--pool", str(folder / "cut")]
    text = _forebay_run(m.OPEN_MPI, options, 6, program, folder / "cut" / "x.nc")
    ensure("I/O ranks: 2 of 6; the program saw 4 ranks" in text, text)
    same_files(folder / "plain", folder / "cut", count=1)


ABORTING = """
import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
with open(f"{sys.argv[1]}/{world.rank}", "wb", buffering=0) as file:
    for number in range(16):
        file.write(bytes([number]) * 65536)
    world.Barrier()
    if world.rank == 1:
        world.Abort(9)
    world.Barrier()
"""


@pytest.mark.full
def test_what_was_written_survives_an_abort(folder: Path) -> None:
    """Nothing has been drained by then, and I/O ranks hold none of it."""
    options = ["--io-ranks", "1", "--pool", str(folder), "--set", "pool_quiet=60000"]
    words = [SYSTEM_PYTHON, "-c", ABORTING, folder]
    _forebay_run(m.OPEN_MPI, options, 4, *words, status=9)
    wanted = b"".join(bytes([number]) * 65536 for number in range(16))
    for rank in range(3):
        ensure((folder / str(rank)).read_bytes() == wanted, f"rank {rank} has lost bytes")


def test_the_command_says_that_there_were_none(folder: Path) -> None:
    """A program that does not call MPI_Init has none."""
    options = ["--io-ranks", "1", "--pool", str(folder)]
    text = _forebay_run(m.OPEN_MPI, options, 2, "true")
    ensure("there were no I/O ranks" in text, text)
