"""Which long passages are measured before the search: as the default is, but with several times the
bytes of a probe, so that memory in front of the file system is full before they end. A conversation
like the search: it yields what is to be measured and is sent what came of it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from forebay_tuning.model.point import Point
from forebay_tuning.model.sample import Ask, Purpose, Sample

SIZES = (4, 2, 4)
"""In bytes of the largest probe."""

LongPassages = Generator[Ask, Sample, tuple[Sample, ...]]


def long_passages(control: Point, probe_bytes: int) -> LongPassages:
    """Those that count. Where the first is cut off, since it takes too long, the others are made
    of what it moved."""
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
    """The control with so many bytes of all its processes, in whole calls."""
    calls = count // control.processes // control.transfer_bytes
    return replace(control, process_bytes=calls * control.transfer_bytes)
