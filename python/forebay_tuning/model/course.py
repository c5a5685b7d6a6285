"""The course of a run through the pool: what was deposited, written and waited for, over time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Optional

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay.common.model.record import PoolNode, PoolRecord, PoolSample

SAMPLES_LEAST = 4
"""Fewer samples show no course."""


@frozen
class PoolCourse:
    """The samples of a run that had a pool."""

    command: str
    seconds: float
    """From the program's start to its end."""
    pool: PoolRecord
    node: Optional[PoolNode] = None
    """If given, the course is this node's; else that of all nodes together."""

    @property
    def samples(self) -> tuple[PoolSample, ...]:
        """At least SAMPLES_LEAST, in the order of time."""
        return self.pool.samples if self.node is None else self.node.samples

    @property
    def cap(self) -> int:
        """Upper bound of the memory in bytes; 0 if it is not known."""
        return self.pool.cap if self.node is None else self.node.cap

    @property
    def of_most_waited(self) -> Optional[PoolCourse]:
        """The course of the node whose processes waited longest, if there are several."""
        node = self.pool.most_waited
        if self.node is not None or node is None or len(node.samples) < SAMPLES_LEAST:
            return None
        return replace(self, node=node)

    @property
    def seconds_shown(self) -> float:
        """Until everything was drained, or the last sample."""
        return max(self.seconds + self.pool.drain_seconds, self.samples[-1].seconds)


@frozen
class CourseRates:
    """Bytes per second from `since` to `until`, in seconds after the program's start."""

    since: float
    until: float
    deposited: float
    stored: float


def rates_of(samples: Sequence[PoolSample]) -> list[CourseRates]:
    """The rates between samples. A sum that falls, since counts of closed files were dropped, is no
    rate: it counts as 0."""
    return [
        CourseRates(
            since=before.seconds,
            until=after.seconds,
            deposited=max(0, after.taken - before.taken) / (after.seconds - before.seconds),
            stored=max(0, after.stored - before.stored) / (after.seconds - before.seconds),
        )
        for before, after in zip_of(samples, samples[1:], strict=False)
        if after.seconds > before.seconds
    ]


@frozen
class CourseBin:
    """A column of a time line: the mean rates in it, in bytes per second, the most bytes that were
    in memory, and the seconds that had been waited at its end."""

    deposited: float
    stored: float
    outstanding: int
    waited_seconds: float


def binned(course: PoolCourse, bins: int) -> list[CourseBin]:
    """The course in columns of equal time. Between samples, bytes are taken to grow evenly."""
    width = course.seconds_shown / bins
    samples = course.samples
    found = []
    for number in range(bins):
        since = number * width
        until = course.seconds_shown if number == bins - 1 else (number + 1) * width
        first, last = _at(samples, since), _at(samples, until)
        within = [one.outstanding for one in samples if since <= one.seconds <= until]
        found.append(
            CourseBin(
                deposited=max(0.0, last[0] - first[0]) / width,
                stored=max(0.0, last[1] - first[1]) / width,
                outstanding=max([*within, round(first[2]), round(last[2])]),
                waited_seconds=last[3],
            )
        )
    return found


def _at(samples: Sequence[PoolSample], moment: float) -> tuple[float, float, float, float]:
    """Taken, stored and outstanding bytes, and seconds waited, at a moment."""
    place = bisect_right([one.seconds for one in samples], moment)
    after = samples[min(place, len(samples) - 1)]
    before = samples[max(0, place - 1)]
    span = after.seconds - before.seconds
    share = min(1.0, max(0.0, (moment - before.seconds) / span)) if span > 0 else 0.0
    pairs = (
        (before.taken, after.taken),
        (before.stored, after.stored),
        (before.outstanding, after.outstanding),
    )
    taken, stored, outstanding = (first + share * (last - first) for first, last in pairs)
    return taken, stored, outstanding, (after if share >= 1 else before).waited_seconds
