"""Non-blocking collective calls: within the call where the node's pool has the file, else the MPI's
own. Plain and with Forebay, programs must leave and tell the same."""

from __future__ import annotations

from pathlib import Path

from suite import mpi as m
from suite.compare import RECORD, Output, compare
from suite.on import ALL, EACH
from suite.pool import pool
from suite.programs import Program, plain, same_as_plain
from suite.record import Record
from suite.verdict import ensure

NONBLOCKING = Program(name="nonblocking", source="nonblocking.c")
REQUESTS = Program(name="requests", source="nonblocking.c", arguments=("requests",))
LEFT = "non-blocking collective call"


def taken_and_left(record: Path, *, atomic: str) -> None:
    """What each file of nonblocking.c came to in the pool."""
    files = Record.read(record)
    files.of("several").ensure_taken(writes=4, reads=3)
    files.of("memory").ensure_taken(writes=2, reads=1)
    files.of("one_after_the_other").ensure_taken(writes=2, reads=0)
    files.of("among_other_calls").ensure_taken(writes=7, reads=0)
    files.of("end_of_the_file").ensure_taken(writes=0, reads=1)
    files.of("append").ensure_left("MPI_File_iwrite_at_all", "for another reason")
    files.of("atomic").ensure_left("MPI_File_iwrite_at_all", atomic)


@ALL
def test_in_the_pool_each_rank_does_its_own_part(mpi: m.Mpi, folder: Path) -> None:
    same_as_plain(NONBLOCKING, mpi, 4, "pool", folder)
    taken_and_left(folder / RECORD, atomic="atomic mode")


@EACH
def test_without_a_pool_they_are_the_mpis(mpi: m.Mpi, folder: Path) -> None:
    same_as_plain(NONBLOCKING, mpi, 4, "", folder)
    Record.read(folder / RECORD).of("several").ensure_left("MPI_File_iwrite_all", LEFT)


@EACH
def test_on_several_nodes_they_are_the_mpis(mpi: m.Mpi, folder: Path) -> None:
    reference = plain(NONBLOCKING, mpi, 4)
    with pool(folder) as one:
        environment = m.forebay(folder / RECORD, ranks_per_node="2")
        NONBLOCKING.run(mpi, 4, folder, one.with_mpi(environment))
    compare(reference, folder, ranks=4)
    several = Record.read(folder / RECORD).of("several")
    several.ensure_left("MPI_File_iwrite_all", f"{LEFT} of ranks on several nodes")


@ALL
def test_a_request_is_done_when_the_call_returns(mpi: m.Mpi, folder: Path) -> None:
    with pool(folder) as one:
        REQUESTS.run(mpi, 2, folder, one.with_mpi(m.forebay(folder / RECORD)))
    output = Output.read(folder)
    ensure(output.complete, "the program did not come to its end")
    ensure(output.cases["requests"].wrong == "", output.cases["requests"].wrong)
    Record.read(folder / RECORD).of("requests").ensure_taken(writes=4, reads=1)
