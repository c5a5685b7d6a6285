"""MPI programs on several nodes with a pool each, for which daemons of their own stand in: their
collective writes are deposits on all nodes, and what is done in between misses no byte of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD, compare
from suite.on import ALL, EACH, FULL
from suite.pool import Pool, pools
from suite.programs import CALLS, ON_NODES, VIEWS, OnNodes, Program, plain
from suite.verdict import ensure

RANKS = 4


@pytest.fixture
def nodes(folder: Path) -> Iterator[Sequence[Pool]]:
    with pools(folder, 2, ON_NODES) as made:
        yield made


def run(program: Program, mpi: m.Mpi, folder: Path, nodes: Sequence[Pool]) -> m.Ended:
    environment = m.forebay(folder / RECORD, **ON_NODES)
    return OnNodes.made(nodes, ranks_per_node=2).run(program, mpi, RANKS, folder, environment)


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


@ALL
@pytest.mark.parametrize("program", [VIEWS, CALLS], ids=lambda one: one.name)
def test_same_as_plain(mpi: m.Mpi, program: Program, folder: Path, nodes: Sequence[Pool]) -> None:
    same_as_plain(program, mpi, folder, nodes)


@ALL
def test_calls_of_all_kinds_in_turn(mpi: m.Mpi, folder: Path, nodes: Sequence[Pool]) -> None:
    same_as_plain(Program(name="in_turn", source="in_turn.c"), mpi, folder, nodes)


@EACH
@pytest.mark.parametrize("rounds", ["100", pytest.param("1000", marks=FULL)])
def test_what_is_done_between_collective_writes(
    mpi: m.Mpi, rounds: str, folder: Path, nodes: Sequence[Pool]
) -> None:
    """Of two nodes that write one stripe the later wins, and every read sees it."""
    program = Program(name=f"together_{rounds}", source="together.c", arguments=(rounds,))
    same_as_plain(program, mpi, folder, nodes)
