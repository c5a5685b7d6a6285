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
_FASTER = 1.5
"""So many times as fast as long passages are those that a cache takes in."""
_TAKEN_IN = 0.25
"""Of a short passage, by a cache that makes it so much faster, at least."""
_HALF, _NEARLY = 0.5, 0.9
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
    """Bytes per second behind all memory, of a point with so many `targets`, and the range of the
    comparisons that it was made of. `short_rate`: of passages of `short_bytes`, the fastest of
    those that differ in nothing else, and `long_rate` of those of `longest_bytes`, with what a
    cache took in; `cache_bytes`: about that."""

    rate: float
    low: float
    high: float
    targets: int
    longest_bytes: int
    long_rate: float
    short_bytes: int
    short_rate: float
    cache_bytes: int

    @property
    def is_cached(self) -> bool:
        """Whether short passages show a cache's rate, and not the file system's: they are much
        faster, and what it takes in is enough to explain that."""
        is_faster = self.short_rate > _FASTER * self.long_rate
        return is_faster and self.cache_bytes >= _TAKEN_IN * self.short_bytes

    def seconds(self, count: int, targets: int) -> float:
        """At least, for so many bytes on so many targets, each of which has its own memory."""
        share = targets / self.targets
        return max(0.0, count - self.cache_bytes * share) / (self.rate * share)


@frozen
class _Comparison:
    """Of two passages: by how many bytes they differ, and the rate of these."""

    bytes: int
    rate: float


def sustained_of(
    short: Sequence[Moved], long: Sequence[Moved], *, targets: int, alike: Sequence[Moved] = ()
) -> Sustained | None:
    """`short`: passages of one size; `alike`: of other sizes. None: they do not tell it. How full a
    cache is before a passage is chance, so that comparisons over more bytes are better: those over
    nearly the most give the rate, those over half of that its range."""
    if not short or not long:
        return None
    base = Moved(bytes=short[0].bytes, seconds=median([one.seconds for one in short]))
    compared = []
    most = max(one.bytes for one in long)
    for one in long:
        for other in (base, *long):
            more = one.bytes - other.bytes
            if one.bytes < _LONGER * other.bytes or more < _HALF * (most - base.bytes):
                continue
            if one.seconds <= other.seconds:
                return None
            compared.append(_Comparison(bytes=more, rate=more / (one.seconds - other.seconds)))
    if not compared:
        return None
    low, high = (way([one.rate for one in compared]) for way in (min, max))
    if high > _RANGE_MOST * low:
        return None
    fastest = _fastest(base, alike)
    farthest = _NEARLY * max(one.bytes for one in compared)
    rate = median([one.rate for one in compared if one.bytes >= farthest])
    seconds = median([one.seconds for one in long if one.bytes == most])
    return Sustained(
        rate=rate,
        low=low,
        high=high,
        targets=targets,
        longest_bytes=most,
        long_rate=most / seconds,
        short_bytes=fastest.bytes,
        short_rate=fastest.rate,
        cache_bytes=max(0, round(most - rate * seconds)),
    )


def _fastest(base: Moved, alike: Sequence[Moved]) -> Moved:
    """Of the sizes that were measured more than once, by their medians."""
    seconds: dict[int, list[float]] = {}
    for one in alike:
        seconds.setdefault(one.bytes, []).append(one.seconds)
    sizes = [
        Moved(bytes=count, seconds=median(found))
        for count, found in seconds.items()
        if len(found) > 1
    ]
    return max([base, *sizes], key=lambda one: one.rate)
