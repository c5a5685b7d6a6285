"""Rules that find the cause of a wait in the layer of MPI-IO.

MPI-IO's seconds, less those of the POSIX layer beneath it, were spent in exchange and waiting. More
bytes in the POSIX layer than in MPI-IO show read-modify-write or data sieving. Two-phase I/O and
data sieving: Thakur, Gropp and Lusk, "Data Sieving and Collective I/O in ROMIO", Frontiers '99. The
thresholds are heuristics, checked on the labelled logs of docs/tuning.md."""

from __future__ import annotations

from collections.abc import Iterator

from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import LayerIo, ProgramIo
from forebay_tuning.report.model.claims import CauseKind, Claim, counter, name_of, place
from forebay_tuning.report.model.waits import PART_OF, Part, Wait

_MORE_BYTES = 1.3
"""POSIX bytes ÷ MPI-IO bytes of writes from which on holes were filled."""
_MORE_BYTES_READ = 1.5
"""The same of reads; headers that are read again stay below it."""
_READS_OF_WRITER = 0.2
"""Reads per write in the POSIX layer from which on a write-only file was read to be modified."""
_GAP_LEAST = 0.25
"""Share of MPI-IO's seconds beyond storage's: less is what two-phase I/O costs anyway."""
_OPENS_LEAST = 8
"""MPI_File_open calls per rank, of one file or of all, from which on they are reported."""
_VIEWS_LEAST = 16
"""MPI_File_set_view calls of one file per rank, likewise."""
_VIEWS_OF_AN_OPEN = 20
"""Views that are assumed to take as long as one opening and closing."""


