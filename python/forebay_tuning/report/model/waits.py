"""Divides the seconds that a run waited for I/O by file and by kind of call (`Part`).

All files that only one rank used are one wait: that of the rank that spent most on them. Seconds
that one rule takes from a wait are not there for the next rule, so that all findings together never
exceed the run."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from forebay.common.model.frozen import frozen
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import FileIo, LayerIo, Passing, ProgramIo, RankIo
from forebay_tuning.report.model.layers import MPI


class Part(Enum):
    """The kind of I/O that a rank waited in. OPENING is time in MPI_File_open, MPI_File_close and
    the like beyond that of the file system: there, ranks wait for one another."""

    WRITE = "writing"
    READ = "reading"
    META = "metadata"
    OPENING = "opening together"


PART_OF = {Direction.WRITE: Part.WRITE, Direction.READ: Part.READ}


@frozen
class Wait:
    """A wait for one file, or for the files that a single rank used.

    `seconds` maps each part to seconds of the run. `storage` has the calls that reached the file
    system: of all ranks, or for single-rank files of the slowest rank; `mpi` has the MPI-IO calls
    above them, None if there were none. `file` is the file, or the slowest rank's largest; `own`
    has one entry per rank with files of its own, and is empty for a shared file."""

    file: FileIo
    storage: LayerIo | None
    mpi: LayerIo | None
    seconds: dict[Part, float]
    own: tuple[RankIo, ...] = ()
    meta_of_all: float = 0.0
    """Seconds in metadata calls over all waits."""
    opens_of_all: float = 0.0
    """Opens and stats of each rank over all files that ranks share."""
    mpi_opens_of_all: float = 0.0
    """MPI_File_open calls of each rank over all files."""

    @property
    def total(self) -> float:
        """Seconds of all parts together."""
        return sum(self.seconds.values())

    def stored(self, direction: Direction) -> float:
        """The share of the direction's seconds that the file system took on the slowest rank."""
        whole = self.seconds[PART_OF[direction]]
        if self.mpi is None or whole <= 0:
            return 1.0
        if self.storage is None or self.storage.seconds <= 0:
            return 0.0
        moving = _beneath(self.mpi, self.storage, direction)
        of_slowest = self.storage.slowest_seconds * moving / self.storage.seconds
        return min(1.0, of_slowest / whole)


def waits_of(program: ProgramIo) -> tuple[Wait, ...]:
    """All waits of the program, the longest first, scaled down if they exceed the run."""
    shared = [
        _shared(one) for one in program.files if one.waited and (one.rank is None or one.by_mpi)
    ]
    found = [one for one in (*shared, *_alone(program)) if one.total > 0]
    total = sum(one.total for one in found)
    most = program.seconds_io if program.seconds > 0 else total
    scale = most / total if most < total else 1.0
    meta = scale * sum(one.seconds[Part.META] for one in found)
    opens = sum(_opens_each(one.storage) for one in shared)
    together = sum(one.mpi.opens / max(1, one.mpi.ranks) for one in shared if one.mpi is not None)
    found = [
        replace(
            one,
            seconds={part: s * scale for part, s in one.seconds.items()},
            meta_of_all=meta,
            opens_of_all=opens,
            mpi_opens_of_all=together,
        )
        for one in found
    ]
    return tuple(sorted(found, key=lambda one: -one.total))


def _opens_each(layer: LayerIo | None) -> float:
    return 0.0 if layer is None else (layer.opens + layer.stats) / max(1, layer.ranks)


def _shared(file: FileIo) -> Wait:
    mpi, storage = file.layer(MPI), storage_of(file)
    if mpi is None:
        return Wait(file=file, storage=storage, mpi=None, seconds=_split(storage, file))
    whole = max(mpi.slowest_seconds, mpi.seconds / max(1, mpi.ranks)) if mpi.seconds > 0 else 0.0
    moving = {one: _moving(mpi, storage, one, whole) for one in Direction}
    scale = whole / max(whole, sum(moving.values())) if whole > 0 else 0.0
    parts = {PART_OF[one]: seconds * scale for one, seconds in moving.items()}
    opening = max(0.0, whole - sum(parts.values()))
    meta = 0.0
    if storage.seconds > 0:
        meta = min(opening, storage.slowest_seconds * storage.seconds_meta / storage.seconds)
    parts |= {Part.META: meta, Part.OPENING: opening - meta}
    return Wait(file=file, storage=storage, mpi=mpi, seconds=parts)


def _moving(mpi: LayerIo, storage: LayerIo, direction: Direction, whole: float) -> float:
    """The direction's seconds in the slowest rank's `whole` seconds of MPI-IO.

    A shared record does not say how the slowest rank divided them. They are assumed to be divided
    as those of all ranks are, but a rank that moves the bytes for others spends at least what the
    file system took on it."""
    passing = mpi.passing(direction)
    share = passing.seconds / mpi.seconds if mpi.seconds > 0 else 0.0
    beneath = 0.0
    if storage.seconds > 0 and passing.calls:
        beneath = storage.slowest_seconds * _beneath(mpi, storage, direction) / storage.seconds
    return max(whole * share, min(beneath, passing.seconds, whole))


