"""What a file system keeps up when much is moved. In front of it there is often memory that takes
in what is small (of a storage server, of a disk's controller, a burst that a limit allows): its
rate is not the file system's. Long passages tell the two apart: between a passage and one that is
twice as long lies what the file system itself moved."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from forebay.common.model.frozen import frozen

_LONGER = 1.3
"""By so much, at least, one passage is longer than another that it is compared with."""
_FASTER = 1.25
"""So many times as fast as the highest sustained rate are passages that a cache takes in."""
_RANGE_MOST = 3.0
"""What differs more from one comparison to the next is not identified."""


@frozen
class Moved:
    """A passage: its bytes, and the seconds while they moved."""

    bytes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.bytes / self.seconds


@frozen
class Sustained:
    """Bytes per second behind all memory, of a point with so many `targets`: the median, and the
    range, of comparisons of long passages. `short_rate`: of passages of `short_bytes`;
    `cache_bytes`: about what is taken in before the sustained rate holds."""

    rate: float
    low: float
    high: float
    targets: int
    longest_bytes: int
    short_bytes: int
    short_rate: float
    cache_bytes: int

    @property
    def is_cached(self) -> bool:
        """Whether short passages show a cache's rate, and not the file system's."""
        return self.short_rate > _FASTER * self.high

    def seconds(self, count: int, targets: int) -> float:
        """At least, for so many bytes on so many targets, each of which has its own memory."""
        share = targets / self.targets
        return max(0.0, count - self.cache_bytes * share) / (self.rate * share)


def sustained_of(
    short: Sequence[Moved], long: Sequence[Moved], *, targets: int
) -> Sustained | None:
    """`short`: passages of one size. None: these passages do not tell it."""
    if not short or not long:
        return None
    base = Moved(bytes=short[0].bytes, seconds=median([one.seconds for one in short]))
    rates = []
    for one in long:
        for other in (base, *long):
            if one.bytes > _LONGER * other.bytes:
                seconds = one.seconds - other.seconds
                if seconds <= 0:
                    return None
                rates.append((one.bytes - other.bytes) / seconds)
    if not rates or max(rates) > _RANGE_MOST * min(rates):
        return None
    rate = median(rates)
    most = max(one.bytes for one in long)
    taken_in = [one.bytes - rate * one.seconds for one in long if one.bytes == most]
    return Sustained(
        rate=rate,
        low=min(rates),
        high=max(rates),
        targets=targets,
        longest_bytes=most,
        short_bytes=base.bytes,
        short_rate=base.rate,
        cache_bytes=max(0, round(median(taken_in))),
    )
