"""What is believed of a system while it is probed: how fast each point is, and how sure that is.

One Gaussian process over everything that a probe's logarithmic rate is made of: the physical
numbers, what each coordinate adds by itself, what is left and only local, the drift, and noise. So
no part has to be known before the others, and each knows of the others' doubt. The physical numbers
are a mean inside the process, linear around where they are (Rasmussen and Williams, *Gaussian
Processes for Machine Learning*, 2006, section 2.7), and step to their best values by Gauss and
Newton's way. Sums over single coordinates: Duvenaud, Nickisch and Rasmussen, *Additive Gaussian
Processes*, 2011. A probe that something else has slowed down is told by what all others say of it
(left out one by one: Rasmussen and Williams, section 5.4.2), and counts the less the likelier that
is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from operator import mul

from forebay.domain.frozen import frozen
from forebay.domain.tuning.algebra import Matrix, backward, dot, forward, inverse_diagonal
from forebay.domain.tuning.point import Point, Space, scaled
from forebay.domain.tuning.response import (
    LOOSE,
    NAMES,
    Physical,
    Seen,
    first_guess,
    fit,
    physical_of,
    shifted,
)

_KEPT = 0.9
"""Of the drift, from one probe to the next."""
_REACH = 0.7
"""What a coordinate adds changes over so much of its scale, which goes from −1 to 1."""
_LOCAL = 0.5
"""The square of _REACH by the reach of what is local."""
_SLOWED = 0.08
"""The share of probes that something else slows down, before anything is known of them."""
_SLOWER = (0.6, 0.4)
"""How much slower those are, in logarithms: mean and deviation."""
_TRUST_LEAST = 0.02
_STEP_MOST = 0.7
"""Of a physical number's logarithm, at a time."""
_ROUNDS_FIRST, _ROUNDS = 4, 2
"""Steps of the physical numbers: from a fit, and from what was believed a probe before."""
_CUT = 9.0
"""A probe's squared deviation counts as this at most where numbers are judged."""
_CHOICES = {
    "own": (0.01, 0.03, 0.06, 0.1, 0.16, 0.25),
    "local": (0.01, 0.03, 0.06, 0.12, 0.25, 0.5),
    "drift": (0.02, 0.06, 0.12, 0.2, 0.35),
    "noise": (0.02, 0.04, 0.07, 0.12, 0.2),
}
_FACTOR_MOST = 3.5
"""By which one of the numbers changes at a time."""
_WIDTHS = tuple(LOOSE[name] ** 2 for name in NAMES)


@frozen
class Numbers:
    """Standard deviations of logarithms: of what a coordinate adds by itself, of what is local, of
    the drift, and of the noise. The values here are what is expected."""

    own: float = 0.06
    local: float = 0.1
    drift: float = 0.15
    noise: float = 0.06

    @property
    def oddness(self) -> float:
        """Minus the logarithm of how likely they are before anything is seen."""
        usual, widths = Numbers(), (1.0, 1.2, 1.0, 0.7)
        return math.fsum(
            0.5 * (math.log(getattr(self, one.name) / getattr(usual, one.name)) / width) ** 2
            for one, width in zip(fields(self), widths, strict=True)
        )


class Likeness:
    """How alike points are, remembered: the same ones are asked for again and again."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._places: list[tuple[float, ...]] = []
        self._near: dict[float, float] = {}
        self._rows: dict[Point, tuple[list[float], list[float]]] = {}
        self._known: dict[Point, tuple[float, ...]] = {}

    def add(self, points: Sequence[Point]) -> None:
        """Points that were probed; those that were added before come first."""
        self._places += [self._place(one) for one in points[len(self._places) :]]

    def rows(self, point: Point) -> tuple[list[float], list[float]]:
        """To each probed one: summed over single coordinates, and as a whole."""
        own, local = self._rows.setdefault(point, ([], []))
        if len(own) < len(self._places):
            here = self._place(point)
            for there in self._places[len(own) :]:
                alone, whole = self._between(here, there)
                own.append(alone)
                local.append(whole)
        return own, local

    def of(self, a: Point, b: Point) -> tuple[float, float]:
        """Of any two points."""
        return self._between(self._place(a), self._place(b))

    def _place(self, point: Point) -> tuple[float, ...]:
        found = self._known.get(point)
        if found is None:
            found = self._known[point] = scaled(point, self._space)
        return found

    def _between(self, here: Sequence[float], there: Sequence[float]) -> tuple[float, float]:
        total, product = 0.0, 1.0
        for a, b in zip(here, there, strict=True):
            one = self._near.get(a - b)
            if one is None:
                one = self._near[a - b] = math.exp(-0.5 * ((a - b) / _REACH) ** 2)
            total += one
            product *= one
        return total, product**_LOCAL


@frozen
class _Straight:
    """The physical part around where its numbers are: a row of slopes for each probe, and what
    remains of the probes' logarithmic rates when the first guess is taken away along them."""

    slopes: Sequence[Sequence[float]]
    rest: Sequence[float]


