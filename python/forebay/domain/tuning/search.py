"""The order of probing, as a conversation: `search` yields what is to be measured next and is sent
what came of it. Screening by a Latin hypercube, in random order, with control probes in between;
refinement among what the fit predicts to be best; a race of the best, the default and the priors
in randomised blocks. Drift is what all probes of a time have in common, and is taken out."""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from statistics import fmean, median

from forebay.domain.tuning.algebra import robust_scale
from forebay.domain.tuning.point import Direction, Point, Space, distance, spread_points
from forebay.domain.tuning.response import Response, Seen, Surface, fit, fit_storm, shifted

PROBES = {"quick": 60, "standard": 120, "deep": 240}
CONTROL_EVERY = 5
_RACERS = 8
_DRIFT_REACH = 2.0
"""Probes before and after one that tell of its drift."""


class Purpose(StrEnum):
    """Why a probe is made."""

    CONTROL = "control"
    SCREEN = "screen"
    REFINE = "refine"
    RACE = "race"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is to be measured next."""

    point: Point
    purpose: Purpose


@dataclass(frozen=True, kw_only=True)
class Passage:
    """One direction of a probe: the rate while bytes move (bytes per second), and the rest."""

    rate: float
    seconds_open: float
    seconds_close: float


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What came of a probe. `discarded`: why it does not count; empty: it does."""

    ask: Ask
    write: Passage | None = None
    read: Passage | None = None
    discarded: str = ""
    cached: bool = False
    """What was read came from a page cache: it says nothing of the file system."""

    def passage(self, direction: Direction) -> Passage | None:
        """The direction's, if it counts."""
        if self.discarded:
            return None
        if direction is Direction.WRITE:
            return self.write
        return None if self.cached else self.read


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What probing found of a direction. `best` is the control where nothing is certainly better;
    the gain is of rates, with its interval."""

    response: Response
    best: Point
    gain: float
    gain_low: float
    gain_high: float
    noise: float
    drift: float

    @property
    def keeps(self) -> bool:
        """Whether the default is the answer."""
        return self.gain_low <= 1.0


Conversation = Generator[Ask, Sample, tuple[Sample, ...]]


def search(
    space: Space,
    *,
    control: Point,
    priors: Sequence[Point],
    probes: int,
    direction: Direction,
    seed: int,
) -> Conversation:
    """Asks for `probes` samples and returns them all."""
    generator = random.Random(seed)
    taken: list[Sample] = []
    for purpose, point in _screening(space, control, probes, seed):
        taken.append((yield Ask(point=point, purpose=purpose)))
    refinements = round(probes * 0.2)
    while refinements > 0:
        batch = min(4, refinements)
        surface = _surface(taken, space, direction)
        if surface is None:
            break
        for point in _promising(surface, space, taken, batch, generator):
            taken.append((yield Ask(point=point, purpose=Purpose.REFINE)))
        taken.append((yield Ask(point=control, purpose=Purpose.CONTROL)))
        refinements -= batch + 1
    yield from _race(space, control, priors, probes, direction, taken, generator)
    return tuple(taken)


def _screening(space: Space, control: Point, probes: int, seed: int) -> list[tuple[Purpose, Point]]:
    count = round(probes * 0.4)
    controls = max(4, count // CONTROL_EVERY)
    design = spread_points(space, count - controls + 2, seed=seed)
    order: list[tuple[Purpose, Point]] = [(Purpose.CONTROL, control)] * 2
    for at, point in enumerate(design):
        order.append((Purpose.SCREEN, point))
        if at % CONTROL_EVERY == CONTROL_EVERY - 1:
            order.append((Purpose.CONTROL, control))
    return order


def _promising(
    surface: Surface, space: Space, taken: Sequence[Sample], count: int, generator: random.Random
) -> list[Point]:
    """From the best that are predicted, not next to each other, with some luck."""
    tried = {one.ask.point for one in taken}
    pool = _candidates(space, generator)
    ranked = sorted(
        (one for one in pool if one not in tried),
        key=lambda one: surface.log_rate(one) + generator.gauss(0, surface.doubt),
        reverse=True,
    )
    found: list[Point] = []
    for one in ranked[:200]:
        if all(distance(one, other) >= 1.0 for other in found):
            found.append(one)
        if len(found) == count:
            break
    return found


def _candidates(space: Space, generator: random.Random, *, most: int = 3000) -> list[Point]:
    """Points with the most bytes for each process that there is room for: what little is moved
    only shows what opening costs."""
    large = replace_levels(space)
    every = list(large.points())
    return every if len(every) <= most else generator.sample(every, most)


def replace_levels(space: Space) -> Space:
    """The space with the two largest sizes of `process_bytes` only."""
    sizes = space.levels["process_bytes"]
    return replace(space, levels={**space.levels, "process_bytes": sizes[-2:]})


def _race(
    space: Space,
    control: Point,
    priors: Sequence[Point],
    probes: int,
    direction: Direction,
    taken: list[Sample],
    generator: random.Random,
) -> Generator[Ask, Sample, None]:
    surface = _surface(taken, space, direction)
    if surface is None:
        return
    best = _leaders(surface, space, taken, direction, generator)
    racers = list(dict.fromkeys([*best[:_RACERS], *(space.nearest(one) for one in priors)]))
    while len(taken) < probes:
        rounds = 2 if len(racers) > 4 else 3
        for _ in range(rounds):
            block = [*racers, control]
            generator.shuffle(block)
            for point in block:
                if len(taken) >= probes:
                    return
                purpose = Purpose.CONTROL if point == control else Purpose.RACE
                taken.append((yield Ask(point=point, purpose=purpose)))
        scores = scores_of(taken, space, direction)
        if scores is None:
            return
        racers.sort(key=lambda one: scores.score(one), reverse=True)
        if len(racers) > 2:
            racers = racers[: max(2, (len(racers) + 1) // 2)]
        else:
            others = _leaders(scores.surface, space, taken, direction, generator)
            racers = list(dict.fromkeys([*racers[:2], *others[:2]]))


def _leaders(
    surface: Surface,
    space: Space,
    taken: Sequence[Sample],
    direction: Direction,
    generator: random.Random,
) -> list[Point]:
    """The best by all that is known: predicted, or measured already."""
    scores = scores_of(taken, space, direction)
    pool = [*_candidates(space, generator), *{one.ask.point for one in taken}]
    if scores is None:
        return sorted(set(pool), key=surface.log_rate, reverse=True)[:_RACERS]
    ranked = sorted(set(pool), key=scores.score, reverse=True)
    found: list[Point] = []
    for one in ranked[:400]:
        if all(distance(one, other) >= 1.0 for other in found):
            found.append(one)
        if len(found) == _RACERS:
            break
    return found


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The fit, and how much better or worse than it the points were that were measured."""

    surface: Surface
    measured: dict[Point, tuple[float, int]]
    noise: float

    def score(self, point: Point) -> float:
        """A logarithmic rate: the prediction, moved towards what was measured the more the
        oftener it was measured. A point's own deviation is taken to be as large as the doubt."""
        there = self.measured.get(point)
        predicted = self.surface.log_rate(point)
        if there is None:
            return predicted
        own = max(self.surface.doubt, 0.03) ** 2
        weight = there[1] * own / (there[1] * own + self.noise**2)
        return predicted + weight * there[0]


