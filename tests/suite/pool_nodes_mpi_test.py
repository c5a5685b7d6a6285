"""MPI programs on several nodes with a pool each, for which daemons of their own stand in: their
collective writes are deposits on all nodes, and what is done in between misses no byte of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD, Output, compare
from suite.file_systems import until
from suite.on import EACH, FULL, on
from suite.pool import Pool, pools
from suite.programs import CALLS, ON_NODES, VIEWS, OnNodes, Program, plain
from suite.verdict import ensure

RANKS = 4
SECONDS_MAX = 180


@pytest.fixture
def nodes(folder: Path) -> Iterator[Sequence[Pool]]:
    with pools(folder, 2, ON_NODES) as made:
        yield made


def run(program: Program, mpi: m.Mpi, folder: Path, nodes: Sequence[Pool]) -> m.Ended:
    environment = m.forebay(folder / RECORD, **ON_NODES)
    return OnNodes.made(nodes, ranks_per_node=2).run(program, mpi, RANKS, folder, environment)


def writes_until_a_daemon_dies(mpi: m.Mpi, folder: Path, nodes: Sequence[Pool]) -> None:
    """The one of the last node is killed while all ranks write."""
    begun = folder / "begun"

    def kill() -> None:
        if until(begun.exists, SECONDS_MAX):
            nodes[-1].kill()

    killer = threading.Thread(target=kill)
    killer.start()
    program = Program(name="until", source="together.c", arguments=("until_it_fails",))
    run(program, mpi, folder, nodes)
    killer.join()


def ensure_right(folder: Path, case: str) -> None:
    output = Output.read(folder)
    ensure(output.complete, "the program did not come to its end")
    ensure(not output.cases[case].wrong, output.cases[case].wrong)


def drained(nodes: Sequence[Pool]) -> None:
    for one in nodes:
        one.process.terminate()
    for one in nodes:
        one.has_stopped()


def same_as_plain(program: Program, mpi: m.Mpi, folder: Path, nodes: Sequence[Pool]) -> None:
    reference = plain(program, mpi, RANKS)
    run(program, mpi, folder, nodes)
    taken = [one.taken() for one in nodes]
    drained(nodes)
    compare(reference, folder, ranks=RANKS)
    ensure(min(taken) > 0, f"not deposited on every node: {taken}")


@on(*m.DEBIAN, full=[*m.WHEELS, m.INTEL_MPI])
@pytest.mark.parametrize("program", [VIEWS, CALLS], ids=lambda one: one.name)
def test_same_as_plain(mpi: m.Mpi, program: Program, folder: Path, nodes: Sequence[Pool]) -> None:
    same_as_plain(program, mpi, folder, nodes)


@on(m.OPEN_MPI, full=[m.MPICH, *m.WHEELS])
def test_calls_of_all_kinds_in_turn(mpi: m.Mpi, folder: Path, nodes: Sequence[Pool]) -> None:
    same_as_plain(Program(name="in_turn", source="in_turn.c"), mpi, folder, nodes)


@on(m.OPEN_MPI, full=[m.MPICH])
@pytest.mark.parametrize("rounds", ["100", pytest.param("1000", marks=FULL)])
def test_what_is_done_between_collective_writes(
    mpi: m.Mpi, rounds: str, folder: Path, nodes: Sequence[Pool]
) -> None:
    """Where two nodes write one stripe, the later write wins, and every read sees it."""
    program = Program(name=f"together_{rounds}", source="together.c", arguments=(rounds,))
    same_as_plain(program, mpi, folder, nodes)


@EACH
def test_a_daemon_that_dies_fails_the_call_on_every_rank(mpi: m.Mpi, folder: Path) -> None:
    with pools(folder, 2, ON_NODES, judged=False) as nodes:
        writes_until_a_daemon_dies(mpi, folder, nodes)
        said = nodes[0].said
        ensure(
            until(lambda: "the daemon of another node has died" in said.read_text(), SECONDS_MAX),
            said.read_text(),
        )
    ensure_right(folder, "until_it_fails")


@EACH
def test_a_header_beside_the_data_waits_for_nothing(
    mpi: m.Mpi, folder: Path, nodes: Sequence[Pool]
) -> None:
    program = Program(name="header", source="together.c", arguments=("header",))
    run(program, mpi, folder, nodes)
    drained(nodes)  # also what the program says of itself
    ensure_right(folder, "header")
