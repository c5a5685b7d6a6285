"""A program's I/O per file, layer and rank, as values that do not depend on the log's format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from statistics import median
from typing import TYPE_CHECKING

from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB
from forebay_tuning.model.point import Direction

if TYPE_CHECKING:
    from forebay.common.model.io_rank_count import OutputDemand
    from forebay.common.model.record import PoolRecord
    from forebay_tuning.model.course import PoolCourse

_SAME_BYTES_SHARE = 0.8
"""Share of ranks × file size that is read if "all ranks read all of the file"."""


@frozen
class Passing:
    """One direction of a file. Times and counts are summed over ranks. `usual_transfer` is the
    commonest size of a call. `collective_calls` and `collective_bytes` are those of MPI-IO, if
    known. `begin` and `end` are the seconds of the first and last call since the program began."""

    bytes: int = 0
    calls: int = 0
    small_calls: int = 0
    seconds: float = 0.0
    usual_transfer: int = 0
    collective_calls: int = 0
    collective_bytes: int = 0
    begin: float = 0.0
    end: float = 0.0
    longest: float = 0.0
    """Seconds of the longest single call, if known."""
    sequential: int = 0
    """Calls at an offset at or after the end of the previous call."""


@frozen
class BothDirections:
    """A program's writes and reads, and its metadata calls besides."""

    write: Passing = field(default_factory=Passing)
    read: Passing = field(default_factory=Passing)
    seconds_meta: float = 0.0

    def passing(self, direction: Direction) -> Passing:
        """The I/O of one direction."""
        return self.write if direction is Direction.WRITE else self.read

    @property
    def seconds(self) -> float:
        """Seconds in data and metadata calls, summed over ranks."""
        return self.write.seconds + self.read.seconds + self.seconds_meta

    @property
    def bytes(self) -> int:
        """Bytes in both directions."""
        return self.write.bytes + self.read.bytes


@frozen
class LayerIo(BothDirections):
    """The I/O of one layer (MPI-IO, or POSIX beneath it) on one file.

    `ranks` is the number of ranks with a record, `rank` the only one, None if there are several.
    `effective_movers` is the effective number of ranks that moved the bytes. `slowest_seconds` is
    the time of the slowest rank in reads, writes and metadata calls. `sync_seconds`, summed over
    ranks, is a lower bound for fsync's part of the write time, and `closing_seconds` one for
    close's part of the metadata time."""

    name: str
    ranks: int
    rank: int | None
    write: Passing
    read: Passing
    slowest_rank: int | None = None
    slowest_seconds: float = 0.0
    slowest_bytes: int = 0
    """Bytes of the slowest rank; 0 if not known."""
    fastest_rank: int | None = None
    fastest_seconds: float = 0.0
    least_bytes: int = 0
    """Bytes of the fastest rank; 0 if ranks are not in the records."""
    spread_seconds: float = 0.0
    """Standard deviation of the ranks' seconds."""
    effective_movers: int = 0
    opens: int = 0
    stats: int = 0
    seeks: int = 0
    views: int = 0
    """Calls of MPI_File_set_view."""
    syncs: int = 0
    flushes: int = 0
    switches: int = 0
    unaligned: int = 0
    alignment: int = 0
    collective_sets: int = 0
    sync_seconds: float = 0.0
    closing_seconds: float = 0.0
    extent: int = 0

    def collective(self, direction: Direction) -> bool:
        """Whether collective calls moved most of the direction's bytes, or, if none were moved, are
        most of its calls."""
        passing = self.passing(direction)
        if passing.bytes:
            return 2 * passing.collective_bytes > passing.bytes
        return 2 * passing.collective_calls > passing.calls


@frozen
class RankIo:
    """The I/O of one rank on files that no other rank opened, and that MPI-IO did not open."""

    rank: int
    seconds: float
    write_seconds: float
    read_seconds: float
    meta_seconds: float
    bytes: int
    opens: int
    files: int
    written: int = 0
    """The part of `bytes` that it wrote; it read the others."""

    def moved(self, direction: Direction) -> int:
        """Bytes of one direction."""
        return self.written if direction is Direction.WRITE else self.bytes - self.written


@frozen
class LibraryIo:
    """The I/O of HDF5 or PnetCDF on the variables of all files. `seconds` is that of the slowest
    rank, and includes the layers below; `collective_sets` counts requests for collective access.
    `module` is Darshan's, `costliest` the variable with most seconds, as path:variable."""

    name: str
    module: str
    variables: int
    costliest: str
    slowest_rank: int
    seconds: float
    calls: int
    bytes: int
    collective_sets: int = 0


@frozen
class LibraryBytes:
    """Bytes that a program gave to a library (`name`), or asked it for, in one file."""

    name: str
    read: int
    written: int