def seen_of(taken: Sequence[Sample], direction: Direction) -> list[Seen]:
    """What counts, in the order in which it was measured."""
    found = []
    for place, sample in enumerate(taken):
        passage = sample.passage(direction)
        if passage is not None and passage.rate > 0:
            found.append(Seen(point=sample.ask.point, log_rate=math.log(passage.rate), place=place))
    return found


def _surface(taken: Sequence[Sample], space: Space, direction: Direction) -> Surface | None:
    seen = seen_of(taken, direction)
    if len({one.point for one in seen}) < 6:
        return None
    drift = drift_of(taken, direction)
    surface = fit(shifted(seen, drift), space, targets=_targets(space))
    for _ in range(2):
        drift = _smoothed(seen, surface, len(taken))
        surface = fit(shifted(seen, drift), space, targets=_targets(space))
    return surface


def scores_of(taken: Sequence[Sample], space: Space, direction: Direction) -> Scores | None:
    """None: too little was measured."""
    surface = _surface(taken, space, direction)
    if surface is None:
        return None
    seen = seen_of(taken, direction)
    calm = shifted(seen, _smoothed(seen, surface, len(taken)))
    by_point: dict[Point, list[float]] = {}
    for one in calm:
        by_point.setdefault(one.point, []).append(one.log_rate - surface.log_rate(one.point))
    noise = max(surface.spread, 0.02)
    measured = {
        point: (fmean(_clipped(values, noise)), len(values)) for point, values in by_point.items()
    }
    return Scores(surface=surface, measured=measured, noise=noise)


