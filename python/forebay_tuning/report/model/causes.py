"""Rules that find the cause of a wait in the POSIX or STDIO calls themselves: syncs, small calls,
bytes that are read again, metadata, lock contention.

The thresholds are heuristics, checked on the labelled logs of docs/tuning.md. Counters are those of
Darshan 3 (docs of darshan-util, "darshan-parser"). Unaligned writes to a shared file contend for
locks: Lustre manual, "Lustre Distributed Lock Manager"; Liao and Choudhary, SC 2008."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from forebay.common.model.units import GIB, MIB, counted, exact_bytes, human_bytes, human_seconds
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import FileIo, LayerIo, Passing, ProgramIo, reads_all
from forebay_tuning.report.model.claims import CauseKind, Claim, counter, is_stream, name_of, place
from forebay_tuning.report.model.waits import PART_OF, Part, Wait, storage_of

_SMALL_CALL = 256 * 1024
"""Bytes: calls with this mean size or more are never called small."""
_HALF = 32 * 1024
"""Bytes: a call of this size is assumed to spend half of its time on per-call overhead."""
FAST = float(GIB)
"""Bytes per second of one rank. Small calls that are this fast end in a cache in memory, so that
larger calls would gain nothing."""
_SYNCS_LEAST = 4
"""Calls of fsync per rank: fewer are usual at the end of a file."""
_SYNCED_MOST = 64 * MIB
"""Bytes: one fsync behind more of them waits for these, which would take as long without it."""
_FLUSHED_MOST = MIB
"""The same of fflush, which makes a call of the file system."""
_FLUSHES_LEAST = 16
"""Calls of fflush: fewer are not reported."""
_AGAIN = 2.0
"""Bytes that one rank reads ÷ bytes of its files from which on it reads them again."""
_AGAIN_SHARED = 3.0
"""The same of a file that ranks share, whose parts may overlap."""
_SEEKS_OF_AN_OPEN = 100
"""Seeks that are assumed to take as long as opening a file."""
_OPENS_LEAST = 8
"""Opens and stats per rank: fewer are not reported, unless `_META_LEAST` is exceeded."""
_META_LEAST = 0.1
"""Share of the run in metadata calls from which they are reported even if they are few."""
OPENING = "opening and closing files"
"""The title of metadata that are opens."""
_CLOSING = 0.5
"""Share of the metadata seconds in close from which on these are no price of files, if each has
`_WRITTEN_BACK` bytes or more."""
_WRITTEN_BACK = 64 * MIB
_WHOLE = 2
"""Calls per file up to which a file is moved as a whole: larger calls are not possible."""
_STATS_OF = {"DFS": "STATS + LOOKUPS + GET_SIZES"}
"""The counters that stats are the sum of, of modules that have several."""
_LOCK_CALLS = 16
"""Writes per rank: fewer are not lock contention, unless one of them took `_LOCK_WAIT`."""
_LOCK_WAIT = 5.0
"""Seconds of the longest write."""
_LOCK_STRIPES = 4
"""Stripes: writes of so many share only few of these with others."""
_LOCK_RATE = 50.0 * MIB
"""Bytes per second of each rank: writes that are faster did not wait for locks."""
_LOCKING = ("lustre", "gpfs", "mmfs", "ceph", "beegfs", "pvfs", "panfs")
"""File systems that lock ranges or stripes of a file, as Darshan names their types."""


def syncs(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """fsync (or fflush) after writes: the program waits until the bytes are on storage."""
    layer = _syncing(wait)
    if layer is None or layer.write.seconds <= 0:
        return
    many, flushing = _syncs_often(wait, layer), _flushes_often(layer)
    if not (many or flushing):
        return
    proven = layer.sync_seconds / layer.write.seconds
    if wait.mpi is not None:
        proven = layer.sync_seconds / max(1, layer.ranks) / max(wait.seconds[Part.WRITE], 1e-9)
    share = sync_share(layer, proven)
    called, what = ("fsync", "FSYNCS") if many else ("fflush", "FLUSHES")
    if layer is wait.mpi:
        called, what = "MPI_File_sync", "SYNCS"
    count = layer.syncs if many else layer.flushes
    others = [
        one
        for one in program.files
        if one.rank is not None and one.rank != layer.slowest_rank and one.bytes >= _SMALL_CALL
    ]
    alone = wait.own and others and not any(storage_of(one).syncs for one in others)
    whose = f" of rank {layer.slowest_rank} alone" if alone and many else ""
    waits = "each waits until its bytes are on storage" if many else "each is a call of few bytes"
    yield Claim(
        kind=CauseKind.SYNCS,
        part=Part.WRITE,
        share=min(1.0, share),
        title=f"{called} behind writes{whose}",
        detail=(
            f"{count} {'syncs' if many else 'flushes'} for "
            f"{counted(layer.write.calls, 'write')} of "
            f"{_size(layer, Direction.WRITE)}: {waits}."
        ),
        action="Sync once, at the end or at a checkpoint (where a crash may lose that much)."
        if many
        else "Flush once, at the end, or let full buffers be written.",
        proof=f"{counter(layer, what, count)} {place(wait.file)}",
    )


def _syncing(wait: Wait) -> LayerIo | None:
    """The layer whose syncs count: MPI-IO's if the log has nothing of the file system."""
    layer, mpi = wait.storage, wait.mpi
    if mpi is not None and mpi.syncs and (layer is None or layer.bytes + layer.seconds == 0):
        return mpi
    return layer


