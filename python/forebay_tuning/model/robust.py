"""Robust statistics: a scale and weights that outliers hardly affect."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median


def robust_scale(values: Sequence[float]) -> float:
    """The standard deviation by the median absolute deviation, times 1.4826 (for a normal
    distribution)."""
    if not values:
        return 0.0
    middle = median(values)
    return 1.4826 * median([abs(one - middle) for one in values])


def huber(residual: float, scale: float, *, bend: float = 1.5) -> float:
    """Huber's weight of an observation: 1 near the fit, then inverse to the distance."""
    far = abs(residual) / scale if scale > 0 else 0.0
    return 1.0 if far <= bend else bend / far
