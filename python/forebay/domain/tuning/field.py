"""What a physical fit leaves, taken apart: a smooth field over the points (the system's own ways),
a level that wanders in time (drift), and noise. A Gaussian process with both, whose numbers are
those under which what was seen is likeliest; outliers count less."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import mul

from forebay.domain.frozen import frozen
from forebay.domain.tuning.algebra import Matrix, huber, solve

_KEPT = 0.88
"""Of the drift, from one probe to the next."""
_CHOICES = {
    "height": (0.03, 0.08, 0.2, 0.4, 0.8),
    "reach": (0.6, 1.0, 1.7),
    "drift": (0.01, 0.06, 0.15, 0.3),
    "noise": (0.03, 0.06, 0.12, 0.25),
}
_LEVEL = 2.0
"""The deviation of the whole from what the physical fit says."""


@frozen
class Numbers:
    """Deviations of the field (`height`; it changes over `reach`), the drift, and the noise."""

    height: float = 0.2
    reach: float = 1.0
    drift: float = 0.15
    noise: float = 0.12


@frozen
class Field:
    """The field, given what was seen."""

    numbers: Numbers
    places: tuple[tuple[float, ...], ...]
    times: tuple[int, ...]
    weights: tuple[float, ...]

    def at(self, place: Sequence[float]) -> float:
        """Its height."""
        spread = -0.5 / self.numbers.reach**2
        power = self.numbers.height**2
        total = _LEVEL**2 * sum(self.weights)
        for there, weight in zip(self.places, self.weights, strict=True):
            far = 0.0
            for a, b in zip(place, there, strict=True):
                far += (a - b) * (a - b)
            total += weight * power * (0.5 * math.exp(spread * far) + 0.5 / (1 + far / 8))
        return total

    def drift(self, time: int) -> float:
        """What all probes of that time have in common."""
        power = self.numbers.drift**2
        return power * sum(
            weight * _KEPT ** abs(time - there)
            for there, weight in zip(self.times, self.weights, strict=True)
        )


def observe(
    places: Sequence[tuple[float, ...]],
    times: Sequence[int],
    values: Sequence[float],
    *,
    numbers: Numbers | None = None,
) -> Field:
    """`numbers`: known from before; else they are sought."""
    far = [
        [math.fsum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for other in places[:at]]
        for at, one in enumerate(places)
    ]
    lags = [[_KEPT ** abs(a - b) for b in times[:at]] for at, a in enumerate(times)]
    trust = [1.0] * len(values)
    known = numbers or _likeliest(far, lags, values, trust)
    weights: list[float] = []
    for _ in range(3):
        lower = _lower(far, lags, trust, known)
        weights = solve(lower, values)
        trust = _trust(lower, weights, trust, known)
    return Field(numbers=known, places=tuple(places), times=tuple(times), weights=tuple(weights))


def _lower(far: Matrix, lags: Matrix, trust: Sequence[float], numbers: Numbers) -> Matrix:
    """The Cholesky triangle of the covariance."""
    power, spread = numbers.height**2, -0.5 / numbers.reach**2
    drift, noise = numbers.drift**2, numbers.noise**2
    level = _LEVEL**2
    lower: Matrix = []
    for row, (near, lag) in enumerate(zip(far, lags, strict=True)):
        line: list[float] = []
        for column, (distance, kept) in enumerate(zip(near, lag, strict=True)):
            value = level + drift * kept
            value += power * (0.5 * math.exp(spread * distance) + 0.5 / (1 + distance / 8))
            other = lower[column]
            line.append((value - sum(map(mul, line, other))) / other[column])
        own = level + power + drift + noise / trust[row]
        line.append(math.sqrt(max(own - sum(map(mul, line, line)), 1e-9)))
        lower.append(line)
    size = len(lower)
    return [[*line, *([0.0] * (size - len(line)))] for line in lower]


def _trust(
    lower: Matrix, weights: Sequence[float], trust: Sequence[float], numbers: Numbers
) -> list[float]:
    """Less for what lies far from what all others say of it. The noise that a row was given is the
    part of its deviation that is its own."""
    return [
        huber(weight * numbers.noise**2 / before, numbers.noise, bend=1.3) ** 2
        for weight, before in zip(weights, trust, strict=True)
    ]


def _likeliest(
    far: Matrix, lags: Matrix, values: Sequence[float], trust: Sequence[float]
) -> Numbers:
    """One number after the other, twice round."""
    best = Numbers()
    most = _likelihood(far, lags, values, trust, best)
    for _ in range(2):
        for name, choices in _CHOICES.items():
            for choice in choices:
                tried = replace(best, **{name: choice})
                found = _likelihood(far, lags, values, trust, tried)
                if found > most:
                    best, most = tried, found
    return best


def _likelihood(
    far: Matrix, lags: Matrix, values: Sequence[float], trust: Sequence[float], numbers: Numbers
) -> float:
    """Its logarithm, with values that are cut off where they are outliers in any case."""
    lower = _lower(far, lags, trust, numbers)
    forward: list[float] = []
    total = 0.0
    for row, value in enumerate(values):
        line = lower[row]
        one = (value - sum(map(mul, line, forward))) / line[row]
        forward.append(one)
        total -= min(one * one, 9.0) / 2 + math.log(line[row])
    return total
