"""The long passages: probes with several times the bytes of the others, so that memory in front of
the file system fills up. Those of the default point come before the search, by a generator like the
search: it yields the next probe, and is sent the result. Those of the best settings come behind it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from forebay_tuning.model.point import Point, changed
from forebay_tuning.model.sample import NextProbe, Purpose, Sample

SIZES = (4, 2, 4)
"""Sizes of the default's passages, as multiples of the largest probe's bytes."""
BEST_MOST = 2
"""The most passages of best settings, one for each direction; they are as long as the first."""
BYTES = sum(SIZES) + BEST_MOST * SIZES[0]
"""The bytes of all of them, as multiples of the largest probe's."""
LONG_MOST = len(SIZES) + BEST_MOST
"""The number of all of them."""

LongPassages = Generator[NextProbe, Sample, tuple[Sample, ...]]


def long_passages(control: Point, probe_bytes: int) -> LongPassages:
    """Yields the passages and returns the samples that count. If the first one is cut off for lack
    of time, the sizes of the others are derived from what it moved."""
    whole = SIZES[0] * probe_bytes
    found: list[Sample] = []
    for size in SIZES:
        point = grown(control, whole * size // SIZES[0])
        if point.process_bytes < point.transfer_bytes:
            break
        sample = yield NextProbe(point=point, purpose=Purpose.SUSTAIN)
        if sample.discarded or sample.write is None:
            break
        found.append(sample)
        if not found[1:] and sample.write.bytes:
            whole = min(whole, sample.write.bytes)
    return tuple(found)


def best_passages(
    control: Point, bests: Sequence[Point], long: Sequence[Sample]
) -> tuple[Point, ...]:
    """The points of long passages with the best settings, where these differ from the default's,
    and where the default has a long passage to compare them with."""
    whole = max((moved_of(one) for one in long), default=0)
    points: dict[Point, None] = {}
    for best in bests:
        point = grown(best, whole)
        alike = changed(best, {"process_bytes": control.process_bytes}) == control
        if not alike and point.process_bytes > best.process_bytes:
            points[point] = None
    return tuple(points)[:BEST_MOST]


def moved_of(sample: Sample) -> int:
    """The bytes that a passage has written."""
    return (sample.write.bytes if sample.write else 0) or sample.ask.point.bytes


def grown(control: Point, count: int) -> Point:
    """The control point with `count` bytes over all its processes, in whole calls."""
    calls = count // control.processes // control.transfer_bytes
    return replace(control, process_bytes=calls * control.transfer_bytes)
