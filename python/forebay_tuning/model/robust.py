"""What outliers do not move: a scale, and how much an observation counts."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median


def robust_scale(values: Sequence[float]) -> float:
    """A standard deviation that outliers do not move: 1.4826 median absolute deviations."""
    if not values:
        return 0.0
    middle = median(values)
    return 1.4826 * median([abs(one - middle) for one in values])


def huber(residual: float, scale: float, *, bend: float = 1.5) -> float:
    """The weight of an observation: 1 near the fit, less the farther it is away."""
    far = abs(residual) / scale if scale > 0 else 0.0
    return 1.0 if far <= bend else bend / far
