"""Rules that find the cause of a wait in the POSIX or STDIO calls themselves: syncs, small calls, a
single writer, bytes that all ranks read, load imbalance, metadata, lock contention.

The thresholds are heuristics, checked on the labelled logs of docs/tuning.md. Counters are those of
Darshan 3 (docs of darshan-util, "darshan-parser"). Unaligned writes to a shared file contend for
locks: Lustre manual, "Lustre Distributed Lock Manager"; Liao and Choudhary, SC 2008."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from forebay.common.model.units import GIB, MIB, counted, exact_bytes, human_bytes, human_seconds
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import LayerIo, ProgramIo, RankIo, reads_all
from forebay_tuning.report.model.claims import Claim, Kind, counter, name_of, place
from forebay_tuning.report.model.waits import PART_OF, Part, Wait, storage_of

_SMALL_CALL = 256 * 1024
"""Bytes: calls with this mean size or more are never called small."""
_HALF = 32 * 1024
"""Bytes: a call of this size is assumed to spend half of its time on per-call overhead."""
_FAST = float(GIB)
"""Bytes per second of one rank. Small calls that are this fast end in a cache in memory, so that
larger calls would gain nothing."""
_SYNCS_LEAST = 4
"""Calls of fsync per rank: fewer are usual at the end of a file."""
_UNEVEN = 1.5
"""A rank is slow if it takes this many times the mean (or median) of the ranks."""
_ROOT_BYTES = 4 * MIB
"""Bytes that a single writer moves at least to be reported: headers and logs are smaller."""
_ROOT_READ_BYTES = 256 * MIB
"""The same for a single reader: input files that one rank reads and broadcasts are usual."""
_WRITERS_USUAL = 16
"""Ranks: more writers than these are not assumed to be any faster."""
_OPENS_LEAST = 8
"""Opens and stats per rank: fewer are not reported, unless `_META_LEAST` is exceeded."""
_META_LEAST = 0.1
"""Share of the run in metadata calls from which they are reported even if they are few."""
OPENING = "opening and closing files"
"""The title of metadata that are opens."""
_DEVIATIONS = 4.0
"""Standard deviations from the mean at which a rank is an outlier; see `_stands_out`."""
_LOCK_CALLS = 16
"""Writes per rank: fewer are not lock contention, unless one of them took `_LOCK_WAIT`."""
_LOCK_WAIT = 5.0
"""Seconds of the longest write."""
_LOCK_RATE = 50.0 * MIB
"""Bytes per second of each rank: writes that are faster did not wait for locks."""
_LOCKING = ("lustre", "gpfs", "mmfs", "ceph", "beegfs", "pvfs", "panfs")
"""File systems that lock ranges or stripes of a file, as Darshan names their types."""


def syncs(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """fsync (or fflush) after writes: the program waits until the bytes are on storage."""
    layer = wait.storage
    if layer is None or layer.write.seconds <= 0:
        return
    flushing = layer.name == "STDIO" and layer.flushes >= max(16, layer.write.calls // 8)
    many = layer.syncs >= _SYNCS_LEAST * max(1, layer.ranks)
    if not (many or flushing):
        return
    proven = layer.sync_seconds / layer.write.seconds
    if wait.mpi is not None:
        proven = layer.sync_seconds / max(1, layer.ranks) / max(wait.seconds[Part.WRITE], 1e-9)
    share = sync_share(layer, proven)
    count, what = (layer.syncs, "FSYNCS") if many else (layer.flushes, "FLUSHES")
    others = [
        one
        for one in program.files
        if one.rank is not None and one.rank != layer.slowest_rank and one.bytes >= _SMALL_CALL
    ]
    alone = wait.own and others and not any(storage_of(one).syncs for one in others)
    whose = f" of rank {layer.slowest_rank} alone" if alone and many else ""
    yield Claim(
        kind=Kind.SYNCS,
        part=Part.WRITE,
        share=min(1.0, share),
        title=f"{'fsync' if many else 'fflush'} behind writes{whose}",
        detail=(
            f"{count} {'syncs' if many else 'flushes'} for "
            f"{counted(layer.write.calls, 'write')} of "
            f"{_size(layer, Direction.WRITE)}: each waits until its bytes are on storage."
        ),
        action="Sync once, at the end or at a checkpoint (where a crash may lose that much).",
        proof=f"{counter(layer, what, count)} {place(wait.file)}",
    )


def sync_share(layer: LayerIo, proven: float) -> float:
    """Estimates the share of the write time that fsync took, which Darshan does not time by itself.

    It is `proven`, the lower bound from the counters, or the usual share for so many syncs per
    write, whichever is larger."""
    often = layer.syncs / max(1, layer.write.calls)
    if layer.name == "STDIO":
        often = max(often, 0.5 if 8 * layer.flushes >= layer.write.calls else 0.0)
    usual = 0.8 if often >= 0.5 else 0.5 if often >= 0.25 else 0.0
    return min(1.0, max(proven, usual))


def same_bytes(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Every rank reads the whole file, where one rank could broadcast it."""
    file = wait.file
    if wait.own or not reads_all(file) or wait.storage is None:
        return
    yield Claim(
        kind=Kind.SAME_BYTES,
        part=Part.READ,
        share=(1 - 1 / file.ranks) * wait.stored(Direction.READ),
        title=f"all ranks read the same bytes of {name_of(file)}",
        detail=(
            f"{file.ranks} ranks read {human_bytes(file.read.bytes)} of a file of "
            f"{human_bytes(file.extent)}."
        ),
        action=(
            "Let one rank of each node read it and pass it on (MPI_Bcast); give the file more "
            "stripes."
        ),
        proof=(
            f"{counter(wait.storage, 'BYTES_READ', file.read.bytes)} for "
            f"{counter(wait.storage, 'MAX_BYTE_READ', file.extent - 1)} {place(file)}"
        ),
    )


