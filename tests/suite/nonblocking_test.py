"""Non-blocking collective calls: done within the call where the node's pool has the file, else the
MPI's own. They are compared with blocking ones of the MPI alone, since Open MPI 4.1.4 reads back
other bytes by non-blocking ones, and hangs."""

from __future__ import annotations

from pathlib import Path

from suite import mpi as m
from suite.compare import RECORD, Output, compare
from suite.on import ALL, EACH, on
from suite.pool import pool
from suite.programs import VARIANTS, Program, plain
from suite.record import Record
from suite.verdict import ensure

RANKS = 4
LEFT = "non-blocking collective call"
BLOCKING = Program(name="blocking", source="nonblocking.c", arguments=("blocking",))


def program(which: str) -> Program:
    return Program(name="nonblocking", source="nonblocking.c", arguments=(which,), seconds_max=60)


def ensure_right(folder: Path) -> None:
    output = Output.read(folder)
    ensure(output.complete, "the program did not come to its end")
    wrong = {name: case.wrong for name, case in output.cases.items() if case.wrong}
    ensure(not wrong, f"{wrong}")


@on(m.OPEN_MPI, full=[m.MPICH, *m.WHEELS])
def test_in_the_pool_each_rank_does_its_own_part(mpi: m.Mpi, folder: Path) -> None:
    reference = plain(BLOCKING, mpi, RANKS)
    with pool(folder, VARIANTS["pool"]) as one:
        program("all").run(mpi, RANKS, folder, one.with_mpi(m.forebay(folder / RECORD)))
    compare(reference, folder, ranks=RANKS)
    files = Record.read(folder / RECORD)
    files.of("several").ensure_taken(writes=4, reads=3)
    files.of("memory").ensure_taken(writes=2, reads=1)
    files.of("one_after_the_other").ensure_taken(writes=2, reads=0)
    files.of("now_and_then").ensure_taken(writes=40, reads=40)
    files.of("together").ensure_taken(writes=1, reads=73)
    files.of("among_other_calls").ensure_taken(writes=7, reads=0)
    files.of("end_of_the_file").ensure_taken(writes=0, reads=1)
    files.of("append").ensure_left("MPI_File_iwrite_at_all", "for another reason")
    files.of("atomic").ensure_left("MPI_File_iwrite_at_all", "atomic mode")


@EACH
def test_ranks_that_come_at_once_read_together(mpi: m.Mpi, folder: Path) -> None:
    with pool(folder, VARIANTS["pool"]) as one:
        program("together").run(mpi, 2, folder, one.with_mpi(m.forebay(folder / RECORD)))
    ensure_right(folder)
    read = Record.read(folder / RECORD).of("together")
    read.ensure_taken(writes=1, reads=73)
    ensure(read.reads_alone < read.reads, "each rank read alone in every call")


@ALL
def test_a_request_is_done_when_the_call_returns(mpi: m.Mpi, folder: Path) -> None:
    with pool(folder) as one:
        program("own").run(mpi, 2, folder, one.with_mpi(m.forebay(folder / RECORD)))
    ensure_right(folder)
    Record.read(folder / RECORD).of("requests").ensure_taken(writes=4, reads=1)


@EACH
def test_without_a_pool_they_are_the_mpis(mpi: m.Mpi, folder: Path) -> None:
    program("memory").run(mpi, 2, folder, m.forebay(folder / RECORD))
    ensure_right(folder)
    Record.read(folder / RECORD).of("memory").ensure_left("MPI_File_iwrite_all", LEFT)


@EACH
def test_on_several_nodes_they_are_the_mpis(mpi: m.Mpi, folder: Path) -> None:
    with pool(folder) as one:
        environment = one.with_mpi(m.forebay(folder / RECORD, ranks_per_node="1"))
        program("memory").run(mpi, 2, folder, environment)
    ensure_right(folder)
    memory = Record.read(folder / RECORD).of("memory")
    memory.ensure_left("MPI_File_iwrite_all", f"{LEFT} of ranks on several nodes")