def _clipped(values: Sequence[float], scale: float) -> list[float]:
    middle = median(values)
    return [max(middle - 2 * scale, min(middle + 2 * scale, one)) for one in values]


def drift_of(taken: Sequence[Sample], direction: Direction) -> list[float]:
    """By the control probes alone: the running median of three, straight lines in between."""
    controls = [
        one for one in seen_of(taken, direction) if taken[one.place].ask.purpose is Purpose.CONTROL
    ]
    if len(controls) < 3:
        return [0.0] * len(taken)
    middle = median([one.log_rate for one in controls])
    at = [one.place for one in controls]
    values = [
        median([other.log_rate for other in controls[max(0, i - 1) : i + 2]]) - middle
        for i in range(len(controls))
    ]
    return [_between(at, values, place) for place in range(len(taken))]


def _between(at: Sequence[int], values: Sequence[float], place: int) -> float:
    if place <= at[0]:
        return values[0]
    for (left, a), (right, b) in pairwise(zip(at, values, strict=True)):
        if place <= right:
            return a + (b - a) * (place - left) / (right - left)
    return values[-1]


def _smoothed(seen: Sequence[Seen], surface: Surface, count: int) -> list[float]:
    """By all probes: what those of a time have in common that the fit does not explain. Where
    neighbours agree no more than strangers do, there is no drift to take out."""
    off = [one.log_rate - surface.log_rate(one.point) for one in seen]
    middle, scale = median(off), max(robust_scale(off), 0.02)
    clipped = [max(-2.5 * scale, min(2.5 * scale, one - middle)) for one in off]
    alike = _alike(clipped)
    drift = []
    for place in range(count):
        weights = [math.exp(-(((one.place - place) / _DRIFT_REACH) ** 2) / 2) for one in seen]
        total = math.fsum(weights)
        if total < 1e-6:
            drift.append(0.0)
            continue
        mean = math.fsum(w * v for w, v in zip(weights, clipped, strict=True)) / total
        drift.append(alike * mean)
    return drift


def _alike(values: Sequence[float]) -> float:
    """The correlation of neighbours, 0 to 1."""
    power = math.fsum(one * one for one in values)
    if power <= 0 or len(values) < 8:
        return 0.0
    lagged = math.fsum(a * b for a, b in pairwise(values))
    return max(0.0, min(1.0, 1.4 * lagged / power))


def _targets(space: Space) -> int:
    return space.levels["stripe_count"][-1]


def conclude(
    taken: Sequence[Sample], space: Space, *, control: Point, direction: Direction, seed: int
) -> Choice | None:
    """What follows from all samples of a direction; None: too few of them count."""
    scores = scores_of(taken, space, direction)
    if scores is None:
        return None
    passages = [
        (one.ask.point.processes, passage)
        for one in taken
        if (passage := one.passage(direction)) is not None
    ]
    response = Response(
        direction=direction,
        surface=scores.surface,
        opening=fit_storm([(n, one.seconds_open) for n, one in passages]),
        closing=fit_storm([(n, one.seconds_close) for n, one in passages]),
    )
    raced = [point for point, (_, times) in scores.measured.items() if times >= 2]
    best = max([*raced, control], key=scores.score)
    gain, low, high = _gain(scores, best, control)
    if not scores.surface.has_structure and low <= 1.0:
        best, gain, low, high = control, 1.0, 1.0, 1.0
    drift = drift_of(taken, direction)
    return Choice(
        response=response,
        best=best,
        gain=gain,
        gain_low=low,
        gain_high=high,
        noise=scores.noise,
        drift=robust_scale(drift) if drift else 0.0,
    )


def _gain(scores: Scores, best: Point, control: Point) -> tuple[float, float, float]:
    """The ratio of rates with an interval of about 95 %."""
    if best == control:
        return 1.0, 1.0, 1.0
    gain = scores.score(best) - scores.score(control)
    times = [scores.measured.get(one, (0.0, 1))[1] for one in (best, control)]
    off = 2 * scores.noise * math.sqrt(sum(1 / one for one in times))
    return math.exp(gain), math.exp(gain - off), math.exp(gain + off)