def small_calls(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Many calls of few bytes reach the file system."""
    layer = wait.storage
    if layer is None:
        return
    for direction in Direction:
        share = small_share(wait, direction)
        if share > 0:
            yield _small(wait, layer, direction, share)


def small_share(wait: Wait, direction: Direction) -> float:
    """The share of the direction's seconds that larger calls would save."""
    layer = wait.storage
    seconds_of_part = wait.seconds[PART_OF[direction]]
    if layer is None or seconds_of_part <= 0:
        return 0.0
    passing = layer.passing(direction)
    if wait.file.collective and not wait.file.layers:
        return 0.0  # a record has no calls beneath collective ones, so their sizes are not known
    if passing.calls < 16 or passing.bytes / passing.calls >= _SMALL_CALL:
        return 0.0
    stored = wait.stored(direction)
    effective_movers = max(1, layer.effective_movers) if layer.rank is None and not wait.own else 1
    rate = passing.bytes / effective_movers / max(seconds_of_part * stored, 1e-9)
    size = passing.bytes / passing.calls
    return stored * _HALF / (_HALF + size) * max(0.0, 1 - rate / _FAST)


def _small(wait: Wait, layer: LayerIo, direction: Direction, share: float) -> Claim:
    passing = layer.passing(direction)
    reading = direction is Direction.READ
    verb = "read" if reading else "write"
    together = wait.mpi is not None and wait.mpi.ranks > 1 and wait.mpi.collective(direction)
    size = _size(layer, direction)
    if together:
        title = f"collective {verb}s reach storage in pieces of {size}"
        action = (
            "Let aggregators gather whole buffers: romio_cb_write=enable, a buffer of some MiB "
            "(cb_buffer_size), or fewer and larger pieces of each rank."
            if not reading
            else "Let aggregators gather whole buffers: romio_cb_read=enable, cb_buffer_size."
        )
    elif layer.name == "STDIO":
        title = f"small {verb}s by STDIO, {size} each"
        action = f"Give the stream a larger buffer (setvbuf), or {verb} some MiB at a time."
    else:
        title = f"small {verb}s of {size} each"
        action = _larger(wait, direction)
    jumping = passing.sequential and 2 * passing.sequential < passing.calls
    return Claim(
        kind=Kind.SMALL,
        part=PART_OF[direction],
        share=share,
        title=title,
        detail=(
            f"{counted(passing.calls, verb)} moved {human_bytes(passing.bytes)}"
            f"{', most of them at places apart' if jumping else ''}; calls below "
            f"{exact_bytes(_SMALL_CALL)} cost more than their bytes."
        ),
        action=action,
        proof=(
            f"{counter(layer, 'READS' if reading else 'WRITES', passing.calls)}, "
            f"{counter(layer, 'BYTES_READ' if reading else 'BYTES_WRITTEN', passing.bytes)} "
            f"{place(wait.file)}"
        ),
    )


def _larger(wait: Wait, direction: Direction) -> str:
    reading = direction is Direction.READ
    if wait.own or wait.file.ranks < 2:
        return (
            "Read some MiB at a time, and take the pieces from memory."
            if reading
            else "Collect them in a buffer of some MiB before they are written."
        )
    if wait.mpi is not None:
        return f"Use collective calls (MPI_File_{'read' if reading else 'write'}_all)."
    return (
        "Read some MiB at a time, or read by MPI-IO's collective calls."
        if reading
        else "Write some MiB at a time, or by MPI-IO's collective calls."
    )


def root_writer(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """A single rank moves all bytes while the others wait for it."""
    if program.ranks < 2 or wait.storage is None:
        return
    for direction in Direction:
        share = root_share(wait, program, direction)
        if share <= 0:
            continue
        layer = wait.storage
        passing = layer.passing(direction)
        reading = direction is Direction.READ
        rank = wait.file.rank if wait.file.rank is not None else layer.slowest_rank or 0
        yield Claim(
            kind=Kind.ROOT,
            part=PART_OF[direction],
            share=share,
            title=f"rank {rank} {'reads' if reading else 'writes'} for all",
            detail=(
                f"it alone moved {human_bytes(passing.bytes)}; the other "
                f"{counted(program.ranks - 1, 'rank')} moved nothing meanwhile."
            ),
            action=(
                "Let ranks read their parts (collective calls)."
                if reading
                else "Let all ranks write their parts of one file (collective calls)."
            ),
            proof=(
                f"{counter(layer, 'BYTES_READ' if reading else 'BYTES_WRITTEN', passing.bytes)} "
                f"({name_of(wait.file)}, rank {rank} of {program.ranks})"
            ),
        )


def root_share(wait: Wait, program: ProgramIo, direction: Direction) -> float:
    """The share of the direction's seconds that more writers or readers would save."""
    layer = wait.storage
    if layer is None or program.ranks < 2:
        return 0.0
    least = _ROOT_READ_BYTES if direction is Direction.READ else _ROOT_BYTES
    moved = layer.passing(direction).bytes
    if moved < least or (wait.mpi is not None and wait.mpi.effective_movers > 1):
        return 0.0
    effective_movers = _effective_movers(wait.own) if wait.own else layer.effective_movers
    others = sum(one.bytes for one in program.files if one is not wait.file)
    if effective_movers > 1 or (not wait.own and others > moved):
        return 0.0
    if wait.own and sum(one.bytes for one in program.files if one.rank is None) > moved:
        return 0.0
    return 1 - 1 / min(program.ranks, _WRITERS_USUAL)


def _effective_movers(own: tuple[RankIo, ...]) -> int:
    squares = sum(float(one.bytes) ** 2 for one in own)
    total = float(sum(one.bytes for one in own))
    return round(total * total / squares) if squares else 0


def metadata(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Metadata calls: open, close, stat."""
    layer = wait.storage
    if layer is None or wait.seconds[Part.META] <= 0:
        return
    each_rank = (layer.opens + layer.stats) / max(1, layer.ranks)
    few = each_rank < _OPENS_LEAST and wait.seconds[Part.META] < _META_LEAST * program.seconds
    if each_rank == 0 or few:
        return
    asking = layer.stats > 2 * layer.opens
    files = sum(one.files for one in wait.own if one.rank == layer.slowest_rank) or 1
    count, what = (layer.stats, "STATS") if asking else (layer.opens, "OPENS")
    each = f" of {counted(files, 'file')}" if wait.own else f" by {counted(layer.ranks, 'rank')}"
    yield Claim(
        kind=Kind.METADATA,
        part=Part.META,
        share=1.0,
        title="asking for files' sizes and times (stat)" if asking else OPENING,
        detail=(
            f"{count} {'stats' if asking else 'opens'}{each} took "
            f"{human_seconds(wait.seconds[Part.META])} s of the slowest rank."
        ),
        action=_less_metadata(asking=asking, alone=program.ranks < 2),
        proof=f"{counter(layer, what, count)} {place(wait.file)}",
    )


def _less_metadata(*, asking: bool, alone: bool) -> str:
    if asking:
        others = "" if alone else ", by one rank that tells the others"
        return f"Ask once and keep the answer{others}."
    others = "" if alone else ", by few ranks"
    return f"Open files once{others}, and put more into one file{others and ' that ranks share'}."


def uneven(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Load imbalance: ranks waited for a slower one."""
    if wait.own:
        yield from _uneven_alone(wait, program)
        return
    layer = wait.storage
    if layer is None or layer.seconds <= 0 or layer.bytes < MIB or layer.ranks < 2:
        return
    together = wait.mpi is not None and any(wait.mpi.collective(one) for one in Direction)
    among = max(1, layer.effective_movers) if together else layer.ranks
    mean = layer.seconds / among
    slowest = layer.slowest_seconds
    unknown = layer.slowest_rank is None and (
        layer.fastest_seconds <= 0 or wait.file.collective  # each rank's time includes waiting
    )
    if (
        unknown
        or among < 2
        or mean <= 0
        or slowest < _UNEVEN * mean
        or not _stands_out(layer, among, mean)
    ):
        return
    for direction in Direction:
        part, seconds = PART_OF[direction], layer.passing(direction).seconds
        whole = wait.seconds[part]
        if seconds <= 0 or whole <= 0 or root_share(wait, program, direction) > 0:
            continue  # that others wait for a single writer is what root_writer says
        share = (slowest - mean) * seconds / layer.seconds / whole
        yield Claim(
            kind=Kind.UNEVEN,
            part=part,
            share=min(1.0, share),
            title=f"others waited for {_one(layer)} in {name_of(wait.file)}",
            detail=(
                f"of {counted(among, 'rank')} that moved bytes there, it spent "
                f"{human_seconds(slowest)} s, and the mean is {human_seconds(mean)} s."
            ),
            action=_EVENLY,
            proof=(
                f"{counter(layer, 'F_SLOWEST_RANK_TIME', round(slowest, 3))} "
                f"({name_of(wait.file)}, {_one(layer)})"
            ),
        )


def _one(layer: LayerIo) -> str:
    return "one rank" if layer.slowest_rank is None else f"rank {layer.slowest_rank}"


def _stands_out(layer: LayerIo, among: int, mean: float) -> bool:
    """Whether the slowest rank is an outlier, and not just the end of the ranks' distribution.

    A single slow rank among n lies √(n − 1) standard deviations above the mean; the largest of
    some thousand normally distributed values lies 3.5 above it."""
    variance = layer.spread_seconds**2
    if among < layer.ranks:  # take the ranks that moved nothing out of Darshan's variance
        usual = layer.seconds / layer.ranks
        variance = (variance + usual**2) * layer.ranks / among - mean**2
    if variance <= 0:
        return layer.slowest_seconds >= 3 * mean
    far = min(_DEVIATIONS, 0.8 * math.sqrt(among - 1))
    return layer.slowest_seconds - mean >= far * math.sqrt(variance)


_EVENLY = "Deal the data more evenly, or let ranks share the work (collective calls)."


def _uneven_alone(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    own = [one for one in wait.own if one.bytes >= MIB] or list(wait.own)
    slowest = max(own, key=lambda one: one.seconds)
    if len(own) < 2:
        return
    usual = median(one.seconds for one in own)
    if usual <= 0 or slowest.seconds < _UNEVEN * usual:
        return
    more = slowest.bytes / max(1.0, median(one.bytes for one in own))
    why = f"it moved {more:.1f} × as much" if more > _UNEVEN else "it moved no more than they"
    share = 1 - usual / slowest.seconds
    for part in (Part.WRITE, Part.READ):
        if wait.seconds[part] > 0:
            yield Claim(
                kind=Kind.UNEVEN,
                part=part,
                share=share,
                title=f"others waited for rank {slowest.rank}",
                detail=(
                    f"it spent {human_seconds(slowest.seconds)} s on I/O, the median rank "
                    f"{human_seconds(usual)} s; {why}."
                ),
                action=_EVENLY
                if more > _UNEVEN
                else "Look at its node, and at the storage targets (disk arrays) of its files.",
                proof=(
                    f"POSIX_F_READ_TIME + F_WRITE_TIME + F_META_TIME = {slowest.seconds:.3f} "
                    f"(all files of rank {slowest.rank}; median {usual:.3f})"
                ),
            )


def locks(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Lock contention: ranks write into each other's stripes."""
    layer, file = wait.storage, wait.file
    if layer is None or wait.own or layer.effective_movers < 2 or file.file_system not in _LOCKING:
        return
    passing = layer.write
    if wait.mpi is not None and wait.mpi.collective(Direction.WRITE):
        return
    seconds_of_part = wait.seconds[Part.WRITE]
    calls = passing.calls + layer.read.calls
    stripe = file.stripe_bytes or layer.alignment or MIB
    aligned = 2 * layer.unaligned < calls or passing.bytes >= stripe * passing.calls
    if seconds_of_part <= 0 or aligned:
        return
    rate = passing.bytes / max(1, layer.effective_movers) / seconds_of_part
    few = passing.calls < _LOCK_CALLS * layer.effective_movers and passing.longest < _LOCK_WAIT
    if rate > _LOCK_RATE or few:
        return
    yield Claim(
        kind=Kind.LOCKS,
        part=Part.WRITE,
        share=0.5 * wait.stored(Direction.WRITE),
        title=f"ranks wait for each other's locks in {name_of(file)}",
        detail=(
            f"{layer.effective_movers} ranks write pieces of {_size(layer, Direction.WRITE)} that "
            f"share stripes of {exact_bytes(stripe)}; each waits until the last one's lock is "
            "given up."
        ),
        action=(
            "Write whole stripes from multiples of them (H5Pset_alignment, nc_header_align_size), "
            "or by collective calls."
        ),
        proof=f"{counter(layer, 'FILE_NOT_ALIGNED', layer.unaligned)} of {calls} {place(file)}",
    )


def _size(layer: LayerIo, direction: Direction) -> str:
    passing = layer.passing(direction)
    mean = passing.bytes // max(1, passing.calls)
    usual = passing.usual_transfer
    return human_bytes(usual if usual and abs(usual - mean) <= mean else mean)
