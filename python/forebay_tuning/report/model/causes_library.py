"""Rules that find the cause of a wait in how HDF5 stores data: chunks that are read or written as a
whole for parts of them.

A chunk that does not fit into the chunk cache is read for each selection that touches it, and if a
selection covers only a part of it, it is read before it is written: HDF5 documentation, "Chunking
in HDF5"."""

from __future__ import annotations

from collections.abc import Iterator

from forebay.common.model.units import MIB, human_bytes
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import FileIo, LayerIo, LibraryBytes, ProgramIo
from forebay_tuning.report.model.claims import CauseKind, Claim, counter, name_of, place
from forebay_tuning.report.model.waits import PART_OF, Part, Wait

_MORE = 2.0
"""Bytes beneath the library ÷ bytes that the program moved through it."""
_MORE_LEAST = 16 * MIB
"""Bytes beneath the library that nobody asked for: fewer are headers and indices."""
_READ_TO_WRITE = 0.5
"""Bytes read beneath the library ÷ bytes written from which on a program that only writes reads
chunks to change them."""


_CHUNKS = (
    "Choose chunks that selections fill, or a cache that holds all chunks of a selection "
    "(H5Pset_chunk_cache)."
)
_UNFILLED = (
    "Write no fill values (H5Pset_fill_time with H5D_FILL_TIME_NEVER), and choose chunks that "
    "selections fill."
)


def chunks(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """HDF5 moves more bytes than the program asked it for."""
    library, layer = _library(wait, program), wait.mpi or wait.storage
    if library is None or layer is None or not program.is_whole:
        return  # of partial records, what the library was asked for may be missing
    if _is_more(layer.read.bytes, library.read):
        share = 1 - library.read / layer.read.bytes
        yield _more(wait, layer, library, Direction.READ, share)
    changing = library.read == 0 and layer.read.bytes >= _READ_TO_WRITE * library.written
    if changing and _is_more(layer.read.bytes + layer.write.bytes, library.written):
        yield _more(wait, layer, library, Direction.READ, 1.0)
    if _is_more(layer.write.bytes, library.written):
        share = 1 - library.written / layer.write.bytes
        yield _more(wait, layer, library, Direction.WRITE, share)


def _is_more(moved: int, asked: int) -> bool:
    return asked > 0 and moved >= _MORE * asked and moved - asked >= _MORE_LEAST


def _library(wait: Wait, program: ProgramIo) -> LibraryBytes | None:
    """The bytes of the library in the wait's file, or in all of the rank's own files; None if other
    bytes went into these, too."""
    if not wait.own:
        return wait.file.library
    mine = [one for one in program.files if one.rank == wait.file.rank and not one.by_mpi]
    known = [one for one in mine if one.library is not None]
    if 2 * sum(one.bytes for one in known) < sum(one.bytes for one in mine):
        return None
    return LibraryBytes(
        name=next((one.library.name for one in known if one.library is not None), ""),
        read=sum(_moved(one, Direction.READ) for one in mine),
        written=sum(_moved(one, Direction.WRITE) for one in mine),
    )


def _moved(file: FileIo, direction: Direction) -> int:
    if file.library is None:
        return file.passing(direction).bytes
    return file.library.read if direction is Direction.READ else file.library.written


def _more(
    wait: Wait, layer: LayerIo, library: LibraryBytes, direction: Direction, share: float
) -> Claim:
    reading = direction is Direction.READ
    changing = reading and library.read == 0
    asked = library.written if changing or not reading else library.read
    moved = layer.passing(direction).bytes
    done = "read" if reading else "written"
    what = "BYTES_READ" if reading else "BYTES_WRITTEN"
    verb = "writes" if changing or not reading else "reads"
    before = "reads chunks to change them" if changing else f"{verb} whole chunks for parts of them"
    filled = not reading and layer.read.bytes < _READ_TO_WRITE * (moved - asked)
    if filled:
        before = "writes fill values, or whole chunks for parts of them,"
    return Claim(
        kind=CauseKind.READ_MODIFY_WRITE if changing or not reading else CauseKind.SIEVING,
        part=PART_OF[direction] if direction is Direction.WRITE else Part.READ,
        share=share,
        title=f"{library.name} {before} in {name_of(wait.file)}",
        detail=(
            f"for {human_bytes(asked)} that the program {'wrote' if verb == 'writes' else 'read'} "
            f"through {library.name}, {human_bytes(moved)} were {done}: "
            + ("each dataset is filled before its data come, or " if filled else "")
            + "selections do not fill chunks, and these do not fit into its cache."
        ),
        action=_UNFILLED if filled else _CHUNKS,
        proof=(
            f"{counter(layer, what, moved)} ÷ H5D_BYTES_"
            f"{'WRITTEN' if verb == 'writes' else 'READ'} {asked} = {moved / asked:.1f} "
            f"{place(wait.file)}"
        ),
    )
