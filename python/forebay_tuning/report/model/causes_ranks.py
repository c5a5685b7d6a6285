"""Rules that find the cause of a wait in how the ranks share the work: one or few of them move the
bytes for all, one is slower than the others, or ranks come late to collective calls.

The thresholds are heuristics, checked on the labelled logs of docs/tuning.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from forebay.common.model.units import GIB, MIB, counted, human_bytes, human_seconds
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import LayerIo, Passing, ProgramIo, RankIo
from forebay_tuning.report.model.claims import CauseKind, Claim, counter, is_stream, name_of, place
from forebay_tuning.report.model.waits import PART_OF, Part, Wait

_UNEVEN = 1.5
"""A rank is slow if it takes this many times the mean (or median) of the ranks."""
_STUCK = 3.0
"""The same of metadata seconds, whose spread is larger: many ranks that create files at once are
served one after the other."""
_FEW_OPENS = 8
"""Opens of a rank: more are a price of files, which differs between ranks."""
_DEVIATIONS = 4.0
"""Standard deviations from the mean at which a rank is an outlier; see `_stands_out`."""
_ROOT_BYTES = 4 * MIB
"""Bytes that a single writer moves at least to be reported: headers and logs are smaller."""
_ROOT_READ_BYTES = 256 * MIB
"""The same for a single reader: input files that one rank reads and broadcasts are usual."""
_WRITERS_USUAL = 16
"""Ranks: more writers than these are not assumed to be any faster."""
_FEW = 4
"""Writers are few if there could be this many times as many."""
_AGGREGATED = 128
"""Ranks of an aggregator from which on there are too few: usual are one or more on each node."""
_AGGREGATED_BYTES = 4 * GIB
"""Bytes that each of them moves at least to be reported."""
_IDLE = 0.05
"""Share of the bytes that all other ranks may move if few ranks write for all."""
_EARLY = 0.35
"""Share of the span from the fastest to the slowest rank's seconds in collective calls at which the
mean lies at least if ranks came early and waited. (Where one rank does the I/O of others, most are
fast and it is slow.)"""
_LATE_MOVING = 0.7
"""Share of MPI-IO's seconds in one direction from which on the ranks' spread comes from that."""


def root_writer(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """One rank, or a few, move all bytes while the others wait for them."""
    for direction in Direction:
        movers = movers_for_all(wait, program, direction)
        if movers == 0 or wait.storage is None:
            continue
        layer = wait.storage
        passing = layer.passing(direction)
        reading = direction is Direction.READ
        rank = wait.file.rank if wait.file.rank is not None else layer.slowest_rank or 0
        moved = passing.bytes if movers == 1 else max(passing.bytes, _own_bytes(wait, direction))
        verb = "read" if reading else "write"
        left = counted(program.ranks - movers, "rank")
        yield Claim(
            kind=CauseKind.ROOT,
            part=PART_OF[direction],
            share=_gain(movers, program),
            title=f"rank {rank} {verb}s for all"
            if movers == 1
            else f"{movers} of {program.ranks} ranks {verb} for all",
            detail=(
                f"{'it alone' if movers == 1 else 'they alone'} moved {human_bytes(moved)}; the "
                f"other {left} {'read' if reading else 'wrote'} nothing, or next to nothing."
            ),
            action=f"Let {'more' if movers > 1 else 'all'} ranks {verb} their parts of one file "
            "(collective calls)."
            if not reading
            else "Let ranks read their parts (collective calls).",
            proof=(
                f"{counter(layer, 'BYTES_READ' if reading else 'BYTES_WRITTEN', passing.bytes)} "
                f"({name_of(wait.file)}, rank {rank} of {program.ranks})"
            ),
        )


def root_share(wait: Wait, program: ProgramIo, direction: Direction) -> float:
    """The share of the direction's seconds that more writers or readers would save."""
    movers = movers_for_all(wait, program, direction)
    return _gain(movers, program) if movers else 0.0


def _gain(movers: int, program: ProgramIo) -> float:
    return 1 - movers / min(program.ranks, _WRITERS_USUAL)


