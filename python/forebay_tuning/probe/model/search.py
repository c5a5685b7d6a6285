"""The order of probing, as a generator: `search` yields the next probe and is sent its result.

It screens with a Latin hypercube in random order, then probes the most informative point, one after
the other, and at the end races the best point and its rival. Control probes come in between, which
show the drift: what all probes of a time have in common."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Sequence
from statistics import median

import numpy as np

from forebay.common.model.newer_python import pairwise, zip_of
from forebay_tuning.model.point import Direction, Point, Space, spread_points
from forebay_tuning.model.response import Response, Seen, fit_storm, shifted
from forebay_tuning.model.robust import robust_scale
from forebay_tuning.model.sample import Choice, NextProbe, Purpose, Sample
from forebay_tuning.probe.model.acquisition import most_contested, most_telling
from forebay_tuning.probe.model.belief import Belief, first_belief, further
from forebay_tuning.probe.model.fitting import fit
from forebay_tuning.probe.model.grid import ProbeGrid, grid_of

_SCREENED = 0.36
"""The share of probes that screen."""
_SCREENED_BETWEEN = 8
"""Screening probes between two control probes."""
_SOUGHT_BETWEEN = 9
"""Probes after the screening between two control probes."""
POINTS_LEAST = 6
"""The number of different points that have to count before there is a belief."""
_SETTLED = 2
"""How many more times the final belief is updated, with all probes."""
_RACED = 0.1
"""The share of probes at the end that race the best points."""
_DEVIATIONS = 3
"""Standard deviations in a gain's interval. Two would do for a point that was not chosen for its
rate; the best of many is biased."""
_GROWN = 1.25
"""The hyperparameters are optimised again once there are this many times as many probes."""

Conversation = Generator[NextProbe, Sample, tuple[Sample, ...]]


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
        taken.append((yield NextProbe(point=point, purpose=purpose)))
    grid = grid_of(space)
    generator = np.random.default_rng(seed)
    belief: Belief | None = None
    sought = since = 0
    while len(taken) < probes:
        if since == _SOUGHT_BETWEEN:
            since = 0
            taken.append((yield NextProbe(point=control, purpose=Purpose.CONTROL)))
            continue
        seen = seen_of(taken, direction)
        again = len(seen) > _GROWN * sought
        sought = len(seen) if again else sought
        belief = _believed(taken, grid, direction, before=belief, sought=again)
        if belief is None:
            break
        counted = Counter(one.point for one in seen)
        failed = {one.ask.point for one in taken} - counted.keys()
        best: Point | None
        if probes - len(taken) <= round(_RACED * probes):
            best = most_contested(belief, len(taken), times=counted, besides=near, without=failed)
        else:
            best = most_telling(belief, len(taken), generator, besides=near, without=failed)
        if best is None:
            break
        since += 1
        purpose = Purpose.RACE if best in counted else Purpose.REFINE
        taken.append((yield NextProbe(point=best, purpose=purpose)))
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
    """The samples that count, in the order in which they were measured."""
    found = []
    for place, sample in enumerate(taken):
        passage = sample.passage(direction)
        if sample.ask.purpose is Purpose.SUSTAIN:
            continue
        if passage is not None and passage.rate > 0:
            found.append(Seen(point=sample.ask.point, log_rate=math.log(passage.rate), place=place))
    return found


def _believed(
    taken: Sequence[Sample],
    grid: ProbeGrid,
    direction: Direction,
    *,
    before: Belief | None = None,
    sought: bool = True,
) -> Belief | None:
    """The belief from all samples, or None if too few count. `before` is the belief from fewer."""
    seen = seen_of(taken, direction)
    if len({one.point for one in seen}) < POINTS_LEAST:
        return None
    if before is not None:
        return further(before, seen, sought=sought)
    return first_belief(seen, grid, drift=drift_of(taken, direction))


def drift_of(taken: Sequence[Sample], direction: Direction) -> list[float]:
    """The drift at each sample by the control probes alone: a running median of three, linearly
    interpolated."""
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
    for (left, a), (right, b) in pairwise(zip_of(at, values, strict=True)):
        if place <= right:
            return a + (b - a) * (place - left) / (right - left)
    return values[-1]


def conclude(
    taken: Sequence[Sample], space: Space, *, control: Point, direction: Direction
) -> Choice | None:
    """The result of all samples of a direction; None if too few of them count."""
    grid = grid_of(space)
    belief = _believed(taken, grid, direction)
    for _ in range(_SETTLED):
        belief = belief and _believed(taken, grid, direction, before=belief)
    if belief is None:
        return None
    seen = seen_of(taken, direction)
    drift = [belief.drift(place) for place in range(len(taken))]
    surface = fit(shifted(seen, drift), space, targets=grid.targets)
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
    probed = list(dict.fromkeys([control, *(one.point for one in seen)]))
    best = probed[int(np.argmax(belief.means()[grid.places(probed)]))]
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
    """The ratio of rates, with an interval wide enough for the best of dozens of points."""
    if best == control:
        return 1.0, 1.0, 1.0
    at = belief.grid.places([best, control])
    one, other = belief.means()[at].tolist()
    (own, shared), (_, others) = belief.view(at, 0).covariances.tolist()
    gain = one - other
    off = _DEVIATIONS * math.sqrt(max(own + others - 2 * shared, 0.0))
    return math.exp(gain), math.exp(gain - off), math.exp(gain + off)