@frozen
class View:
    """A point, seen from what is believed. `row`: its covariances with all probes, whitened."""

    point: Point
    mean: float
    variance: float
    slopes: Sequence[float]
    row: Sequence[float]


@frozen
class Belief:
    """After some probes. `trust` and `weights` are the probes', one each."""

    likeness: Likeness
    targets: int
    seen: Sequence[Seen]
    numbers: Numbers
    physical: Physical
    slopes: Sequence[Sequence[float]]
    trust: Sequence[float]
    lower: Matrix
    weights: Sequence[float]

    def mean(self, point: Point) -> float:
        """The logarithmic rate that is to be expected without drift."""
        own, local = self.likeness.rows(point)
        numbers = self.numbers
        base = math.log(self.physical.rate(point, self.targets))
        base += numbers.own**2 * dot(self.weights, own)
        return base + numbers.local**2 * dot(self.weights, local)

    def drift(self, place: int) -> float:
        """What all probes of that time have in common."""
        return dot(self.weights, self._drift_covariances(place))

    def view(self, point: Point) -> View:
        """More of a point than its mean."""
        own, local = self.likeness.rows(point)
        a, b = self.numbers.own**2, self.numbers.local**2
        slopes = self.physical.slopes(point, self.targets)
        wide = list(map(mul, slopes, _WIDTHS))
        row = [
            a * alone + b * whole + dot(wide, there)
            for alone, whole, there in zip(own, local, self.slopes, strict=True)
        ]
        found = View(
            point=point,
            mean=self.mean(point),
            variance=0.0,
            slopes=slopes,
            row=forward(self.lower, row),
        )
        return replace(found, variance=max(self.covariance(found, found), 1e-8))

    def covariance(self, one: View, other: View) -> float:
        """Of two points' logarithmic rates, with all that was probed."""
        return self._before(one, other) - dot(one.row, other.row)

    def drift_row(self, place: int) -> list[float]:
        """The drift's covariances with all probes, whitened."""
        return forward(self.lower, self._drift_covariances(place))

    def tilts(self, one: View, others: Sequence[View], drift_row: Sequence[float]) -> list[float]:
        """By how much the means of `others` move when a probe of `one`, at the time of `drift_row`,
        comes out a standard deviation better than expected."""
        numbers = self.numbers
        both = [a + b for a, b in zip(one.row, drift_row, strict=True)]
        own = self._before(one, one) + numbers.drift**2 + numbers.noise**2
        deviation = math.sqrt(max(own - dot(both, both), 1e-9))
        return [(self._before(one, other) - dot(other.row, both)) / deviation for other in others]

    def _before(self, one: View, other: View) -> float:
        """The covariance before any probe."""
        own, local = self.likeness.of(one.point, other.point)
        physical = sum(a * b * c for a, b, c in zip(one.slopes, other.slopes, _WIDTHS, strict=True))
        return self.numbers.own**2 * own + self.numbers.local**2 * local + physical

    def _drift_covariances(self, place: int) -> list[float]:
        power = self.numbers.drift**2
        return [power * _KEPT ** abs(place - one.place) for one in self.seen]


def first_belief(
    seen: Sequence[Seen], space: Space, *, targets: int, drift: Sequence[float]
) -> Belief:
    """From probes alone. `drift`: about what their times have in common."""
    start = fit(shifted(seen, drift), space, targets=targets).physical
    nothing = Belief(
        likeness=Likeness(space),
        targets=targets,
        seen=(),
        numbers=Numbers(),
        physical=start,
        slopes=(),
        trust=(),
        lower=[],
        weights=(),
    )
    return _settle(nothing, seen, space, rounds=_ROUNDS_FIRST, sought=True)


def further(before: Belief, seen: Sequence[Seen], space: Space, *, sought: bool) -> Belief:
    """With more probes than before, which come after the old ones. `sought`: the numbers of the
    process are sought again, too."""
    return _settle(before, seen, space, rounds=_ROUNDS, sought=sought)


