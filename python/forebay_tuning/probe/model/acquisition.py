"""Chooses the most informative probe. Points that may be the best are sampled from the joint belief
(Thompson, *On the Likelihood that One Unknown Probability Exceeds Another in View of the Evidence
of Two Samples*, Biometrika 25, 1933). A probe's value is the variance of the shifts that it causes
between points, each weighted by its probability of being the best. This is the variance in Russo
and Van Roy's information ratio (*Learning to Optimize via Information-Directed Sampling*,
Operations Research 66, 2018) with the roles exchanged: what a probe tells about the best point,
instead of what the best point tells about a probe. It trades off new points against repeated ones
by itself. At the end, the best point and its rival are raced."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from forebay_tuning.model.point import Point
from forebay_tuning.probe.model.belief import Belief, View
from forebay_tuning.probe.model.fitting import Array
from forebay_tuning.probe.model.grid import Places

_LOOKED_AT = 1500
"""The number of points with the highest means whose variances are computed."""
_CANDIDATES = 300
"""Half of them have the highest means, half the highest upper confidence bounds."""
_BOLDNESS = 1.5
"""Standard deviations that are added to the mean in these bounds."""
_DRAWS = 256
_JITTER = 1e-7
"""Added to variances, so that covariances of nearly equal points stay positive definite."""


def most_telling(
    belief: Belief,
    time: int,
    generator: np.random.Generator,
    *,
    besides: Sequence[Point],
    without: Collection[Point],
) -> Point | None:
    """The point whose probe at `time` is most informative. `besides` are additional candidates;
    `without` are points that cannot be probed. Returns None if no point can be."""
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
    rival is the point with the highest probability of being better. This is a top-two rule (Russo,
    *Simple Bayesian Algorithms for Best-Arm Identification*, Operations Research 68, 2020)."""
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
    """The means of all points, and the indices of those that may be the best."""
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
    """The probability of each point to be the best of them, by sampling."""
    lower = np.linalg.cholesky(covariances + _JITTER * np.eye(len(means)))
    draws = means[:, None] + lower @ generator.standard_normal((len(means), _DRAWS))
    best = np.bincount(np.argmax(draws, axis=0), minlength=len(means))
    chances: Array = best / _DRAWS
    return chances


def _worth(view: View, chances: Array) -> Array:
    """The value of a probe of each point."""
    off = view.tilts - chances @ view.tilts
    worth: Array = chances @ off**2
    return worth
