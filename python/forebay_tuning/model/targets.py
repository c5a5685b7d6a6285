"""Detects sick storage targets: their files are much slower than those on other targets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from forebay.common.model.frozen import frozen

FILES_LEAST = 3
FAR = 4.0
SLOWER_LEAST = 1.5
_SPREAD_LEAST = 0.08
"""The minimum of the spread, in logarithms, so that near-equal targets make no outliers."""


@frozen
class SickTarget:
    """A slow storage target: its `files` were compared, and their median rate is `slower` times
    below that of all targets."""

    target: int
    slower: float
    files: int


def sick_targets(rates: Mapping[int, Sequence[float]]) -> tuple[SickTarget, ...]:
    """`rates` are bytes per second of the files on each target. A target is sick if the median
    logarithm of its files' rates is more than 4 (scaled) median absolute deviations below that of
    all targets, it is at least 1.5 × slower, and it has at least 3 files. The slowest is first. A
    target is not sick if its files together are as fast as those of others: it has more of them."""
    middles = {
        target: median([math.log(one) for one in values if one > 0])
        for target, values in rates.items()
        if sum(one > 0 for one in values) >= FILES_LEAST
    }
    if len(middles) < 3:
        return ()
    usual = median(middles.values())
    spread = max(1.4826 * median([abs(one - usual) for one in middles.values()]), _SPREAD_LEAST)
    together = {target: sum(rates[target]) for target in middles}
    least = median(together.values()) / SLOWER_LEAST
    found = [
        SickTarget(target=target, slower=math.exp(usual - one), files=len(rates[target]))
        for target, one in middles.items()
        if (usual - one) / spread > FAR
        and math.exp(usual - one) >= SLOWER_LEAST
        and together[target] <= least
    ]
    return tuple(sorted(found, key=lambda one: -one.slower))