def movers_for_all(wait: Wait, program: ProgramIo, direction: Direction) -> int:
    """The number of ranks that move the direction's bytes for all; 0 if these are not few, if they
    move few bytes, or if others move bytes in this direction, too. (What all ranks read says
    nothing of who writes.)"""
    layer = wait.storage
    if layer is None or program.ranks < 2 or is_stream(wait.file):
        return 0
    own = _own_bytes(wait, direction)
    passed = layer.passing(direction).bytes
    if passed < (_ROOT_READ_BYTES if direction is Direction.READ else _ROOT_BYTES):
        return 0
    movers = _movers_of_own(wait.own, direction) if wait.own else layer.effective_movers
    if wait.mpi is not None:
        movers = max(movers, wait.mpi.effective_movers)
    if movers > max(1, min(program.ranks, _WRITERS_USUAL) // _FEW):
        return 0
    if not wait.own and movers > 1 and layer.least_bytes > 0:
        return 0
    files = [(one, one.passing(direction).bytes) for one in program.files]
    others = sum(moved for one, moved in files if one is not wait.file)
    if not wait.own and others > passed:
        return 0
    shared = sum(moved for one, moved in files if one.rank is None)
    return 0 if wait.own and shared > own else movers


def _own_bytes(wait: Wait, direction: Direction) -> int:
    return sum(one.moved(direction) for one in wait.own)


def _movers_of_own(own: tuple[RankIo, ...], direction: Direction) -> int:
    """The effective number of ranks that moved bytes in files of their own, but all of them if
    those beside the busiest moved more than next to nothing."""
    moved = sorted((one.moved(direction) for one in own), reverse=True)
    total = sum(moved)
    if total == 0:
        return 0
    movers = max(1, round(float(total) ** 2 / sum(float(one) ** 2 for one in moved)))
    return movers if sum(moved[movers:]) <= _IDLE * total else len(own)


def aggregators(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Very few aggregators (ranks that do the I/O of others in collective calls) move all bytes."""
    mpi, layer, file = wait.mpi, wait.storage, wait.file
    if mpi is None or layer is None or layer.effective_movers == 0:
        return
    few = layer.effective_movers
    if few * _AGGREGATED > mpi.ranks or mpi.effective_movers <= few:
        return
    if file.stripe_count is not None and file.stripe_count <= few:
        return  # that is what few_stripes says
    for direction in Direction:
        moved = layer.passing(direction).bytes
        if not mpi.collective(direction) or moved < _AGGREGATED_BYTES * few:
            continue
        reading = direction is Direction.READ
        verb = "read" if reading else "write"
        yield Claim(
            kind=CauseKind.ROOT,
            part=PART_OF[direction],
            share=wait.stored(direction) * (1 - few / min(mpi.ranks, _WRITERS_USUAL)),
            title=f"{counted(few, 'aggregator')} {verb}{'s' if few == 1 else ''} "
            f"for {counted(mpi.ranks, 'rank')}",
            detail=(
                f"{human_bytes(moved)} of collective {verb}s of {name_of(file)} reached the file "
                f"system through {counted(few, 'rank')}."
            ),
            action="Have more aggregators: the hints cb_nodes and cb_config_list "
            "(`forebay advise` says how many).",
            proof=(
                f"{counter(layer, 'BYTES_READ' if reading else 'BYTES_WRITTEN', moved)} by "
                f"{few} of {mpi.ranks} {place(file, layer, rank=True)}"
            ),
        )


def late_share(wait: Wait, direction: Direction) -> float:
    """The share of the direction's collective calls in which ranks waited for those that came late.

    The rank that comes last spends least in such a call, and most ranks spend far more."""
    mpi = wait.mpi
    if mpi is None or mpi.ranks < 3 or mpi.fastest_seconds <= 0 or not mpi.collective(direction):
        return 0.0
    slowest, fastest, mean = mpi.slowest_seconds, mpi.fastest_seconds, mpi.seconds / mpi.ranks
    if slowest < _UNEVEN * fastest or mean - fastest < _EARLY * (slowest - fastest):
        return 0.0
    if mpi.passing(direction).seconds < _LATE_MOVING * mpi.seconds:
        return 0.0
    return min(1 - fastest / slowest, 1 - wait.stored(direction))


def late(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Ranks come late to collective calls, in which the others wait for them."""
    mpi = wait.mpi
    for direction in Direction:
        share = late_share(wait, direction)
        if mpi is None or share <= 0:
            continue
        slowest, fastest, mean = mpi.slowest_seconds, mpi.fastest_seconds, mpi.seconds / mpi.ranks
        verb = "reads" if direction is Direction.READ else "writes"
        last = "one rank" if mpi.fastest_rank is None else f"rank {mpi.fastest_rank}"
        yield Claim(
            kind=CauseKind.UNEVEN,
            part=PART_OF[direction],
            share=share,
            title=f"ranks come late to collective {verb}, {last} last",
            detail=(
                f"in {name_of(wait.file)} {last} spent {human_seconds(fastest)} s, and the mean is "
                f"{human_seconds(mean)} s: others wait there until it has come, not for storage."
            ),
            action="Deal the work before these calls more evenly; no setting of I/O helps.",
            proof=(
                f"{counter(mpi, 'F_FASTEST_RANK_TIME', round(fastest, 3))}, "
                f"{counter(mpi, 'F_SLOWEST_RANK_TIME', round(slowest, 3))} "
                f"({name_of(wait.file)}, fastest is {last})"
            ),
        )


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
    slowest = min(layer.slowest_seconds, program.seconds or math.inf)  # of several layers
    unknown = layer.slowest_rank is None and (
        layer.fastest_seconds <= 0 or wait.file.collective  # each rank's time includes waiting
    )
    if (
        unknown
        or among < 2
        or mean <= 0
        or slowest < _UNEVEN * mean
        or not (_stands_out(layer, among, mean) or _has_most(layer, together=together))
    ):
        return
    usual_bytes = layer.bytes / among
    as_much = 0 < layer.slowest_bytes <= _UNEVEN * usual_bytes
    how_much = f"; it moved {layer.slowest_bytes / usual_bytes:.1f} × the mean of bytes"
    for direction in Direction:
        part, seconds = PART_OF[direction], layer.passing(direction).seconds
        whole = wait.seconds[part]
        if seconds <= 0 or whole <= 0 or root_share(wait, program, direction) > 0:
            continue  # that others wait for a single writer is what root_writer says
        share = (slowest - mean) * seconds / layer.seconds / whole
        yield Claim(
            kind=CauseKind.UNEVEN,
            part=part,
            share=min(1.0, share),
            title=f"others waited for {_one(layer)} in {name_of(wait.file)}",
            detail=(
                f"of {counted(among, 'rank')} that moved bytes there, it spent "
                f"{human_seconds(slowest)} s, and the mean is {human_seconds(mean)} s"
                f"{how_much if layer.slowest_bytes else ''}."
            ),
            action=_less_waiting(layer.passing(direction), direction, as_much=as_much),
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


def _has_most(layer: LayerIo, *, together: bool) -> bool:
    """Whether the slowest rank has more to move than the mean of all, each of which moves something
    in calls of its own: it is no outlier then, but the end of a division that is uneven."""
    usual = layer.bytes / max(1, layer.ranks)
    return not together and layer.least_bytes > 0 and layer.slowest_bytes >= _UNEVEN * usual


def _less_waiting(passing: Passing, direction: Direction, *, as_much: bool) -> str:
    """The advice for a rank that takes longer, for as many bytes as others or for more."""
    if not as_much:
        return _EVENLY
    if 2 * passing.small_calls < passing.calls or passing.bytes < MIB * passing.small_calls // 4:
        return _LOOK
    verb = "read" if direction is Direction.READ else "write"
    setting = "all_coll_metadata_ops" if verb == "read" else "coll_metadata_write"
    return (
        f"Look at its calls first: {passing.small_calls} of all {counted(passing.calls, verb)} are "
        f"below 1 MiB. Libraries {verb} their own metadata so, by rank 0: make that collective "
        f"(HDF5: H5Pset_{setting}). {_LOOK}"
    )


_LOOK = "Look at its node, and at the storage targets (disk arrays) of its files."
_EVENLY = "Deal the data more evenly, or let ranks share the work (collective calls)."


def _late_in(own: Sequence[RankIo], slowest: RankIo) -> tuple[Part, ...]:
    """The parts of its I/O in which the slowest rank waited: in metadata calls only if it makes as
    many as others do, and few, but each takes far longer."""
    meta, opens = (median(values) for values in zip(*((a.meta_seconds, a.opens) for a in own)))
    as_many = slowest.opens <= min(_FEW_OPENS, _UNEVEN * opens)
    stuck = as_many and slowest.meta_seconds >= _STUCK * meta
    return (Part.WRITE, Part.READ, Part.META) if stuck else (Part.WRITE, Part.READ)


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
    single = {
        PART_OF[one]: root_share(wait, program, one) > 0 for one in Direction
    }  # what root_writer says
    for part in _late_in(own, slowest):
        if wait.seconds[part] > 0 and not single.get(part, False):
            yield Claim(
                kind=CauseKind.UNEVEN,
                part=part,
                share=share,
                title=f"others waited for rank {slowest.rank}",
                detail=(
                    f"it spent {human_seconds(slowest.seconds)} s on I/O, and the median of all "
                    f"is {human_seconds(usual)} s; {why}."
                ),
                action=_EVENLY if more > _UNEVEN else _LOOK,
                proof=(
                    f"POSIX_F_READ_TIME + F_WRITE_TIME + F_META_TIME = {slowest.seconds:.3f} "
                    f"(all files of rank {slowest.rank}; median {usual:.3f})"
                ),
            )
