"""Derives a file's numbers from those of its layers: the bytes are those that reached storage; the
seconds are those that the program waited in the layer that it called (MPI-IO or POSIX)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import FileIo, LayerIo, Passing

MPI = "MPI-IO"


def file_of(layers: Sequence[LayerIo], bare: FileIo, seconds: float) -> FileIo:
    """`bare` with the numbers of its `layers`. `seconds` is the length of the run, which the time
    of no rank may exceed; 0 if not known."""
    most = seconds if seconds > 0 else math.inf
    kept = tuple(_within(one, most) for one in layers)
    mpi = next((one for one in kept if one.name == MPI), None)
    stored = [one for one in kept if one.name != MPI] or list(kept)
    whose = {one.rank for one in kept}
    ranks = max((one.ranks for one in kept), default=1)
    alone = whose.pop() if len(whose) == 1 else None
    if alone is None and len({one.rank for one in kept}) > 1:
        ranks = max(2, ranks)
    top = mpi if mpi is not None else max(stored, key=lambda one: one.slowest_seconds)
    return replace(
        bare,
        ranks=ranks,
        rank=alone,
        write=_together(stored, mpi, Direction.WRITE),
        read=_together(stored, mpi, Direction.READ),
        opens=sum(one.opens for one in stored),
        seconds_meta=sum(one.seconds_meta for one in stored),
        extent=max((one.extent for one in stored), default=0),
        slowest_seconds=min(most, max(top.slowest_seconds, _slowest(stored))),
        fastest_seconds=top.fastest_seconds,
        collective=mpi is not None and mpi.collective(_main(mpi)),
        by_mpi=mpi is not None,
        layers=kept,
    )


def _within(layer: LayerIo, most: float) -> LayerIo:
    """The layer with its times limited to the run of `most` seconds: after a jump of the clock, or
    with several threads in a rank, Darshan may have counted more."""
    all_ranks = most * max(1, layer.ranks)
    of_one = max(layer.slowest_seconds, layer.fastest_seconds)
    if layer.seconds <= all_ranks and of_one <= most and layer.sync_seconds <= layer.write.seconds:
        return layer  # as nearly all are: a copy of each is the most that a large log would cost
    parts = [layer.write.seconds, layer.read.seconds, layer.seconds_meta]
    parts = [min(one, all_ranks) for one in parts]
    scale = min(1.0, all_ranks / max(sum(parts), 1e-9))
    write, read, meta = (one * scale for one in parts)
    return replace(
        layer,
        write=replace(layer.write, seconds=write),
        read=replace(layer.read, seconds=read),
        seconds_meta=meta,
        sync_seconds=min(layer.sync_seconds, write),
        slowest_seconds=min(layer.slowest_seconds, most),
        fastest_seconds=min(layer.fastest_seconds, most),
    )


def _slowest(stored: Sequence[LayerIo]) -> float:
    """Seconds in all storage layers. They may be added, since POSIX and STDIO do not count each
    other's calls."""
    return sum(one.slowest_seconds for one in stored)


def _main(layer: LayerIo) -> Direction:
    """The direction with most bytes, or with most calls if they are equal."""
    return max(Direction, key=lambda one: (layer.passing(one).bytes, layer.passing(one).calls))


def _together(stored: Sequence[LayerIo], mpi: LayerIo | None, direction: Direction) -> Passing:
    parts = [one.passing(direction) for one in stored]
    if len(parts) == 1 and mpi is None:
        return parts[0]
    busiest = max(parts, key=lambda one: one.calls, default=Passing())
    above = mpi.passing(direction) if mpi is not None else Passing()
    return Passing(
        bytes=sum(one.bytes for one in parts),
        calls=sum(one.calls for one in parts),
        small_calls=sum(one.small_calls for one in parts),
        seconds=sum(one.seconds for one in parts),
        usual_transfer=busiest.usual_transfer,
        collective_calls=above.collective_calls,
        collective_bytes=above.collective_bytes,
        begin=min((one.begin for one in parts if one.calls), default=0.0),
        end=max((one.end for one in parts), default=0.0),
        longest=max((one.longest for one in parts), default=0.0),
        sequential=sum(one.sequential for one in parts),
    )
