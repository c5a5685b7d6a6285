"""The order of probing, as a conversation: `search` yields what is to be measured next and is sent
what came of it. Screening by a Latin hypercube, in random order, with control probes in between;
refinement among what the fit predicts to be best; a race of the best, the default and the priors
in randomised blocks. Drift is what all probes of a time have in common, and is taken out."""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean, median

from forebay.domain.tuning.algebra import robust_scale
from forebay.domain.tuning.point import Direction, Point, Space, distance, neighbours, spread_points
from forebay.domain.tuning.response import Response, Seen, Surface, fit, fit_storm, shifted

PROBES = {"quick": 60, "standard": 120, "deep": 240}
CONTROL_EVERY = 5
_REFINED = 0.35
"""Of the probes, that refine."""
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
    yield from _refinement(space, control, probes, direction, taken, generator)
    yield from _race(space, control, priors, probes, direction, taken, generator)
    return tuple(taken)


def _refinement(
    space: Space,
    control: Point,
    probes: int,
    direction: Direction,
    taken: list[Sample],
    generator: random.Random,
) -> Generator[Ask, Sample, None]:
    """Where the fit sees the best, one after the other; each probe may move that place."""
    until = len(taken) + round(probes * _REFINED)
    batch = max(2, probes // 40)
    while len(taken) < until:
        scores = scores_of(taken, space, direction)
        if scores is None:
            return
        for point in _summits(scores, space, taken, generator, count=batch, bold=True):
            taken.append((yield Ask(point=point, purpose=Purpose.REFINE)))
        if len(taken) % CONTROL_EVERY < batch:
            taken.append((yield Ask(point=control, purpose=Purpose.CONTROL)))


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


def _summits(
    scores: Scores,
    space: Space,
    taken: Sequence[Sample],
    generator: random.Random,
    *,
    count: int,
    bold: bool,
) -> list[Point]:
    """The best points, found by climbing from what was measured and from places by chance. `bold`:
    only new points, each with some luck, so that doubtful ones are looked at, too."""
    known = sorted(scores.measured, key=scores.score, reverse=True)[:6]
    every = [one.ask.point for one in taken]
    starts = [*known, *generator.sample(every, min(6, len(every)))]
    luck: dict[Point, float] = {}

    def height(point: Point) -> float:
        if not bold:
            return scores.score(point)
        if point not in luck:
            luck[point] = generator.gauss(0.0, scores.doubt(point))
        return scores.score(point) + luck[point]

    seen: dict[Point, float] = {}
    for start in dict.fromkeys(starts):
        here, top = start, height(start)
        while True:
            around = {one: height(one) for one in neighbours(here, space)}
            seen.update(around)
            best = max(around, key=lambda one: around[one], default=here)
            if around.get(best, top) <= top:
                break
            here, top = best, around[best]
        seen[here] = top
    ranked = sorted(seen, key=lambda one: seen[one], reverse=True)
    if bold:
        ranked = [one for one in ranked if one not in scores.measured]
    found: list[Point] = []
    for one in ranked:
        if all(distance(one, other) >= 1.0 for other in found):
            found.append(one)
        if len(found) == count:
            break
    return found


def _race(
    space: Space,
    control: Point,
    priors: Sequence[Point],
    probes: int,
    direction: Direction,
    taken: list[Sample],
    generator: random.Random,
) -> Generator[Ask, Sample, None]:
    scores = scores_of(taken, space, direction)
    if scores is None:
        return
    wide = max(3, probes // 20)
    best = _summits(scores, space, taken, generator, count=wide, bold=False)
    racers = list(dict.fromkeys([*best, *(space.nearest(one) for one in priors)]))
    while len(taken) < probes:
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
        kept = sorted(racers, key=scores.score, reverse=True)[: max(2, (len(racers) + 1) // 2)]
        fresh = _summits(scores, space, taken, generator, count=2, bold=False)
        racers = list(dict.fromkeys([*kept, *fresh]))


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The fit, and how much better or worse than it the points were that were measured."""

    surface: Surface
    measured: dict[Point, tuple[float, int]]
    noise: float

    def doubt(self, point: Point) -> float:
        """How far its score may be off."""
        own = max(self.surface.doubt, 0.03)
        times = self.measured.get(point, (0.0, 0))[1]
        return (
            own if times == 0 else own * self.noise / math.hypot(own * math.sqrt(times), self.noise)
        )

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
    best = max([*scores.measured, control], key=scores.score)
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