def _settle(
    before: Belief, seen: Sequence[Seen], space: Space, *, rounds: int, sought: bool
) -> Belief:
    likeness, numbers = before.likeness, before.numbers
    likeness.add([one.point for one in seen])
    here, origin = _logs(before.physical), _logs(first_guess(seen, space))
    trust = [*before.trust, *([1.0] * (len(seen) - len(before.trust)))]
    for left in reversed(range(rounds)):
        straight = _straighten(here, origin, seen, before.targets)
        if sought and not left:
            numbers = _likeliest(likeness, seen, straight, trust, numbers)
        lower = _lower(likeness, seen, straight, trust, numbers)
        weights = backward(lower, forward(lower, straight.rest))
        here = _stepped(here, origin, straight, weights)
        if left:
            inverse = inverse_diagonal(lower)
            trust = [
                _trust(weight, own, had, numbers.noise)
                for weight, own, had in zip(weights, inverse, trust, strict=True)
            ]
    return Belief(
        likeness=likeness,
        targets=before.targets,
        seen=tuple(seen),
        numbers=numbers,
        physical=physical_of(here),
        slopes=straight.slopes,
        trust=trust,
        lower=lower,
        weights=weights,
    )


def _logs(physical: Physical) -> list[float]:
    return [math.log(getattr(physical, name)) for name in NAMES]


def _straighten(
    here: Sequence[float], origin: Sequence[float], seen: Sequence[Seen], targets: int
) -> _Straight:
    physical = physical_of(here)
    moved = [a - b for a, b in zip(here, origin, strict=True)]
    slopes, rest = [], []
    for one in seen:
        slope = physical.slopes(one.point, targets)
        slopes.append(slope)
        base = math.log(physical.rate(one.point, targets))
        rest.append(one.log_rate - base + dot(slope, moved))
    return _Straight(slopes=slopes, rest=rest)


def _stepped(
    here: Sequence[float], origin: Sequence[float], straight: _Straight, weights: Sequence[float]
) -> list[float]:
    """The physical numbers nearer to where the straight part has them."""
    found = []
    for at, (now, first, width) in enumerate(zip(here, origin, _WIDTHS, strict=True)):
        wanted = first + width * sum(
            weight * slope[at] for weight, slope in zip(weights, straight.slopes, strict=True)
        )
        found.append(now + max(-_STEP_MOST, min(_STEP_MOST, wanted - now)))
    return found


def _lower(
    likeness: Likeness,
    seen: Sequence[Seen],
    straight: _Straight,
    trust: Sequence[float],
    numbers: Numbers,
) -> Matrix:
    """The Cholesky triangle of the probes' covariance."""
    a, b, noise = numbers.own**2, numbers.local**2, numbers.noise**2
    longest = max(one.place for one in seen) + 1
    drift = [numbers.drift**2 * _KEPT**lag for lag in range(longest)]
    lower: Matrix = []
    for row, one in enumerate(seen):
        own, local = likeness.rows(one.point)
        wide = list(map(mul, straight.slopes[row], _WIDTHS))
        line: list[float] = []
        for column, (other, there) in enumerate(zip(lower, straight.slopes, strict=False)):
            value = a * own[column] + b * local[column] + dot(wide, there)
            value += drift[one.place - seen[column].place]
            line.append((value - dot(line, other)) / other[column])
        value = a * own[row] + b * local[row] + dot(wide, straight.slopes[row])
        value += drift[0] + noise / trust[row]
        line.append(math.sqrt(max(value - dot(line, line), 1e-9)))
        lower.append(line)
    return lower


def _trust(weight: float, inverse: float, before: float, noise: float) -> float:
    """How likely a probe was not slowed down by something else, going by what all others say of
    it. `inverse`: its place on the diagonal of the covariance's inverse."""
    off = weight / inverse
    own = max(1 / inverse - noise**2 / before, 0.0) + noise**2
    slower, by = _SLOWER
    wide = own + by**2
    usual = (1 - _SLOWED) * math.exp(-0.5 * off**2 / own) / math.sqrt(own)
    slowed = _SLOWED * math.exp(-0.5 * (off + slower) ** 2 / wide) / math.sqrt(wide)
    both = usual + slowed
    return max(_TRUST_LEAST, usual / both) if both > 0 else _TRUST_LEAST


def _likeliest(
    likeness: Likeness,
    seen: Sequence[Seen],
    straight: _Straight,
    trust: Sequence[float],
    start: Numbers,
) -> Numbers:
    """One number after the other."""

    def likelihood(numbers: Numbers) -> float:
        lower = _lower(likeness, seen, straight, trust, numbers)
        total = -numbers.oddness
        for at, one in enumerate(forward(lower, straight.rest)):
            total -= min(one * one, _CUT) / 2 + math.log(lower[at][at])
        return total

    best, most = start, likelihood(start)
    for name, choices in _CHOICES.items():
        now = getattr(best, name)
        for choice in choices:
            if choice == now or not 1 / _FACTOR_MOST < choice / now < _FACTOR_MOST:
                continue
            tried = replace(best, **{name: choice})
            found = likelihood(tried)
            if found > most:
                best, most = tried, found
    return best
