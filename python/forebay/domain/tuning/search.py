"""The order of probing, as a conversation: `search` yields what is to be measured next and is sent
what came of it. Screening by a Latin hypercube, in random order, with control probes in between;
refinement among what the fit predicts to be best; a race of the best, the default and the priors
in randomised blocks. Drift is what all probes of a time have in common, and is taken out."""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from statistics import median

from forebay.domain.frozen import frozen
from forebay.domain.tuning.algebra import robust_scale
from forebay.domain.tuning.field import Field, Numbers, observe
from forebay.domain.tuning.point import (
    Direction,
    Point,
    Space,
    distance,
    neighbours,
    scaled,
    spread_points,
)
from forebay.domain.tuning.response import Response, Seen, Surface, fit, fit_storm, shifted

PROBES = {"quick": 60, "standard": 120, "deep": 240}
CONTROL_EVERY = 5
_SCREENED = 0.4
"""Of the probes, that screen."""
_REFINED = 0.35
"""Of the probes, that refine."""


class Purpose(StrEnum):
    """Why a probe is made."""

    CONTROL = "control"
    SCREEN = "screen"
    REFINE = "refine"
    RACE = "race"


@frozen
class Ask:
    """What is to be measured next."""

    point: Point
    purpose: Purpose


@frozen
class Passage:
    """One direction of a probe: the rate while bytes move (bytes per second), and the rest."""

    rate: float
    seconds_open: float
    seconds_close: float


@frozen
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


@frozen
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
        return self.gain_low <= 1.0 or not self.response.surface.has_structure


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
    scores: Scores | None = None
    sought = 0
    while len(taken) < until:
        fresh = scores is None or len(taken) > 1.2 * sought
        sought = len(taken) if fresh else sought
        scores = scores_of(taken, space, direction, again=None if fresh else scores)
        if scores is None:
            return
        fresh_points = _summits(scores, space, taken, generator, count=batch, bold=True)
        if not fresh_points:
            return  # a small space: there is no point that was not measured
        for point in fresh_points:
            taken.append((yield Ask(point=point, purpose=Purpose.REFINE)))
        if len(taken) % CONTROL_EVERY < batch:
            taken.append((yield Ask(point=control, purpose=Purpose.CONTROL)))


def _screening(space: Space, control: Point, probes: int, seed: int) -> list[tuple[Purpose, Point]]:
    count = round(probes * _SCREENED)
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
            around = {
                one: seen[one] if one in seen else height(one) for one in neighbours(here, space)
            }
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
        scores = scores_of(taken, space, direction, again=scores)
        if scores is None:
            return
        kept = sorted(racers, key=scores.score, reverse=True)[: max(2, (len(racers) + 1) // 2)]
        fresh = _summits(scores, space, taken, generator, count=2, bold=False)
        racers = list(dict.fromkeys([*kept, *fresh]))


@frozen
class Scores:
    """The fit, what it leaves as a field over the points, and what was measured how often."""

    surface: Surface
    field: Field
    measured: Mapping[Point, int]

    @property
    def noise(self) -> float:
        """Of a single probe, without drift."""
        return self.field.numbers.noise

    def doubt(self, point: Point) -> float:
        """How far its score may be off."""
        own = max(0.6 * self.field.numbers.height, 0.03)
        times = self.measured.get(point, 0)
        if times == 0:
            return own
        return own * self.noise / math.hypot(own * math.sqrt(times), self.noise)

    def score(self, point: Point) -> float:
        """A logarithmic rate."""
        base = math.log(self.surface.physical.rate(point, self.surface.targets))
        return base + self.field.at(scaled(point, self.surface.space))


def seen_of(taken: Sequence[Sample], direction: Direction) -> list[Seen]:
    """What counts, in the order in which it was measured."""
    found = []
    for place, sample in enumerate(taken):
        passage = sample.passage(direction)
        if passage is not None and passage.rate > 0:
            found.append(Seen(point=sample.ask.point, log_rate=math.log(passage.rate), place=place))
    return found


def scores_of(
    taken: Sequence[Sample], space: Space, direction: Direction, *, again: Scores | None = None
) -> Scores | None:
    """None: too little was measured. `again`: scores of a little earlier, whose numbers of the
    field still hold."""
    seen = seen_of(taken, direction)
    if len({one.point for one in seen}) < 6:
        return None
    drift = drift_of(taken, direction)
    field, surface = None, None if again is None else again.surface
    numbers = None if again is None else again.field.numbers
    for _ in range(2):
        surface = fit(
            shifted(seen, drift),
            space,
            targets=_targets(space),
            start=None if surface is None else surface.physical,
        )
        field = _field(seen, surface, space, numbers)
        numbers = field.numbers
        drift = [field.drift(place) for place in range(len(taken))]
    assert field is not None
    assert surface is not None
    measured: dict[Point, int] = {}
    for one in seen:
        measured[one.point] = measured.get(one.point, 0) + 1
    return Scores(surface=surface, field=field, measured=measured)


def _field(seen: Sequence[Seen], surface: Surface, space: Space, numbers: Numbers | None) -> Field:
    physical = surface.physical
    return observe(
        [scaled(one.point, space) for one in seen],
        [one.place for one in seen],
        [one.log_rate - math.log(physical.rate(one.point, surface.targets)) for one in seen],
        numbers=numbers,
    )


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
    times = [scores.measured.get(one, 1) for one in (best, control)]
    off = 2 * scores.noise * math.sqrt(sum(1 / one for one in times))
    return math.exp(gain), math.exp(gain - off), math.exp(gain + off)