def _beneath(mpi: LayerIo, storage: LayerIo, direction: Direction) -> float:
    """The file system's seconds in calls that the direction's MPI-IO calls made."""
    if direction is Direction.WRITE and mpi.read.calls == 0:
        return storage.write.seconds + storage.read.seconds  # it reads to modify
    return storage.passing(direction).seconds


def _split(layer: LayerIo, file: FileIo) -> dict[Part, float]:
    whole = max(file.slowest_seconds, layer.seconds / max(1, layer.ranks))
    total = layer.seconds
    return {
        Part.WRITE: whole * layer.write.seconds / total if total > 0 else 0.0,
        Part.READ: whole * layer.read.seconds / total if total > 0 else 0.0,
        Part.META: whole * layer.seconds_meta / total if total > 0 else 0.0,
        Part.OPENING: 0.0,
    }


def storage_of(file: FileIo) -> LayerIo:
    """The POSIX, STDIO and DFS layers of a file added up as one, under the name of the layer that
    took most. A file with nothing beneath MPI-IO has an empty one."""
    stored = [one for one in file.layers if one.name != MPI]
    if len(stored) == 1:
        return stored[0]
    if stored:
        return added_up(stored)
    if file.layers:
        return replace(
            file.layers[0],
            name="POSIX",
            write=Passing(),
            read=Passing(),
            seconds_meta=0.0,
            slowest_seconds=0.0,
            effective_movers=0,
            syncs=0,
        )
    return LayerIo(
        name="POSIX",
        ranks=file.ranks,
        rank=file.rank,
        write=file.write,
        read=file.read,
        seconds_meta=file.seconds_meta,
        slowest_seconds=max(file.slowest_seconds, file.seconds / max(1, file.ranks)),
        fastest_seconds=file.fastest_seconds,
        effective_movers=file.ranks,
        opens=file.opens,
        extent=file.extent,
    )


def added_up(layers: list[LayerIo]) -> LayerIo:
    """Adds up the layers of one file, or of one rank's files."""
    main = max(layers, key=lambda one: one.seconds)
    return replace(
        main,
        ranks=max(one.ranks for one in layers),
        write=_passing([one.write for one in layers]),
        read=_passing([one.read for one in layers]),
        seconds_meta=sum(one.seconds_meta for one in layers),
        slowest_seconds=sum(one.slowest_seconds for one in layers),
        opens=sum(one.opens for one in layers),
        stats=sum(one.stats for one in layers),
        seeks=sum(one.seeks for one in layers),
        syncs=sum(one.syncs for one in layers),
        flushes=sum(one.flushes for one in layers),
        unaligned=sum(one.unaligned for one in layers),
        sync_seconds=sum(one.sync_seconds for one in layers),
        closing_seconds=sum(one.closing_seconds for one in layers),
        extent=max(one.extent for one in layers),
    )


def _passing(parts: list[Passing]) -> Passing:
    busiest = max(parts, key=lambda one: one.calls)
    return replace(
        busiest,
        bytes=sum(one.bytes for one in parts),
        calls=sum(one.calls for one in parts),
        small_calls=sum(one.small_calls for one in parts),
        seconds=sum(one.seconds for one in parts),
        longest=max(one.longest for one in parts),
        sequential=sum(one.sequential for one in parts),
    )


def _alone(program: ProgramIo) -> list[Wait]:
    """The wait for files that only one rank used, on the rank that spent most; or none."""
    files: dict[int, list[FileIo]] = {}
    for one in program.files:
        if one.rank is not None and not one.by_mpi:
            files.setdefault(one.rank, []).append(one)
    own = program.own or tuple(_rank(rank, files[rank]) for rank in sorted(files))
    if not own:
        return []
    slowest = max(own, key=lambda one: one.seconds)
    mine = files.get(slowest.rank, [])
    if not mine or slowest.seconds <= 0:
        return []
    return [
        Wait(
            file=max(mine, key=lambda one: one.seconds),
            storage=added_up([storage_of(one) for one in mine]),
            mpi=None,
            seconds={
                Part.WRITE: slowest.write_seconds,
                Part.READ: slowest.read_seconds,
                Part.META: slowest.meta_seconds,
                Part.OPENING: 0.0,
            },
            own=own,
        )
    ]


def _rank(rank: int, files: list[FileIo]) -> RankIo:
    return RankIo(
        rank=rank,
        seconds=sum(one.seconds for one in files),
        write_seconds=sum(one.write.seconds for one in files),
        read_seconds=sum(one.read.seconds for one in files),
        meta_seconds=sum(one.seconds_meta for one in files),
        bytes=sum(one.bytes for one in files),
        opens=sum(one.opens for one in files),
        files=sum(one.files for one in files),
        written=sum(one.write.bytes for one in files),
    )
