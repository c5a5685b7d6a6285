"""Reads from an ELF file what the program is linked to, without binutils, which compute nodes often
lack. Source: System V ABI, chapters 4 and 5."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forebay.common.model.frozen import frozen

_MAGIC = b"\x7fELF"
_CLASS_64, _LITTLE = 2, 1
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB = 0, 1, 5

_PROGRAM = struct.Struct("<IIQQQQQQ")
_DYNAMIC = struct.Struct("<qQ")
_MPI_MARKS = (b"\0MPIR_Init", b"\0ompi_mpi_init\0", b"MPIR_CVAR_", b"mpi_yield_when_idle")


@frozen
class ElfFacts:
    """An ELF file's needs at run time: an interpreter (dynamic linker) and shared libraries."""

    interpreter: str
    """The dynamic linker's path; empty if there is none."""
    needed: tuple[str, ...]
    defines_mpi: bool

    @property
    def has_interpreter(self) -> bool:
        """Whether there is a dynamic linker, which alone loads shared libraries."""
        return bool(self.interpreter)


@dataclass(frozen=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def read_elf(path: Path) -> ElfFacts | None:
    """The facts of a 64-bit little-endian ELF file, or None if the file is something else."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            return _facts(view)
    except (OSError, ValueError, struct.error, IndexError):
        return None


def _facts(view: mmap.mmap) -> ElfFacts | None:
    if view[:4] != _MAGIC or view[4] != _CLASS_64 or view[5] != _LITTLE:
        return None
    segments = list(_segments(view))
    return ElfFacts(
        interpreter=next(
            (
                view[one.offset : one.offset + one.size].rstrip(b"\0").decode("utf-8", "replace")
                for one in segments
                if one.kind == _PT_INTERP
            ),
            "",
        ),
        needed=tuple(_needed(view, segments)),
        defines_mpi=_defines_mpi(view),
    )


def _segments(view: mmap.mmap) -> Iterator[_Segment]:
    (start,) = struct.unpack_from("<Q", view, 32)
    size, count = struct.unpack_from("<HH", view, 54)
    for index in range(count):
        kind, _, offset, address, _, length, _, _ = _PROGRAM.unpack_from(view, start + index * size)
        yield _Segment(kind, offset, address, length)


def _needed(view: mmap.mmap, segments: list[_Segment]) -> Iterator[str]:
    dynamic = next((segment for segment in segments if segment.kind == _PT_DYNAMIC), None)
    if dynamic is None:
        return
    names, table = [], 0
    for tag, value in _DYNAMIC.iter_unpack(
        view[dynamic.offset : dynamic.offset + dynamic.size // 16 * 16]
    ):
        if tag == _DT_NULL:
            break
        if tag == _DT_NEEDED:
            names.append(value)
        elif tag == _DT_STRTAB:
            table = _file_offset(segments, value)
    for name in names:
        end = view.find(b"\0", table + name)
        yield view[table + name : end].decode("utf-8", "replace")


def _file_offset(segments: list[_Segment], address: int) -> int:
    for segment in segments:
        inside = 0 <= address - segment.address < segment.size
        if segment.kind == _PT_LOAD and inside:
            return segment.offset + address - segment.address
    raise ValueError("an address outside all segments")


def _defines_mpi(view: mmap.mmap) -> bool:
    """Whether the file contains an MPI's own code: its symbols, or the names of its parameters,
    which stripped files keep."""
    return any(view.find(mark) >= 0 for mark in _MPI_MARKS)
