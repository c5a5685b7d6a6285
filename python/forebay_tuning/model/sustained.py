"""The sustained rate of a file system. Memory in front of it (of a storage server or a disk's
controller, or a burst allowance) often takes in small amounts at a higher rate. Long passages
separate the two: the difference between a passage and one twice as long was moved by the file
system itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from forebay.common.model.frozen import frozen

_LONGER = 1.3
"""The minimum ratio of the bytes of two passages that are compared."""
_FASTER = 1.5
"""The ratio of rates from which on short passages are called cached."""
_TAKEN_IN = 0.25
"""The minimum share of a short passage that a cache has to take in to explain such a ratio."""
_HALF, _NEARLY = 0.5, 0.9
"""Shares of the largest difference in bytes: comparisons above the first give the range, those
above the second give the rate."""
_CACHE_DOUBT = 0.25
"""The share by which a cache may take in more or less than it did."""
_LEAST_BEYOND = 0.5
"""The share of a cache's size that is the least number of bytes beyond it for that doubt."""
_RANGE_MOST = 3.0
"""The ratio of the largest to the smallest compared rate; above it, no rate is reported."""


@frozen
class Moved:
    """A passage: its bytes, and the seconds in which they moved."""

    bytes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.bytes / self.seconds


@frozen
class Sustained:
    """The sustained rate (bytes per second) of a point on `targets` targets, with the range over
    all comparisons. `short_rate` is the rate of passages of `short_bytes`, the fastest among those
    that differ in nothing but size; `long_rate` is that of passages of `longest_bytes`, which
    includes what a cache took in: about `cache_bytes`."""

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
        """Whether short passages show the rate of a cache: they are much faster, and the cache is
        large enough to explain that."""
        is_faster = self.short_rate > _FASTER * self.long_rate
        return is_faster and self.cache_bytes >= _TAKEN_IN * self.short_bytes

    @property
    def target_rate(self) -> float:
        """Bytes per second of each target."""
        return self.rate / self.targets

    def seconds(self, count: int, targets: int) -> float:
        """A lower bound for `count` bytes on `targets` targets, each of which has its own cache."""
        share = targets / self.targets
        return max(0.0, count - self.cache_bytes * share) / (self.rate * share)

    def log_doubt(self, count: int, targets: int) -> float:
        """Half the width of the interval of these seconds' logarithm: by the range of the rates,
        and by what the cache may have taken in; it is not known how full it was before."""
        taken_in = self.cache_bytes * targets / self.targets
        beyond = max(count - taken_in, _LEAST_BEYOND * taken_in, 1.0)
        return 0.5 * math.log(self.high / self.low) + _CACHE_DOUBT * taken_in / beyond


@frozen
class _Comparison:
    """The difference of two passages: in bytes, and the rate at which these moved."""

    bytes: int
    rate: float


def sustained_of(
    short: Sequence[Moved], long: Sequence[Moved], *, targets: int, alike: Sequence[Moved] = ()
) -> Sustained | None:
    """The sustained rate from `short` passages of one size and `long` ones; `alike` are others that
    differ only in size. Returns None if they do not determine it. A cache's fill level before a
    passage is random, so comparisons over more bytes are better: those over nearly the most bytes
    give the rate, those over at least half of them its range."""
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
    """The fastest size, by medians, of those that were measured more than once."""
    seconds: dict[int, list[float]] = {}
    for one in alike:
        seconds.setdefault(one.bytes, []).append(one.seconds)
    sizes = [
        Moved(bytes=count, seconds=median(found))
        for count, found in seconds.items()
        if len(found) > 1
    ]
    return max([base, *sizes], key=lambda one: one.rate)


def joined(default: Sustained | None, best: Sustained | None) -> Sustained | None:
    """The sustained rate of the storage behind a cache, from that of the default settings and that
    of the best ones; that of the default if there is no cache. One of them is enough to show a
    cache: the default's probes may all be too long for it. But if other settings keep up a much
    higher rate, it was not the storage that limited the first ones."""
    known = [one for one in (default, best) if one is not None]
    cached = [one for one in known if one.is_cached]
    fastest = max((one.target_rate for one in known), default=0.0)
    if not cached or fastest > _FASTER * max(one.target_rate for one in cached):
        return next((one for one in known if not one.is_cached), None)
    first = max(cached, key=lambda one: one.target_rate)
    return replace(
        first,
        rate=fastest * first.targets,
        low=min(one.low / one.targets for one in known) * first.targets,
        high=max(one.high / one.targets for one in known) * first.targets,
        cache_bytes=max(one.cache_bytes * first.targets // one.targets for one in cached),
    )


def with_taken_in(found: Sustained, passages: Sequence[tuple[Moved, int]]) -> Sustained:
    """The same with the cache as large as `passages`, each with its number of targets, show it:
    the bytes of a passage that the storage could not move in its time, by the median of each size,
    of the size with most."""
    sizes: dict[int, list[float]] = {}
    for one, targets in passages:
        stored = found.target_rate * targets * one.seconds
        sizes.setdefault(one.bytes, []).append((one.bytes - stored) * found.targets / targets)
    most = max((median(several) for several in sizes.values()), default=0.0)
    return replace(found, cache_bytes=max(found.cache_bytes, round(most)))
