"""Programs of tests/mpi that judge for themselves: edges, every call, random twins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from suite import mpi as m
from suite.compare import RECORD
from suite.on import ALL, EACH, FULL
from suite.record import Record
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
SANITIZED = ("held", "shared", "wrong", "eof", "replaced")


def _edges() -> Iterator[ParameterSet]:
    for case in EDGES:
        for mpi in m.DEBIAN:
            marks = [pytest.mark.sanitized] if case in SANITIZED else []
            if case == "reopen" and mpi is not m.MPICH:
                marks.append(FULL)  # it is MPICH that has few communicators
            yield pytest.param(mpi, case, id=f"{case}-{mpi.name}", marks=marks)


CPP_FLAGS = ("-std=c++20", "-O1", "-Wall", "-Wextra")
TWINS: Mapping[str, dict[str, str]] = {
    "": {},
    "held": {"view_pieces_max": "1"},
    "nodes": {"ranks_per_node": "2", "cb_buffer_size": "65536"},
}


def judge(mpi: m.Mpi, ranks: int, program: list[str | Path], **settings: str) -> None:
    ended = m.run(mpi, ranks, program, environment=m.forebay(None, **settings)).ensure_success()
    ensure("ok" in ended.text.split(), ended.text[-500:])


@pytest.mark.parametrize(("mpi", "case"), list(_edges()))
def test_edge(mpi: m.Mpi, case: str, folder: Path) -> None:
    ranks = 2 if case == "reopen" else 3
    judge(mpi, ranks, [m.build(mpi, "entry_edges.c"), folder, case])


@ALL
def test_every_call(mpi: m.Mpi, folder: Path) -> None:
    judge(mpi, 3, [m.build(mpi, "entry_stub.c"), folder / "file"])


@ALL
@pytest.mark.parametrize("ranks", [2, 4])
def test_close_in_finalize(mpi: m.Mpi, ranks: int, folder: Path) -> None:
    """HDF5 closes files that were left open from an attribute's callback: once a segfault."""
    file = folder / "file"
    program = m.build(mpi, "close_in_finalize.c")
    ended = m.run(mpi, ranks, [program, file], environment=m.forebay(folder / RECORD))
    ensure("ok" in ended.ensure_success().text.split(), ended.tail)
    whole = b"".join(bytes([ord("a") + rank]) * 4096 for rank in range(ranks))
    ensure(file.read_bytes() == whole * 2, "the file has something else")
    told = Record.read(folder / RECORD).of("file")
    told.ensure_taken(writes=2, reads=0)
    ensure([line.closed for line in told.lines] == [True], f"the record has {told.lines}")


@EACH
@pytest.mark.parametrize("case", ["alone", "datatypes", "together"])
def test_no_memory(mpi: m.Mpi, case: str, folder: Path) -> None:
    compiler = [mpi.cxx, *CPP_FLAGS]
    program = m.build_with(compiler, "no_memory.cpp", m.BUILD / "bin" / mpi.name)
    command: list[str | Path] = [program, folder / "file", case]
    ended = m.run(mpi, 3, command, environment=m.forebay(folder / RECORD))
    if case == "together" and not ended.text:
        # MPICH's launcher, when it ends an aborted job, now and then passes on nothing at all.
        ended = m.run(mpi, 3, command, environment=m.forebay(folder / RECORD))
    if case != "together":
        ensure("ok" in ended.ensure_success().text.split(), ended.tail)
    if case == "datatypes":
        left = [one for one in Record.read(folder / RECORD).of("file").left() if "_all" in one.call]
        ensure([one.calls for one in left] == [2], f"the record has {left}")
        ensure("no memory left" in left[0].reason, f"the record has {left}")
    if case != "together":
        return
    ensure(not ended.late and ended.status != 0, f"the job goes on: {ended.tail}")
    ensure("forebay: rank 1 cannot end a file call (no memory is left)" in ended.text, ended.tail)


@pytest.mark.parametrize(
    ("mpi", "seed", "variant"),
    [
        pytest.param(
            *(mpi, 100 * i + 1, variant),
            id="-".join([mpi.name, *([variant] if variant else [])]),
            marks=() if (mpi, variant) == (m.OPEN_MPI, "nodes") else FULL,
        )
        for mpi in m.DEBIAN
        for i, variant in enumerate(TWINS)
    ],
)
def test_twins(mpi: m.Mpi, variant: str, seed: int, folder: Path) -> None:
    compiler = [mpi.cxx, *CPP_FLAGS]
    program = m.build_with(compiler, "entry_twins.cpp", m.BUILD / "bin" / mpi.name)
    judge(mpi, 4, [program, folder, str(seed), "12"], **TWINS[variant])
