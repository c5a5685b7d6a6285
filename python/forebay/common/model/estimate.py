"""Estimates from few, skewed, drifting measurements: the median with the interval of the sign test,
and the Hodges-Lehmann estimate of a paired ratio with the exact interval of Wilcoxon's signed-rank
test on log ratios (Hollander and Wolfe, Nonparametric Statistical Methods, 3.2-3.5). On 48 series
measured on real file systems, the latter keeps its 95 % coverage with 6 to 20 pairs; the bootstrap
of the median does not."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from statistics import median

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of

LEVEL = 0.95


@frozen
class Spread:
    """Median and range of a sample; `low` to `high` covers the true median with `confidence`."""

    median: float
    least: float
    most: float
    count: int
    low: float
    high: float
    confidence: float


@frozen
class Ratio:
    """A paired ratio. `low` and `high` bound it with `confidence`; they are None if there are fewer
    pairs than the level needs (6 for 95 %)."""

    estimate: float
    least: float
    most: float
    pairs: int
    low: float | None
    high: float | None
    confidence: float

    @property
    def interval(self) -> str:
        """The interval as text for people: "0.951 – 1.018", or "none"."""
        if self.low is None or self.high is None:
            return "none"
        return f"{self.low:.3f} – {self.high:.3f}"


def spread(values: Sequence[float], *, level: float = LEVEL) -> Spread:
    """The spread of at least one value. The interval is distribution-free: it is the narrowest pair
    of order statistics with at least the confidence `level`, or the whole range if none has it."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    count = len(ordered)
    cut = sign_cut(count, level=level)
    return Spread(
        median=median(ordered),
        least=ordered[0],
        most=ordered[-1],
        count=count,
        low=ordered[cut],
        high=ordered[count - 1 - cut],
        confidence=sign_coverage(count, cut),
    )


def sign_coverage(count: int, cut: int) -> float:
    """The probability that the median lies between the values number cut+1 from both ends."""
    outside = math.fsum(_share_of_tosses(count, tail) for tail in range(cut + 1))
    return max(0.0, 1.0 - 2.0 * outside)


def sign_cut(count: int, *, level: float = LEVEL) -> int:
    """The largest cut that still covers the median with `level`; 0 if none does."""
    cut, outside = 0, _share_of_tosses(count, 0)
    while cut + 1 < (count + 1) // 2:
        outside += _share_of_tosses(count, cut + 1)
        if 1.0 - 2.0 * outside < level:
            break
        cut += 1
    return cut


def _share_of_tosses(count: int, heads: int) -> float:
    """The probability of `heads` in `count` fair tosses. 2**1024 and more overflow a float."""
    if count < sys.float_info.max_exp:
        return math.comb(count, heads) / (1 << count)
    ways = math.lgamma(count + 1) - math.lgamma(heads + 1) - math.lgamma(count - heads + 1)
    return math.exp(ways - count * math.log(2))


def signed_rank_cut(pairs: int, *, level: float = LEVEL) -> tuple[int, float]:
    """How many Walsh averages to drop at each end, and the confidence of the interval that is left;
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


def paired_ratio(above: Sequence[float], below: Sequence[float], *, level: float = LEVEL) -> Ratio:
    """The ratio of two positive quantities measured in pairs, at least one pair."""
    logs = [math.log(a / b) for a, b in zip_of(above, below, strict=True)]
    pairs = len(logs)
    walsh = sorted((logs[i] + logs[j]) / 2 for i in range(pairs) for j in range(i, pairs))
    cut, confidence = signed_rank_cut(pairs, level=level)
    return Ratio(
        estimate=math.exp(median(walsh)),
        least=math.exp(min(logs)),
        most=math.exp(max(logs)),
        pairs=pairs,
        low=math.exp(walsh[cut - 1]) if cut else None,
        high=math.exp(walsh[-cut]) if cut else None,
        confidence=confidence,
    )