@frozen
class FileIo(BothDirections):
    """One file. `ranks` is the number of ranks that moved its bytes, `extent` one past the last
    byte touched, `targets` the storage targets it lies on, if known. If `files` exceeds 1, it is
    the sum of one rank's files with few bytes, in a program with very many files."""

    path: str
    ranks: int
    rank: int | None = None
    """The only rank that used the file, or None if several did."""
    opens: int = 0
    extent: int = 0
    slowest_seconds: float = 0.0
    fastest_seconds: float = 0.0
    collective: bool = False
    by_mpi: bool = False
    stripe_count: int | None = None
    stripe_bytes: int | None = None
    targets: tuple[int, ...] = ()
    files: int = 1
    file_system: str = ""
    """The file system's type by the log's mounts; "lustre" if the log has the file's layout."""
    layers: tuple[LayerIo, ...] = ()
    waited: bool = True
    """Whether its seconds count for the run: false for files of other ranks than those of the rank
    that waited longest, which used theirs at the same time."""
    library: LibraryBytes | None = None
    """The bytes that the program moved by HDF5, if the log says so."""

    def layer(self, name: str) -> LayerIo | None:
        """The layer's I/O, or None if it did not touch the file or layers are not known."""
        return next((one for one in self.layers if one.name == name), None)


@frozen
class ProgramIo:
    """A run of a program. `nodes` is None if the log does not say. `own` has an entry per rank with
    files of its own. `gaps` says what the log lacks."""

    source: str
    command: str
    ranks: int
    nodes: int | None
    seconds: float
    started: str
    files: tuple[FileIo, ...]
    gaps: tuple[str, ...] = ()
    targets_known: bool = False
    is_whole: bool = True
    """False if I/O is known to be missing: partial records, a module that is not there, mmap."""
    own: tuple[RankIo, ...] = ()
    libraries: tuple[LibraryIo, ...] = ()
    pools: tuple[PoolRecord, ...] = ()
    """The traffic through Forebay's pool, only from records."""
    demand: OutputDemand | None = None
    """How much it wrote, how often, and how fast a writer was; only from records."""
    courses: tuple[PoolCourse, ...] = ()
    """The courses of runs through the pool, as far as they were sampled."""

    @property
    def bytes(self) -> int:
        """Bytes in both directions, over all files."""
        return sum(one.bytes for one in self.files)

    @property
    def file_count(self) -> int:
        """The number of files that the program opened, as far as they are known."""
        return sum(one.files for one in self.files)

    @property
    def metadata_share(self) -> float | None:
        """The share of metadata calls in the ranks' seconds of I/O, or None if not known."""
        meta = sum(one.seconds_meta for one in self.files)
        total = sum(one.seconds for one in self.files)
        return meta / total if meta > 0 and total > 0 else None

    @property
    def seconds_io(self) -> float:
        """A lower bound for the seconds that the slowest rank spent in I/O: shared files count with
        their slowest rank, files of single ranks are summed per rank."""
        alone: dict[int, float] = {}
        together = 0.0
        for one in self.files:
            if not one.waited:
                continue
            if one.rank is None:
                together += max(one.slowest_seconds, one.seconds / max(1, one.ranks))
            elif not self.own or one.by_mpi:
                alone[one.rank] = alone.get(one.rank, 0.0) + max(one.seconds, one.slowest_seconds)
        for rank in self.own:
            alone[rank.rank] = alone.get(rank.rank, 0.0) + rank.seconds
        total = together + max(alone.values(), default=0.0)
        return min(total, self.seconds) if self.seconds > 0 else total


def reads_all(file: FileIo) -> bool:
    """Whether about every rank read the whole file, and asked for it: data sieving reads more than
    that."""
    if file.rank is not None or file.ranks < 2 or file.extent <= 0:
        return False
    mpi = file.layer("MPI-IO")
    asked = file.read.bytes if mpi is None else min(file.read.bytes, mpi.read.bytes)
    return asked >= _SAME_BYTES_SHARE * file.ranks * file.extent


def target_rates(files: Sequence[FileIo]) -> dict[int, list[float]]:
    """Transfer rates per target, of files that lie on one target and were used by one rank. Files
    with few bytes are left out."""
    rates: dict[int, list[float]] = {}
    sizes = [one.bytes for one in files if len(one.targets) == 1 and one.rank is not None]
    least = min(MIB, median(sizes) / 2) if sizes else MIB
    for one in files:
        seconds = one.write.seconds + one.read.seconds
        if len(one.targets) == 1 and one.rank is not None and seconds > 0 and one.bytes >= least:
            rates.setdefault(one.targets[0], []).append(one.bytes / seconds)
    return rates


def busy(program: ProgramIo, *, bins: int = 120) -> dict[Direction, list[float]]:
    """Bytes per second over the run in `bins` intervals, per direction. The bytes of a file are
    spread evenly from its first to its last call; those of a file whose calls are not dated, as in
    records, are left out."""
    width = program.seconds / bins if program.seconds > 0 else 1.0
    found = {direction: [0.0] * bins for direction in Direction}
    for one in program.files:
        for direction, row in found.items():
            passing = one.passing(direction)
            if passing.bytes == 0 or passing.end <= 0:
                continue
            first = min(bins - 1, max(0, math.floor(passing.begin / width)))
            last = min(bins - 1, max(first, math.floor(passing.end / width)))
            for at in range(first, last + 1):
                row[at] += passing.bytes / (last - first + 1) / width
    return found
