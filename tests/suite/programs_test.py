"""Programs of tests/mpi that run plain and through Forebay and must leave and tell the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from suite import mpi as m
from suite.compare import RECORD, Output, compare
from suite.on import ALL, EACH, FULL, on
from suite.programs import (
    CALLS,
    DEAR,
    ERRORS,
    FORTRAN,
    SHARED,
    VARIANTS,
    VIEWS,
    Program,
    same_as_plain,
)
from suite.record import Record
from suite.verdict import ensure

pytestmark = pytest.mark.memory

# A program, and with it ranks and variants on each Debian MPI. In `make test` each program meets
# each number of ranks, and each variant on each MPI, but not each pair of those. Seven ranks of
# MPICH take a minute on two cores, since they spin: one program there.
Row = tuple[int, str]
FEW: Sequence[Row] = (
    (1, ""),
    (2, "posix"),
    (3, ""),
    (3, "held"),
    (3, "nodes"),
    (3, "pool"),
    (4, "striped"),
)
MANY: Sequence[Row] = ((1, ""), (2, "held"), (3, "posix"), (4, "nodes"), (4, "turns"), (4, "pool"))
SEVEN: Sequence[Row] = ((7, ""), (7, "striped"))
EVERY_WAY: Sequence[Row] = (
    *((ranks, "") for ranks in (1, 2, 3, 4, 7)),
    *((ranks, "nodes") for ranks in (4, 7)),
    *((4, variant) for variant in ("posix", "striped", "held", "turns", "pool")),
)
RANKS_ALONE: Sequence[Row] = tuple((ranks, "") for ranks in (1, 2, 3, 4, 7))
Case = tuple[Program, m.Mpi, int, str]
SANITIZED = (("views", 3, ""), ("views", 4, "nodes"), ("calls", 3, ""), ("errors", 2, ""))


def _cases(program: Program, mpi: m.Mpi, rows: Iterable[Row]) -> list[Case]:
    return [(program, mpi, ranks, variant) for ranks, variant in rows]


def _chosen() -> Iterator[Case]:
    """The cases of `make test`."""
    mpich, ompi = m.DEBIAN
    yield from _cases(VIEWS, mpich, [*FEW, (3, "turns")])
    yield from _cases(VIEWS, ompi, [*MANY, *SEVEN])
    yield from _cases(CALLS, mpich, [*MANY[:4], (3, ""), (3, "pool"), (3, "striped"), (3, "turns")])
    yield from _cases(CALLS, ompi, [*FEW, (4, "turns"), (7, "nodes")])
    yield from _cases(ERRORS, mpich, [(1, ""), (3, ""), (7, "")])
    yield from _cases(ERRORS, ompi, [(2, ""), (4, "")])
    for mpi in m.DEBIAN:
        yield SHARED, mpi, 3, ""
        yield DEAR, mpi, 3, ""
    yield DEAR, ompi, 4, "nodes"
    for program in FORTRAN:
        yield program, mpich, 3, ""
    yield FORTRAN[2], ompi, 4, "nodes"
    yield CALLS, m.MPICH_5, 3, ""


def _every() -> Iterator[Case]:
    for mpi in m.DEBIAN:
        for program in (VIEWS, CALLS):
            yield from _cases(program, mpi, EVERY_WAY)
        yield from _cases(ERRORS, mpi, RANKS_ALONE)
        for program in (SHARED, DEAR):
            yield from _cases(program, mpi, [(2, ""), (3, "")])
        yield DEAR, mpi, 4, "nodes"
        for program in FORTRAN:
            yield program, mpi, 3, ""
        yield FORTRAN[2], mpi, 4, "nodes"
        yield FORTRAN[2], mpi, 3, "pool"
        yield ERRORS, mpi, 3, "pool"
    for program in (VIEWS, CALLS, ERRORS, DEAR):
        yield program, m.STANDARD_ABI, 3, ""
    yield VIEWS, m.STANDARD_ABI, 4, "nodes"
    yield CALLS, m.STANDARD_ABI, 3, "pool"
    for mpi in (*m.WHEELS, m.INTEL_MPI):
        for program in (VIEWS, CALLS, DEAR):
            yield program, mpi, 3, ""
        yield VIEWS, mpi, 4, "nodes"
        for program in (VIEWS, CALLS):
            yield program, mpi, 3, "pool"


def _parameters() -> Iterator[ParameterSet]:
    chosen = set(_chosen())
    for case in sorted(chosen | set(_every()), key=_name):
        marks = [] if case in chosen else [FULL]
        program, mpi, ranks, variant = case
        if mpi in m.DEBIAN and (program.name, ranks, variant) in SANITIZED:
            marks.append(pytest.mark.sanitized)
        if mpi is m.STANDARD_ABI:
            marks.append(pytest.mark.standard_abi)
        yield pytest.param(*case, id=_name(case), marks=marks)


def _name(case: Case) -> str:
    program, mpi, ranks, variant = case
    return "-".join([program.name, mpi.name, str(ranks), *([variant] if variant else [])])


@pytest.mark.parametrize(("program", "mpi", "ranks", "variant"), list(_parameters()))
def test_same_as_plain(
    program: Program, mpi: m.Mpi, ranks: int, variant: str, folder: Path
) -> None:
    same_as_plain(program, mpi, ranks, variant, folder)


def test_every_program_meets_all_ranks_and_variants_on_both_mpis() -> None:
    chosen = set(_chosen())
    for mpi in m.DEBIAN:
        for program in (VIEWS, CALLS):
            own = [case for case in chosen if case[:2] == (program, mpi)]
            ensure({ranks for _, _, ranks, _ in own} >= {1, 2, 3, 4}, f"{own}")
            ensure({variant for *_, variant in own} == set(VARIANTS), f"{own}")
    for program in (VIEWS, CALLS, ERRORS):
        met = {case[2] for case in chosen if case[0] is program}
        ensure(met == {1, 2, 3, 4, 7}, f"{program.name} meets {met}")
    ensure(any(case[1] is m.MPICH and case[2] == 7 for case in chosen), "seven ranks of MPICH")
    ensure(set(_every()) - chosen, "`make test-all` runs no more")


@ALL
def test_hints_are_told(mpi: m.Mpi, folder: Path) -> None:
    program = Program(name="calls", source="calls.c", arguments=("hints",))
    program.run(mpi, 2, folder, m.forebay(folder / RECORD, cb_nodes="3"))
    told = Output.read(folder).info
    ensure(told["calls.hint.nodes"]["forebay_cb_nodes"] == "1", "a hint is weaker than FOREBAY_")
    ensure(told["calls.hint.off"]["forebay_cb_nodes"] == "3", "FOREBAY_CB_NODES is not told")
    ensure(told["calls.hint.off"]["forebay_collective_write"] == "disable", "hint is not told")
    ensure(told["calls.hint.enabled"]["forebay_active"] == "false", "forebay_active is not told")
    ensure(told["calls.hint.bad"]["forebay_active"] == "true", "a bad hint switched Forebay off")


@on(*m.DEBIAN, m.OPEN_MPI_5, full=[m.MPICH_5])
def test_gaps(mpi: m.Mpi, folder: Path) -> None:
    """Open MPI 5.0.11 alone destroys gaps; with Forebay none may."""
    Program(name="gaps", source="gaps.c").run(mpi, 4, folder, m.forebay(folder / RECORD))
    wrong = Output.read(folder).cases["gaps"].wrong
    ensure(not wrong, wrong)
    Record.read(folder / RECORD).of("gaps.dat").ensure_taken(writes=1, reads=0)


@EACH
def test_the_record_has_the_length_of_the_program(mpi: m.Mpi, folder: Path) -> None:
    """Records that the setting makes alone lacked it, and reports of them told no shares."""
    begin = time.monotonic()
    Program(name="gaps", source="gaps.c").run(mpi, 4, folder, m.forebay(folder / RECORD))
    seconds = time.monotonic() - begin
    record = Record.read(folder / RECORD)
    (job,), (end,) = record.jobs, record.ends
    ensure(all(end[key] == job[key] for key in ("rank", "pid", "host")), f"{end} of {job}")
    ensure(0 < end["seconds"] < seconds + 1, f"{end['seconds']} s, and it took {seconds} s")


@ALL
def test_deadlock(mpi: m.Mpi, folder: Path) -> None:
    program = Program(name="deadlock", source="deadlock.c", seconds_max=60)
    program.run(mpi, 2, folder, m.forebay(folder / RECORD))
    ensure(Output.read(folder).complete, "no end")
    Record.read(folder / RECORD).of("deadlock.dat").ensure_taken(writes=3, reads=0)


RUNS = 5
"""At most: on a busy machine one run may find no limit, and then there is nothing to remember."""


@EACH
def test_limits_are_remembered(mpi: m.Mpi, folder: Path) -> None:
    """The next run reads the k that one run has found; a damaged cache or none does no harm."""
    cache = folder / "cache" / "limits"
    program = Program(name="overwrite", source="overwrite.c")
    settings = {
        "requests_in_flight": "0",
        "request_bytes_max": "65536",
        "local_write_bytes_max": "65536",
        "buffers_per_aggregator": "32",  # more requests than the best k
        "collective_write": "enable",
        "limits_cache": str(cache),
    }
    record = folder / RECORD

    def ends_with(told: Callable[[str], bool], **other: str) -> bool:
        for _ in range(RUNS):
            record.unlink(missing_ok=True)
            run = program.run(mpi, 2, folder, m.forebay(record, **{**settings, **other}))
            if told(run.text):
                return True
        return False

    def found(_: str) -> bool:
        return cache.exists() and " write " in cache.read_text()

    ensure(ends_with(found), "nothing was found")
    ensure(cache.read_text().startswith("forebay.limits/1\n"), cache.read_text())
    k = Record.read(record).found_requests_in_flight
    ensure(k > 0, "the record does not say what was found")
    program.run(mpi, 2, folder, m.forebay(None, **settings))
    cache.write_text("forebay.limits/1\nnonsense\n")
    ensure(ends_with(found), "a damaged cache is not mended")
    said = "requests in flight are not remembered"
    unusable = ends_with(lambda text: said in text, limits_cache="/proc/none/limits")
    ensure(unusable, "nothing is said of a cache that cannot be written")


@pytest.mark.parametrize(
    ("mpi", "ranks"),
    [
        pytest.param(
            *(mpi, ranks),
            id=f"{mpi.name}-{ranks}",
            marks=() if (mpi, ranks) in ((m.MPICH, 2), (m.OPEN_MPI, 4)) else FULL,
        )
        for mpi in m.ALL
        for ranks in (2, 4)
    ],
)
def test_overlap(mpi: m.Mpi, ranks: int, folder: Path) -> None:
    """No plain run: Open MPI 4.1.4 alone corrupts its heap."""
    program = Program(name="overlap", source="overlap.c")
    program.run(mpi, ranks, folder, m.forebay(folder / RECORD))
    compare(folder, folder, ranks=ranks)


@pytest.mark.parametrize(
    ("mpi", "ranks", "variant"),
    [
        pytest.param(
            *(mpi, ranks, variant),
            id="-".join([mpi.name, str(ranks), *([variant] if variant else [])]),
            marks=FULL if (ranks, variant) == (4, "") else (),
        )
        for mpi in m.DEBIAN
        for ranks, variant in ((2, ""), (4, ""), (4, "nodes"))
    ],
)
def test_in_turn(mpi: m.Mpi, ranks: int, variant: str, folder: Path) -> None:
    """No plain run: what it leaves is known, and Open MPI alone may lose a write that follows an
    ordered one."""
    program = Program(name="in_turn", source="in_turn.c")
    program.run(mpi, ranks, folder, m.forebay(folder / RECORD, **VARIANTS[variant]))
    compare(folder, folder, ranks=ranks)
