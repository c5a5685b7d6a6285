"""Which probe promises most. All points are looked at; those that may be the best are drawn from
what is believed of them together (Thompson, *On the Likelihood that One Unknown Probability Exceeds
Another in View of the Evidence of Two Samples*, Biometrika 25, 1933). What a probe is worth is how
much it tells them apart: the variance of what it moves, each point counting as it is likely to be
the best. It is the variance that Russo and Van Roy divide by (*Learning to Optimize via
Information-Directed Sampling*, Operations Research 66, 2018), turned round: not what the best point
tells of a probe, but what a probe tells of the best point. It weighs new points against a second
look at known ones by itself. At the end the best point and its rivals are raced."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from forebay_tuning.model.point import Point
from forebay_tuning.probe.model.belief import Belief, View
from forebay_tuning.probe.model.fitting import Array
from forebay_tuning.probe.model.grid import Places

_LOOKED_AT = 1500
"""Points with the highest means, whose variances are found."""
_CANDIDATES = 300
_BOLDNESS = 1.5
"""Half of the candidates have the highest means with so many of their deviations added."""
_DRAWS = 256
_JITTER = 1e-7
"""Of a variance: points that are nearly the same are still two."""


def most_telling(
    belief: Belief,
    time: int,
    generator: np.random.Generator,
    *,
    besides: Sequence[Point],
    without: Collection[Point],
) -> Point | None:
    """The point whose probe, at that time, is worth most. `besides`: candidates in any case;
    `without`: those that cannot be probed. None: nothing can be probed."""
    grid = belief.grid
    means, candidates = _contenders(belief, besides=besides, without=without)
    if not len(candidates):
        return None
    view = belief.view(candidates, time)
    chances = _chances(means[candidates], view.covariances, generator)
    return grid.point(int(candidates[np.argmax(_worth(view, chances))]))


def most_contested(
    belief: Belief,
    time: int,
    *,
    times: Mapping[Point, int],
    besides: Sequence[Point],
    without: Collection[Point],
) -> Point | None:
    """The point with the highest mean or its rival, whichever was probed less often (`times`). The
    rival is the one that is likeliest to be better. So the two that matter are raced against each
    other, as top-two sampling does (Russo, *Simple Bayesian Algorithms for Best-Arm
    Identification*, Operations Research 68, 2020)."""
    grid = belief.grid
    means, candidates = _contenders(belief, besides=besides, without=without)
    if not len(candidates):
        return None
    ahead = means[candidates]
    covariances = belief.view(candidates, time).covariances
    first = int(np.argmax(ahead))
    apart = np.diag(covariances) + covariances[first, first] - 2 * covariances[first]
    odds = (ahead - ahead[first]) / np.sqrt(np.maximum(apart, _JITTER))
    odds[first] = -np.inf
    both = [grid.point(int(candidates[at])) for at in (int(np.argmax(odds)), first)]
    return min(both, key=lambda one: times.get(one, 0))


def _contenders(
    belief: Belief, *, besides: Sequence[Point], without: Collection[Point]
) -> tuple[Array, Places]:
    """The means of all points, and the places of those that may be the best."""
    means = belief.means()
    means[belief.grid.places(list(without))] = -np.inf
    return means, _candidates(belief, means, belief.grid.places(besides))


def _candidates(belief: Belief, means: Array, besides: Places) -> Places:
    count = min(_LOOKED_AT, len(means))
    looked_at = np.argpartition(-means, count - 1)[:count]
    looked_at = np.union1d(looked_at, besides)
    looked_at = looked_at[np.isfinite(means[looked_at])]
    bold = means[looked_at] + _BOLDNESS * np.sqrt(belief.variances(looked_at))
    half = _CANDIDATES // 2
    found: Places = np.union1d(
        looked_at[np.argsort(-means[looked_at], kind="stable")[:half]],
        looked_at[np.argsort(-bold, kind="stable")[:half]],
    )
    return found


def _chances(means: Array, covariances: Array, generator: np.random.Generator) -> Array:
    """How likely each one is the best of them."""
    lower = np.linalg.cholesky(covariances + _JITTER * np.eye(len(means)))
    draws = means[:, None] + lower @ generator.standard_normal((len(means), _DRAWS))
    best = np.bincount(np.argmax(draws, axis=0), minlength=len(means))
    chances: Array = best / _DRAWS
    return chances


def _worth(view: View, chances: Array) -> Array:
    """Of a probe of each."""
    off = view.tilts - chances @ view.tilts
    worth: Array = chances @ off**2
    return worth