def read_modify_write(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Read-modify-write: a buffer with holes is read, changed and written back as a whole."""
    mpi, storage = wait.mpi, wait.storage
    if mpi is None or storage is None or mpi.write.bytes == 0:
        return
    only_writes = mpi.read.calls * 20 <= mpi.write.calls and mpi.read.bytes * 20 <= mpi.write.bytes
    useful = mpi.write.bytes
    reads = storage.read.calls if only_writes else 0
    moved = storage.write.bytes + (storage.read.bytes if only_writes else 0)
    more = storage.write.bytes >= _MORE_BYTES * useful
    reading = reads >= max(4, _READS_OF_WRITER * storage.write.calls)
    if not (more or reading) or moved < 0.5 * useful:
        return
    by_time = storage.read.seconds / storage.seconds if reading and storage.seconds else 0.0
    share = max(1 - useful / moved if moved else 0.0, by_time)
    together = mpi.collective(Direction.WRITE)
    how = "collective" if together else "independent"
    yield Claim(
        kind=CauseKind.READ_MODIFY_WRITE,
        part=Part.WRITE,
        share=min(1.0, share),
        title=f"read-modify-write in {how} writes of {name_of(wait.file)}",
        detail=(
            f"for {human_bytes(useful)} of MPI-IO, storage was written "
            f"{human_bytes(storage.write.bytes)} and read {counted(reads, 'time')} "
            f"({human_bytes(storage.read.bytes)}): "
            + (
                "aggregators fill the holes between pieces by reading first."
                if together
                else "data sieving reads a block, puts the pieces in, and writes it back."
            )
        ),
        action=(
            "Write without holes in one call (larger pieces, all variables together), or switch "
            "it off: romio_ds_write=disable; Forebay's collective writes do not read."
            if together
            else f"{_instead(mpi, Direction.WRITE)}, or romio_ds_write=disable."
        ),
        proof=(
            f"{counter(storage, 'BYTES_WRITTEN', storage.write.bytes)} ÷ "
            f"{counter(mpi, 'BYTES_WRITTEN', useful)} = {storage.write.bytes / useful:.1f}, "
            f"{counter(storage, 'READS', reads)} {place(wait.file)}"
        ),
    )


def sieving(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Data sieving: a read fetches also the holes between the requested pieces."""
    mpi, storage = wait.mpi, wait.storage
    if mpi is None or storage is None or mpi.read.bytes == 0:
        return
    to_modify = storage.write.bytes if mpi.write.bytes else 0  # as much is read for it, at most
    if storage.read.bytes - to_modify < _MORE_BYTES_READ * mpi.read.bytes:
        return
    yield Claim(
        kind=CauseKind.SIEVING,
        part=Part.READ,
        share=1 - mpi.read.bytes / storage.read.bytes,
        title=f"data sieving in reads of {name_of(wait.file)}",
        detail=(
            f"for {human_bytes(mpi.read.bytes)} that the program asked for, "
            f"{human_bytes(storage.read.bytes)} were read: blocks with the holes between pieces."
        ),
        action=(
            "Read without holes in one call (larger pieces, all variables together); Forebay's "
            "collective reads leave out blocks of which no rank wants anything."
            if mpi.collective(Direction.READ) and mpi.ranks > 1
            else f"{_instead(mpi, Direction.READ)}, or romio_ds_read=disable."
        ),
        proof=(
            f"{counter(storage, 'BYTES_READ', storage.read.bytes)} ÷ "
            f"{counter(mpi, 'BYTES_READ', mpi.read.bytes)} = "
            f"{storage.read.bytes / mpi.read.bytes:.1f} {place(wait.file)}"
        ),
    )


def _instead(mpi: LayerIo, direction: Direction) -> str:
    """The calls that are better than independent ones with holes."""
    verb = "read" if direction is Direction.READ else "write"
    if mpi.ranks < 2:
        return f"{verb.capitalize()} contiguous pieces, gathered in memory"
    return f"Use collective {verb}s (MPI_File_{verb}_all)"


def exchange(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Time in MPI-IO that is not spent in storage: exchange between ranks, or MPI-IO's own work."""
    mpi, storage = wait.mpi, wait.storage
    if mpi is None:
        return
    for direction in Direction:
        part = PART_OF[direction]
        passing = mpi.passing(direction)
        gap = 1 - wait.stored(direction)
        if wait.seconds[part] <= 0 or gap < _GAP_LEAST or passing.calls == 0:
            continue
        reading = direction is Direction.READ
        verb = "reads" if reading else "writes"
        counted_as = f"F_{'READ' if reading else 'WRITE'}_TIME"
        size = human_bytes(passing.bytes // max(1, passing.calls))
        beneath = wait.seconds[part] * wait.stored(direction)
        told = f"{counter(mpi, counted_as, round(passing.seconds, 3))} over {mpi.ranks} ranks"
        if storage is None or (storage.seconds == 0 and storage.bytes == 0):
            if mpi.collective(direction):
                yield _unknown(wait, direction, f"{told}, POSIX: none {place(wait.file)}")
            continue
        proof = (
            f"{told}, beneath it POSIX {human_seconds(beneath)} s in the slowest rank "
            f"{place(wait.file)}"
        )
        if mpi.collective(direction) and mpi.ranks > 1:
            yield Claim(
                kind=CauseKind.EXCHANGE,
                part=part,
                share=gap,
                title=f"collective {verb} of {size}: exchange between ranks, not storage",
                detail=(
                    f"each rank spent {human_seconds(wait.seconds[part])} s in "
                    f"{passing.calls // max(1, mpi.ranks)} collective {verb} of "
                    f"{name_of(wait.file)}, of which storage took {human_seconds(beneath)} s."
                ),
                action=(
                    f"Put more into one call (larger or fewer calls); Forebay exchanges and "
                    f"{verb} at the same time: `forebay verify` says what it gains."
                ),
                proof=proof,
            )
        else:
            alone = "" if mpi.collective(direction) else "independent "
            yield Claim(
                kind=CauseKind.MPI,
                part=part,
                share=gap,
                title=f"{alone}{verb} of MPI-IO: its own work, not storage",
                detail=(
                    f"MPI-IO took {human_seconds(wait.seconds[part])} s, the file system "
                    f"{human_seconds(beneath)} s of it: locks of data sieving, or datatypes that "
                    "are packed piece by piece."
                ),
                action="Use collective calls, or contiguous pieces."
                if mpi.ranks > 1
                else "Use contiguous pieces, and larger ones.",
                proof=proof,
            )


def _unknown(wait: Wait, direction: Direction, proof: str) -> Claim:
    """The claim if the log has no POSIX records beneath MPI-IO: exchange and storage cannot be told
    apart."""
    verb = "reads" if direction is Direction.READ else "writes"
    part = PART_OF[direction]
    return Claim(
        kind=CauseKind.EXCHANGE,
        part=part,
        share=1.0,
        title=f"collective {verb} of {name_of(wait.file)}: exchange or storage",
        detail=(
            f"they took each rank {human_seconds(wait.seconds[part])} s; the log has nothing of "
            "POSIX beneath them, so that it does not tell which."
        ),
        action="Take a log with Darshan's POSIX module whole; `forebay verify` says what it gains.",
        proof=proof,
    )


def opening(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """MPI_File_open and MPI_File_close are called again and again for one file."""
    mpi = wait.mpi
    if mpi is None or mpi.opens == 0:
        return
    often = mpi.opens >= _OPENS_LEAST * max(1, mpi.ranks)
    if not often and wait.mpi_opens_of_all < _OPENS_LEAST:
        return
    yield Claim(
        kind=CauseKind.OPENING,
        part=Part.OPENING,
        share=1.0,
        title=f"{name_of(wait.file)} is opened and closed again and again"
        if often
        else "many files are opened and closed together (MPI_File_open)",
        detail=(
            f"{mpi.opens} openings by {counted(mpi.ranks, 'rank')}"
            f"{'; all ranks wait for each other in each' if mpi.ranks > 1 else ''}."
        ),
        action="Open it once." if often else "Put more into one file, and open it once.",
        proof=f"{counter(mpi, 'COLL_OPENS', mpi.opens)} {place(wait.file)}",
    )


def views(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """MPI_File_set_view, in which all ranks meet, is called for each collective call, as PnetCDF
    and HDF5 do. Darshan counts its seconds among those of opening and closing."""
    mpi = wait.mpi
    if mpi is None or mpi.views < _VIEWS_LEAST * max(2, mpi.ranks):
        return
    calls = mpi.write.collective_calls + mpi.read.collective_calls
    if 2 * calls < mpi.write.calls + mpi.read.calls or 2 * mpi.views < calls:
        return
    yield Claim(
        kind=CauseKind.EXCHANGE,
        part=Part.OPENING,
        share=_share_of_views(wait, mpi, program),
        title=f"a view of {name_of(wait.file)} is set for each collective call",
        detail=(
            f"{counted(mpi.views, 'view')} for {counted(calls, 'call')} by "
            f"{counted(mpi.ranks, 'rank')}; all ranks meet in each. PnetCDF and HDF5 set one for "
            "each selection."
        ),
        action="Put more into one call (larger selections, or ncmpi_iput_… and ncmpi_wait_all).",
        proof=f"{counter(mpi, 'VIEWS', mpi.views)} {place(wait.file)}",
    )


def _share_of_views(wait: Wait, mpi: LayerIo, program: ProgramIo) -> float:
    """The share of views in the seconds of opening: at most what the library that set them spent
    beside moving bytes, if the log has its seconds."""
    share = mpi.views / (mpi.views + _VIEWS_OF_AN_OPEN * mpi.opens)
    seconds = wait.seconds[Part.OPENING]
    if not program.libraries or seconds <= 0:
        return share
    moving = wait.seconds[Part.WRITE] + wait.seconds[Part.READ]
    beside = max(0.0, max(one.seconds for one in program.libraries) - moving)
    return min(share, beside / seconds)
