"""Programs of tests/mpi that run plain and through Forebay and must leave and tell the same."""

from __future__ import annotations

import functools
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite import mpi as m
from suite.compare import RECORD, Output, compare
from suite.record import Record
from suite.runner import Test, ensure

VARIANTS: Mapping[str, dict[str, str]] = {
    "": {},
    "nodes": {"ranks_per_node": "2"},
    "posix": {"storage": "posix", "requests_in_flight": "1"},
    # The MPI is told no view of more than one piece.
    "held": {"view_pieces_max": "1"},
    # A striped file on several nodes, never bypassed, through the smallest buffers.
    "striped": {
        "ranks_per_node": "2",
        "striping_unit": "65536",
        "striping_factor": "3",
        "cb_buffer_size": "65536",
        "collective_write": "enable",
        "collective_read": "enable",
    },
    # Two aggregators take turns at each of two targets, whose k is sought.
    "turns": {
        "ranks_per_node": "1",
        "striping_unit": "65536",
        "striping_factor": "2",
        "aggregators_per_target": "2",
        "requests_in_flight": "0",
        "limits_cache": "",
        "exchange": "stepwise",
        "cb_buffer_size": "65536",
        "collective_write": "enable",
        "collective_read": "enable",
    },
}


@dataclass(frozen=True, kw_only=True)
class Program:
    name: str
    source: str
    seconds_max: int = 150
    arguments: Sequence[str] = ()

    def run(self, mpi: m.Mpi, ranks: int, folder: Path, environment: Mapping[str, str]) -> m.Ended:
        program = m.build(mpi, self.source)
        folder.mkdir(parents=True, exist_ok=True)
        return m.run(
            mpi,
            ranks,
            [program, folder, *self.arguments],
            environment=environment,
            seconds_max=self.seconds_max,
        ).ensure_success()


@functools.cache
def plain(program: Program, mpi: m.Mpi, ranks: int) -> Path:
    """What the MPI alone does; one run serves all variants."""
    folder = m.BUILD / "plain" / f"{program.name}-{mpi.name}-{ranks}"
    shutil.rmtree(folder, ignore_errors=True)
    program.run(mpi, ranks, folder, {})
    return folder


def same_as_plain(program: Program, mpi: m.Mpi, ranks: int, variant: str, folder: Path) -> None:
    reference = plain(program, mpi, ranks)
    settings = VARIANTS[variant]
    program.run(mpi, ranks, folder, m.forebay(folder / RECORD, **settings))
    compare(reference, folder, ranks=ranks)
    per_node = int(settings.get("ranks_per_node", "0"))
    if per_node:
        nodes = max(file.nodes for file in Record.read(folder / RECORD).files)
        ensure(nodes == math.ceil(ranks / per_node), f"{nodes} nodes were pretended")


VIEWS = Program(name="views", source="views.c")
CALLS = Program(name="calls", source="calls.c")
DEAR = Program(name="dear_views", source="dear_views.c")
SHARED = Program(name="views_then_shared", source="calls.c", arguments=("views_then_shared",))
ERRORS = Program(name="errors", source="errors.c")
FORTRAN = tuple(
    Program(name=f"fortran_{binding}", source=f"fortran_{binding}.f90")
    for binding in ("mpif", "use", "f08")
)


def hints_are_told(mpi: m.Mpi, folder: Path) -> None:
    program = Program(name="calls", source="calls.c", arguments=("hints",))
    program.run(mpi, 2, folder, m.forebay(folder / RECORD, cb_nodes="3"))
    told = Output.read(folder).info
    ensure(told["calls.hint.nodes"]["forebay_cb_nodes"] == "1", "a hint is weaker than FOREBAY_")
    ensure(told["calls.hint.off"]["forebay_cb_nodes"] == "3", "FOREBAY_CB_NODES is not told")
    ensure(told["calls.hint.off"]["forebay_collective_write"] == "disable", "hint is not told")
    ensure(told["calls.hint.enabled"]["forebay_active"] == "false", "forebay_active is not told")
    ensure(told["calls.hint.bad"]["forebay_active"] == "true", "a bad hint switched Forebay off")


def gaps(mpi: m.Mpi, folder: Path) -> None:
    """Open MPI 5.0.11 alone destroys gaps; with Forebay none may."""
    Program(name="gaps", source="gaps.c").run(mpi, 4, folder, m.forebay(folder / RECORD))
    wrong = Output.read(folder).cases["gaps"].wrong
    ensure(not wrong, wrong)
    Record.read(folder / RECORD).of("gaps.dat").ensure_taken(writes=1, reads=0)


