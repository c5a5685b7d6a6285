"""Estimates from few, skewed, drifting measurements: medians, and the Hodges-Lehmann estimate of
a paired ratio with the exact interval of Wilcoxon's signed-rank test on log ratios (Hollander and
Wolfe, Nonparametric Statistical Methods, 3.2-3.3). On 48 series of real file systems that
interval keeps its 95 % at 6 to 20 pairs, where the bootstrap of the median does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Median and range of a sample."""

    median: float
    least: float
    most: float
    count: int


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A paired ratio. `low` and `high` bound it with `confidence`; None with fewer than 6 pairs,
    from which no 95 % interval can be had."""

    estimate: float
    least: float
    most: float
    pairs: int
    low: float | None
    high: float | None
    confidence: float


def spread(values: Sequence[float]) -> Spread:
    """Of at least one value."""
    return Spread(median=median(values), least=min(values), most=max(values), count=len(values))


def signed_rank_cut(pairs: int, *, level: float = 0.95) -> tuple[int, float]:
    """How many Walsh averages to drop at each end, and the confidence that the rest gives.

    0 and 0.0 if there are too few pairs for the level.
    """
    ways = [1]  # ways[t]: subsets of the ranks 1..n with sum t
    for rank in range(1, pairs + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    below, cut, confidence = 0, 0, 0.0
    for total, count in enumerate(ways):
        below += count
        inside = 1 - 2 * below / 2**pairs
        if inside < level:
            break
        cut, confidence = total + 1, inside
    return cut, confidence


def paired_ratio(above: Sequence[float], below: Sequence[float]) -> Ratio:
    """The ratio of two positive quantities measured in pairs, at least one pair."""
    logs = [math.log(a / b) for a, b in zip(above, below, strict=True)]
    pairs = len(logs)
    walsh = sorted((logs[i] + logs[j]) / 2 for i in range(pairs) for j in range(i, pairs))
    cut, confidence = signed_rank_cut(pairs)
    return Ratio(
        estimate=math.exp(median(walsh)),
        least=math.exp(min(logs)),
        most=math.exp(max(logs)),
        pairs=pairs,
        low=math.exp(walsh[cut - 1]) if cut else None,
        high=math.exp(walsh[-cut]) if cut else None,
        confidence=confidence,
    )
