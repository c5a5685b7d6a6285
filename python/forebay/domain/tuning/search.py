"""The order of probing, as a conversation: `search` yields what is to be measured next and is sent
what came of it. Screening by a Latin hypercube, in random order; then, one after the other, the
probe that promises most by what is believed of the system. Control probes are in between. Drift is
what all probes of a time have in common, and is taken out."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Generator, Sequence
from enum import StrEnum
from itertools import pairwise
from statistics import median

from forebay.domain.frozen import frozen
from forebay.domain.tuning.algebra import robust_scale
from forebay.domain.tuning.belief import Belief, first_belief, further
from forebay.domain.tuning.outlook import most_telling
from forebay.domain.tuning.point import Direction, Point, Space, spread_points
from forebay.domain.tuning.response import Response, Seen, fit, fit_storm, shifted

PROBES = {"quick": 60, "standard": 120, "deep": 240}
_SCREENED = 0.36
"""Of the probes, that screen."""
_SCREENED_BETWEEN = 8
"""Screening probes from one control probe to the next."""
_SOUGHT_BETWEEN = 9
"""The same after screening."""
_POINTS_LEAST = 6
"""So many different points have to count before anything is believed."""
_SETTLED = 2
"""So many times what is believed at the end is gone over again."""
_OFTEN_LEAST, _OFTEN_SHARE = 6, 20
"""A point is probed again until it has had so many probes, or this part of all: what is believed is
too sure of what it has not seen, and would look at two like ones for ever."""
_DEVIATIONS = 3
"""Of a gain, either way. Two would do for a point that was not chosen for its rate."""
_GROWN = 1.25
"""With so many times more probes, the belief's numbers are sought again."""


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
    taken: list[Sample] = []
    near = [space.nearest(one) for one in priors]
    for purpose, point in _screening(space, control, near, probes, seed):
        taken.append((yield Ask(point=point, purpose=purpose)))
    generator = random.Random(seed)
    belief: Belief | None = None
    sought = since = 0
    often = max(_OFTEN_LEAST, probes // _OFTEN_SHARE)
    while len(taken) < probes:
        if since == _SOUGHT_BETWEEN:
            since = 0
            taken.append((yield Ask(point=control, purpose=Purpose.CONTROL)))
            continue
        seen = seen_of(taken, direction)
        again = len(seen) > _GROWN * sought
        sought = len(seen) if again else sought
        belief = _believed(taken, space, direction, before=belief, sought=again)
        if belief is None:
            break
        counted = Counter(one.point for one in seen)
        best = most_telling(
            belief,
            space,
            len(taken),
            generator,
            besides=near,
            without={one.ask.point for one in taken} - counted.keys(),
            enough={one for one, times in counted.items() if times >= often},
        )
        if best is None:
            break
        since += 1
        purpose = Purpose.RACE if best in counted else Purpose.REFINE
        taken.append((yield Ask(point=best, purpose=purpose)))
    return tuple(taken)


def _screening(
    space: Space, control: Point, priors: Sequence[Point], probes: int, seed: int
) -> list[tuple[Purpose, Point]]:
    count = round(probes * _SCREENED)
    controls = max(3, count // _SCREENED_BETWEEN)
    design = spread_points(space, max(1, count - controls - len(priors)), seed=seed)
    order = [(Purpose.CONTROL, control)]
    for at, point in enumerate(design, start=1):
        order.append((Purpose.SCREEN, point))
        if at % _SCREENED_BETWEEN == 0:
            order.append((Purpose.CONTROL, control))
    return [*order, *((Purpose.SCREEN, one) for one in priors)]


def seen_of(taken: Sequence[Sample], direction: Direction) -> list[Seen]:
    """What counts, in the order in which it was measured."""
    found = []
    for place, sample in enumerate(taken):
        passage = sample.passage(direction)
        if passage is not None and passage.rate > 0:
            found.append(Seen(point=sample.ask.point, log_rate=math.log(passage.rate), place=place))
    return found


def _believed(
    taken: Sequence[Sample],
    space: Space,
    direction: Direction,
    *,
    before: Belief | None = None,
    sought: bool = True,
) -> Belief | None:
    """None: too little was measured. `before`: what was believed with fewer samples."""
    seen = seen_of(taken, direction)
    if len({one.point for one in seen}) < _POINTS_LEAST:
        return None
    if before is not None:
        return further(before, seen, space, sought=sought)
    drift = drift_of(taken, direction)
    return first_belief(seen, space, targets=_targets(space), drift=drift)


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
    belief = _believed(taken, space, direction)
    for _ in range(_SETTLED):
        belief = belief and _believed(taken, space, direction, before=belief)
    if belief is None:
        return None
    seen = seen_of(taken, direction)
    drift = [belief.drift(place) for place in range(len(taken))]
    surface = fit(shifted(seen, drift), space, targets=_targets(space))
    passages = [
        (one.ask.point.processes, passage)
        for one in taken
        if (passage := one.passage(direction)) is not None
    ]
    response = Response(
        direction=direction,
        surface=surface,
        opening=fit_storm([(n, one.seconds_open) for n, one in passages]),
        closing=fit_storm([(n, one.seconds_close) for n, one in passages]),
    )
    best = max(dict.fromkeys([control, *(one.point for one in seen)]), key=belief.mean)
    gain, low, high = _gain(belief, best, control)
    if not surface.has_structure and low <= 1.0:
        best, gain, low, high = control, 1.0, 1.0, 1.0
    return Choice(
        response=response,
        best=best,
        gain=gain,
        gain_low=low,
        gain_high=high,
        noise=belief.numbers.noise,
        drift=robust_scale(drift) if drift else 0.0,
    )


def _gain(belief: Belief, best: Point, control: Point) -> tuple[float, float, float]:
    """The ratio of rates with an interval that a lucky choice among dozens does not leave."""
    if best == control:
        return 1.0, 1.0, 1.0
    one, other = belief.view(best), belief.view(control)
    gain = one.mean - other.mean
    variance = one.variance + other.variance - 2 * belief.covariance(one, other)
    off = _DEVIATIONS * math.sqrt(max(variance, 0.0))
    return math.exp(gain), math.exp(gain - off), math.exp(gain + off)