def deadlock(mpi: m.Mpi, folder: Path) -> None:
    program = Program(name="deadlock", source="deadlock.c", seconds_max=60)
    program.run(mpi, 2, folder, m.forebay(folder / RECORD))
    ensure(Output.read(folder).complete, "no end")
    Record.read(folder / RECORD).of("deadlock.dat").ensure_taken(writes=3, reads=0)


def limits_are_remembered(mpi: m.Mpi, folder: Path) -> None:
    """What one run finds of k, the next one reads; a damaged cache or none does no harm."""
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
    program.run(mpi, 2, folder, m.forebay(folder / RECORD, **settings))
    first = cache.read_text()
    ensure(first.startswith("forebay.limits/1\n"), first)
    ensure(" write " in first, f"nothing was found in {first}")
    found = Record.read(folder / RECORD).found_requests_in_flight
    ensure(found > 0, "the record does not say what was found")
    program.run(mpi, 2, folder, m.forebay(None, **settings))
    cache.write_text("forebay.limits/1\nnonsense\n")
    program.run(mpi, 2, folder, m.forebay(None, **settings))
    ensure(" write " in cache.read_text(), "a damaged cache is not mended")
    unusable = m.forebay(None, **{**settings, "limits_cache": "/proc/none/limits"})
    told = program.run(mpi, 2, folder, unusable).text
    ensure("requests in flight are not remembered" in told, f"nothing is said of it: {told}")


def overlap(mpi: m.Mpi, ranks: int, folder: Path) -> None:
    """No plain run: Open MPI 4.1.4 alone corrupts its heap."""
    program = Program(name="overlap", source="overlap.c")
    program.run(mpi, ranks, folder, m.forebay(folder / RECORD))
    compare(folder, folder, ranks=ranks)


def in_turn(mpi: m.Mpi, ranks: int, variant: str, folder: Path) -> None:
    """No plain run: what it leaves is known, and Open MPI alone may lose a write that follows an
    ordered one."""
    program = Program(name="in_turn", source="in_turn.c")
    program.run(mpi, ranks, folder, m.forebay(folder / RECORD, **VARIANTS[variant]))
    compare(folder, folder, ranks=ranks)


def tests() -> Iterator[Test]:
    for mpi in m.DEBIAN:
        for program in (VIEWS, CALLS, ERRORS):
            for ranks in (1, 2, 3, 4, 7):
                yield _test(program, mpi, ranks, "")
            for ranks, variant in (
                (4, "nodes"),
                (7, "nodes"),
                (4, "posix"),
                (4, "striped"),
                (4, "held"),
                (4, "turns"),
            ):
                if program is not ERRORS:
                    yield _test(program, mpi, ranks, variant)
        for ranks in (2, 3):
            yield _test(SHARED, mpi, ranks, "")
            yield _test(DEAR, mpi, ranks, "")
        yield _test(DEAR, mpi, 4, "nodes")
        for ranks, variant in ((2, ""), (4, ""), (4, "nodes")):
            yield Test(
                name="-".join(["in_turn", mpi.name, str(ranks), *([variant] if variant else [])]),
                run=functools.partial(in_turn, mpi, ranks, variant),
            )
        for program in FORTRAN:
            yield _test(program, mpi, 3, "")
        yield _test(FORTRAN[2], mpi, 4, "nodes")
    for mpi in m.WHEELS:
        for program in (VIEWS, CALLS, DEAR):
            yield _test(program, mpi, 3, "")
        yield _test(VIEWS, mpi, 4, "nodes")
    for mpi in m.ALL:
        yield Test(name=f"gaps-{mpi.name}", run=functools.partial(gaps, mpi))
        yield Test(name=f"deadlock-{mpi.name}", run=functools.partial(deadlock, mpi))
        for ranks in (2, 4):
            yield Test(
                name=f"overlap-{mpi.name}-{ranks}", run=functools.partial(overlap, mpi, ranks)
            )
        yield Test(name=f"hints-{mpi.name}", run=functools.partial(hints_are_told, mpi))
    for mpi in m.DEBIAN:
        yield Test(name=f"limits-{mpi.name}", run=functools.partial(limits_are_remembered, mpi))


def _test(program: Program, mpi: m.Mpi, ranks: int, variant: str) -> Test:
    words = [program.name, mpi.name, str(ranks), *([variant] if variant else [])]
    return Test(
        name="-".join(words), run=functools.partial(same_as_plain, program, mpi, ranks, variant)
    )
