"""Which probe promises most: candidates by what is believed, and what a probe of each would be
worth. That is the knowledge gradient for correlated beliefs (Frazier, Powell and Dayanik, *The
Knowledge-Gradient Policy for Correlated Normal Beliefs*, INFORMS Journal on Computing 21, 2009): by
how much the best mean is expected to rise. It weighs new points against a second look at known
ones by itself, so refinement and race are one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence

from forebay.domain.tuning.belief import Belief, View
from forebay.domain.tuning.point import Point, Space, neighbours

_BEST_STARTS, _OTHER_STARTS = 5, 4
_POOL = 60
"""Points with the highest means, that are looked at closely."""
_CANDIDATES = 24
_BOLDNESS = 1.5
"""Half of the candidates have the highest means with so many of their deviations added."""
_OUTCOMES = (-2.0, -1.2, -0.6, 0.0, 0.6, 1.2, 2.0)
"""Of a probe, in standard deviations; each as likely as a normal distribution has it."""


def most_telling(
    belief: Belief,
    space: Space,
    place: int,
    generator: random.Random,
    *,
    besides: Sequence[Point],
    without: Collection[Point],
    enough: Collection[Point],
) -> Point | None:
    """The point whose probe, at that time, is worth most. `besides`: candidates in any case;
    `without`: those that cannot be probed; `enough`: those that were probed so often that they are
    asked for only if there is no other. None: nothing can be probed."""
    views = _candidates(belief, space, generator, besides, without)
    if not views:
        return None
    drift_row = belief.drift_row(place)
    means = [one.mean for one in views]
    open_ones = [one for one in views if one.point not in enough] or views
    worth = [_worth(means, belief.tilts(one, views, drift_row)) for one in open_ones]
    return open_ones[max(range(len(worth)), key=worth.__getitem__)].point


def _worth(means: Sequence[float], tilts: Sequence[float]) -> float:
    chances = [math.exp(-one * one / 2) for one in _OUTCOMES]
    bests = [
        max(mean + outcome * tilt for mean, tilt in zip(means, tilts, strict=True))
        for outcome in _OUTCOMES
    ]
    return math.fsum(map(math.prod, zip(chances, bests, strict=True))) / math.fsum(chances)


def _candidates(
    belief: Belief,
    space: Space,
    generator: random.Random,
    besides: Sequence[Point],
    without: Collection[Point],
) -> list[View]:
    probed = list(dict.fromkeys(one.point for one in belief.seen))
    ranked = sorted(probed, key=belief.mean, reverse=True)
    others = generator.sample(probed, min(_OTHER_STARTS, len(probed)))
    means = dict(climbed(belief.mean, [*ranked[:_BEST_STARTS], *others], space))
    for one in besides:
        means.setdefault(one, belief.mean(one))
    pool = sorted((one for one in means if one not in without), key=means.__getitem__, reverse=True)
    views = [belief.view(one) for one in pool[:_POOL]]
    half = _CANDIDATES // 2
    bold = sorted(views[half:], key=_optimism, reverse=True)
    return [*views[:half], *bold[:half]]


def _optimism(view: View) -> float:
    return view.mean + _BOLDNESS * math.sqrt(view.variance)


def climbed(
    height: Callable[[Point], float], starts: Sequence[Point], space: Space
) -> Mapping[Point, float]:
    """All points that were met on the ways up from `starts`, and how high they are."""
    heights: dict[Point, float] = {}

    def known(point: Point) -> float:
        if point not in heights:
            heights[point] = height(point)
        return heights[point]

    been: set[Point] = set()
    for start in starts:
        here = start
        known(here)
        while here not in been:
            been.add(here)
            here = max([here, *neighbours(here, space)], key=known)
    return heights