def _syncs_often(wait: Wait, layer: LayerIo) -> bool:
    """Whether each rank syncs often, or those do that move the bytes, and behind few bytes."""
    if layer.syncs == 0:
        return False
    ranks = max(1, layer.ranks)
    each = layer.syncs if wait.mpi is None else layer.syncs / ranks
    if layer.write.bytes / each > _SYNCED_MOST:
        return False
    if layer.syncs >= _SYNCS_LEAST * ranks:
        return True
    movers = max(1, layer.effective_movers)
    return wait.mpi is None and layer.syncs >= max(4, movers) * _SYNCS_LEAST


def _flushes_often(layer: LayerIo) -> bool:
    least = max(_FLUSHES_LEAST, layer.write.calls // 8)
    if layer.name != "STDIO" or layer.flushes < least:
        return False
    return layer.write.bytes / layer.flushes <= _FLUSHED_MOST


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
    """Every rank reads the whole file, where one rank could broadcast it; or the same bytes are
    read again and again, where they could be kept."""
    file = wait.file
    if wait.storage is None:
        return
    if wait.own or file.rank is not None or not reads_all(file):
        yield from _read_again(wait, program)
        return
    yield Claim(
        kind=CauseKind.SAME_BYTES,
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
        proof=_times_read(wait.storage, file),
    )


def _times_read(layer: LayerIo, file: FileIo) -> str:
    return (
        f"{counter(layer, 'BYTES_READ', file.read.bytes)} for "
        f"{counter(layer, 'MAX_BYTE_READ', file.extent - 1)} {place(file)}"
    )


def _read_again(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    layer, file = wait.storage, wait.file
    mine = [file]
    if wait.own:
        mine = [
            one
            for one in program.files
            if one.rank == file.rank and not one.by_mpi and one.files == 1 and one.extent > 0
        ]
    asked = sum(_asked(one) for one in mine)
    there = sum(min(_asked(one), one.extent) for one in mine)
    times = _AGAIN if file.rank is not None else _AGAIN_SHARED
    if layer is None or there <= 0 or asked < times * there:
        return
    worst = max(mine, key=lambda one: _asked(one) - one.extent)
    yield Claim(
        kind=CauseKind.SAME_BYTES,
        part=Part.READ,
        share=(1 - there / asked) * wait.stored(Direction.READ) * min(1.0, asked / _read(wait)),
        title=f"the same bytes of {name_of(worst)} are read again and again",
        detail=(
            f"{human_bytes(_asked(worst))} were read of a file of {human_bytes(worst.extent)}, "
            f"each byte {_asked(worst) / worst.extent:.1f} times in the mean."
        ),
        action="Read it once, and keep in memory what is needed again.",
        proof=_times_read(layer, worst),
    )


def _read(wait: Wait) -> int:
    return max(1, wait.storage.read.bytes if wait.storage is not None else 0)


def _asked(file: FileIo) -> int:
    """Bytes that the program itself asked for: data sieving and libraries read more than that."""
    mpi = file.layer("MPI-IO")
    asked = file.read.bytes if mpi is None else min(file.read.bytes, mpi.read.bytes)
    return asked if file.library is None else min(asked, file.library.read)


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
    return stored * _HALF / (_HALF + size) * max(0.0, 1 - rate / FAST)


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
    elif is_stream(wait.file):
        title = f"printing to {name_of(wait.file)}, {size} each time"
        action = "Print less, or less often; results belong into a file, with a buffer (setvbuf)."
    elif _are_small_files(wait, passing):
        title = f"small files, each {'read' if reading else 'written'} by a call of {size}"
        action = (
            "Put many of them into one file (an archive, or HDF5), and "
            f"{verb} some MiB of it at a time."
        )
    elif layer.name == "STDIO":
        title = f"small {verb}s by STDIO, {size} each"
        action = f"Give the stream a larger buffer (setvbuf), or {verb} some MiB at a time."
    else:
        title = f"small {verb}s of {size} each"
        action = _larger(wait, direction)
    jumping = passing.sequential and 2 * passing.sequential < passing.calls
    return Claim(
        kind=CauseKind.SMALL,
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


def _are_small_files(wait: Wait, passing: Passing) -> bool:
    """Whether calls are small because the slowest rank's files are."""
    files = sum(one.files for one in wait.own if one.rank == wait.file.rank)
    return files >= _OPENS_LEAST and passing.calls <= _WHOLE * files


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


def metadata(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Metadata calls: open, close, stat."""
    layer = wait.storage
    if layer is None or wait.seconds[Part.META] <= 0:
        return
    calls = layer.opens + layer.stats
    each_rank = max(calls / max(1, layer.ranks), 0.0 if wait.own else wait.opens_of_all)
    least = _META_LEAST * program.seconds
    few = each_rank < _OPENS_LEAST and max(wait.seconds[Part.META], wait.meta_of_all) < least
    seeking = layer.seeks > _SEEKS_OF_AN_OPEN * calls
    if seeking:
        yield _seeks(wait, layer)
        return
    if each_rank == 0 or few:
        return
    if _is_written_back(layer):
        yield _closing(wait, layer)
        return
    asking = layer.stats > 2 * layer.opens
    files = sum(one.files for one in wait.own if one.rank == layer.slowest_rank) or 1
    stats = _STATS_OF.get(layer.name, "STATS")
    count, what = (layer.stats, stats) if asking else (layer.opens, "OPENS")
    each = f" by {counted(layer.ranks, 'rank')}"
    if wait.own:
        each = f" of {counted(files, 'file')}"
        usual = median(one.opens for one in wait.own)
        alike = len(wait.own) > 1 and 2 * usual > layer.opens
        each += f", while {len(wait.own)} ranks did the same," if alike else ""
    alone = program.ranks < 2 or (len(wait.own) == 1 and asking)
    yield Claim(
        kind=CauseKind.METADATA,
        part=Part.META,
        share=1.0,
        title="asking for files' sizes and times (stat)" if asking else OPENING,
        detail=(
            f"{counted(count, 'stat' if asking else 'open')}{each} took "
            f"{human_seconds(wait.seconds[Part.META])} s of the slowest rank."
        ),
        action=_less_metadata(wait.file, asking=asking, alone=alone),
        proof=f"{counter(layer, what, count)} {place(wait.file)}",
    )


def _is_written_back(layer: LayerIo) -> bool:
    large = layer.write.bytes >= _WRITTEN_BACK * max(1, layer.opens)
    return large and layer.closing_seconds >= _CLOSING * layer.seconds_meta > 0


def _closing(wait: Wait, layer: LayerIo) -> Claim:
    """The claim if close waits for the bytes that were written before, as on NFS."""
    share = min(1.0, layer.closing_seconds / layer.seconds_meta)
    closing = human_seconds(share * wait.seconds[Part.META])
    return Claim(
        kind=CauseKind.METADATA,
        part=Part.META,
        share=share,
        title="closing files waits for what was written to them",
        detail=(
            f"writes of {human_bytes(layer.write.bytes)} returned after "
            f"{human_seconds(wait.seconds[Part.WRITE])} s of the slowest rank, since the client "
            f"keeps them in memory; close then took {closing} s of it."
        ),
        action=(
            "Nothing is wrong with the number of files. Compute while they are written out: "
            "`forebay run --pool FOLDER` returns from close before that is done."
        ),
        proof=(
            f"{counter(layer, 'F_META_TIME', round(layer.seconds_meta, 3))}, of which close took "
            f"F_CLOSE_END_TIMESTAMP - F_CLOSE_START_TIMESTAMP {place(wait.file)}"
        ),
    )


def _seeks(wait: Wait, layer: LayerIo) -> Claim:
    called = "fseek" if layer.name == "STDIO" else "lseek"
    reading = layer.read.calls > layer.write.calls
    return Claim(
        kind=CauseKind.METADATA,
        part=Part.META,
        share=1.0,
        title=f"moving the position in files ({called})",
        detail=(
            f"{counted(layer.seeks, 'seek')} for "
            f"{counted(layer.read.calls + layer.write.calls, 'call')} that moved bytes took "
            f"{human_seconds(wait.seconds[Part.META])} s of the slowest rank."
        ),
        action=f"Take the pieces from memory, or give the position with each call (p"
        f"{'read' if reading else 'write'}).",
        proof=f"{counter(layer, 'SEEKS', layer.seeks)} {place(wait.file)}",
    )


def _less_metadata(file: FileIo, *, asking: bool, alone: bool) -> str:
    if asking:
        others = "" if alone else ", by one rank that tells the others"
        return f"Ask once and keep the answer{others}; wait for a file by asking less often."
    others = "" if alone else ", by few ranks"
    less = f"Open files once{others}, and put more into one file{others and ' that ranks share'}."
    stripes = file.stripe_count or 1
    if stripes == 1 or file.extent >= (stripes - 1) * (file.stripe_bytes or MIB):
        return less
    return (
        f"{less} Each of these small files has {stripes} stripes, on so many storage targets: give "
        "their folder one (`forebay layout set -c 1 FOLDER`)."
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
    large = passing.bytes >= _LOCK_STRIPES * stripe * passing.calls
    aligned = 2 * layer.unaligned < calls or large
    if seconds_of_part <= 0 or aligned:
        return
    rate = passing.bytes / max(1, layer.effective_movers) / seconds_of_part
    few = passing.calls < _LOCK_CALLS * layer.effective_movers and passing.longest < _LOCK_WAIT
    if rate > _LOCK_RATE or few:
        return
    yield Claim(
        kind=CauseKind.LOCKS,
        part=Part.WRITE,
        share=0.5 * (wait.stored(Direction.WRITE) - small_share(wait, Direction.WRITE)),
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
