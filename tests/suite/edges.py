"""Programs of tests/mpi that judge for themselves: edges, every call, random twins."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

from suite import mpi as m
from suite.compare import RECORD
from suite.record import Record
from suite.runner import Test, ensure

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


def edge(mpi: m.Mpi, ranks: int, case: str, folder: Path) -> None:
    judge(mpi, ranks, [m.build(mpi, "entry_edges.c"), folder, case])


def every_call(mpi: m.Mpi, folder: Path) -> None:
    judge(mpi, 3, [m.build(mpi, "entry_stub.c"), folder / "file"])


def close_in_finalize(mpi: m.Mpi, ranks: int, folder: Path) -> None:
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


def no_memory(mpi: m.Mpi, case: str, folder: Path) -> None:
    compiler = [mpi.tool(mpi.cxx), *CPP_FLAGS]
    program = m.build_with(compiler, "no_memory.cpp", m.BUILD / "bin" / mpi.name)
    command: list[str | Path] = [program, folder / "file", case]
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


def twins(mpi: m.Mpi, variant: str, seed: int, folder: Path) -> None:
    compiler = [mpi.tool(mpi.cxx), *CPP_FLAGS]
    program = m.build_with(compiler, "entry_twins.cpp", m.BUILD / "bin" / mpi.name)
    judge(mpi, 4, [program, folder, str(seed), "12"], **TWINS[variant])


def tests() -> Iterator[Test]:
    for mpi in m.DEBIAN:
        for case in EDGES:
            ranks = 2 if case == "reopen" else 3
            yield Test(
                name=f"edge-{case}-{mpi.name}", run=functools.partial(edge, mpi, ranks, case)
            )
        for case in ("alone", "datatypes", "together"):
            yield Test(
                name=f"no-memory-{case}-{mpi.name}", run=functools.partial(no_memory, mpi, case)
            )
        for seed, variant in enumerate(TWINS):
            name = "-".join(part for part in ("twins", mpi.name, variant) if part)
            yield Test(name=name, run=functools.partial(twins, mpi, variant, 100 * seed + 1))
    for mpi in m.ALL:
        yield Test(name=f"stub-{mpi.name}", run=functools.partial(every_call, mpi))
        for ranks in (2, 4):
            yield Test(
                name=f"close-in-finalize-{mpi.name}-{ranks}",
                run=functools.partial(close_in_finalize, mpi, ranks),
            )
