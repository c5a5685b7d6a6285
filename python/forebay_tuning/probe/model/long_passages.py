"""The long passages before the search: the default point with several times the bytes of a probe,
so that memory in front of the file system fills up. It is a generator like the search: it yields
the next probe, and is sent the result."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from forebay_tuning.model.point import Point
from forebay_tuning.model.sample import Ask, Purpose, Sample

SIZES = (4, 2, 4)
"""Sizes of the passages, as multiples of the largest probe's bytes."""

LongPassages = Generator[Ask, Sample, tuple[Sample, ...]]


def long_passages(control: Point, probe_bytes: int) -> LongPassages:
    """Yields the passages and returns the samples that count. If the first one is cut off for lack
    of time, the sizes of the others are derived from what it moved."""
    whole = SIZES[0] * probe_bytes
    found: list[Sample] = []
    for size in SIZES:
        point = grown(control, whole * size // SIZES[0])
        if point.process_bytes < point.transfer_bytes:
            break
        sample = yield Ask(point=point, purpose=Purpose.SUSTAIN)
        if sample.discarded or sample.write is None:
            break
        found.append(sample)
        if not found[1:] and sample.write.bytes:
            whole = min(whole, sample.write.bytes)
    return tuple(found)


def grown(control: Point, count: int) -> Point:
    """The control point with `count` bytes over all its processes, in whole calls."""
    calls = count // control.processes // control.transfer_bytes
    return replace(control, process_bytes=calls * control.transfer_bytes)
