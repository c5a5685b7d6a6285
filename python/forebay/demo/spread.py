"""What a handful of paired ratios says: its median, its range, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

LEVEL_WANTED = 0.90


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Median and range of the values; `low` to `high` covers the true median with `level`."""

    count: int
    median: float
    minimum: float
    maximum: float
    low: float
    high: float
    level: float


def spread(values: Sequence[float]) -> Spread:
    """The confidence interval is that of the sign test, between order statistics: it assumes no
    distribution. The narrowest one of at least LEVEL_WANTED, or all there is: `level` says."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    count = len(ordered)
    cut = 0
    while cut + 1 < (count + 1) // 2 and coverage(count=count, cut=cut + 1) >= LEVEL_WANTED:
        cut += 1
    return Spread(
        count=count,
        median=median(ordered),
        minimum=ordered[0],
        maximum=ordered[-1],
        low=ordered[cut],
        high=ordered[count - 1 - cut],
        level=coverage(count=count, cut=cut),
    )


def coverage(*, count: int, cut: int) -> float:
    """How likely the median lies between the values number cut+1 from below and from above."""
    outside = sum(comb(count, tail) for tail in range(cut + 1))
    return max(0.0, 1.0 - 2.0 * outside / 2.0**count)
