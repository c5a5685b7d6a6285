"""Programs of tests/mpi that judge for themselves: edges, every call, random twins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import mpi as m
from suite.on import ALL
from suite.verdict import ensure

EDGES = (
    "info",
    "eof",
    "wrong",
    "reopen",
    "shared",
    "freed",
    "held",
    "replaced",
    "atomic",
    "absent",
    "unclosed",
)
CPP_FLAGS = ("-std=c++20", "-O1", "-Wall", "-Wextra")
TWINS: Mapping[str, dict[str, str]] = {
    "": {},
    "held": {"view_pieces_max": "1"},
    "nodes": {"ranks_per_node": "2", "cb_buffer_size": "65536"},
}


def judge(mpi: m.Mpi, ranks: int, program: list[str | Path], **settings: str) -> None:
    ended = m.run(mpi, ranks, program, environment=m.forebay(None, **settings)).ensure_success()
    ensure("ok" in ended.text.split(), ended.text[-500:])


@pytest.mark.parametrize("mpi", m.DEBIAN, ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("case", EDGES)
def test_edge(mpi: m.Mpi, case: str, folder: Path) -> None:
    ranks = 2 if case == "reopen" else 3
    judge(mpi, ranks, [m.build(mpi, "entry_edges.c"), folder, case])


@ALL
def test_every_call(mpi: m.Mpi, folder: Path) -> None:
    judge(mpi, 3, [m.build(mpi, "entry_stub.c"), folder / "file"])


@pytest.mark.parametrize("mpi", m.DEBIAN, ids=lambda mpi: mpi.name)
@pytest.mark.parametrize(
    ("seed", "variant"),
    [pytest.param(100 * i + 1, x, id=x or "plain") for i, x in enumerate(TWINS)],
)
def test_twins(mpi: m.Mpi, variant: str, seed: int, folder: Path) -> None:
    compiler = [mpi.tool(mpi.cxx), *CPP_FLAGS]
    program = m.build_with(compiler, "entry_twins.cpp", m.BUILD / "bin" / mpi.name)
    judge(mpi, 4, [program, folder, str(seed), "12"], **TWINS[variant])
