"""Fits a response to probes: the physical numbers by the Levenberg-Marquardt method, and a
quadratic surface to the residuals by ridge regression, which shrinks to zero unless the probes ask
for it. Both fits are robust and in logarithms, since real rates are skewed and have stragglers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay_tuning.model.point import Point, Space, scaled
from forebay_tuning.model.response import (
    NAMES,
    Physical,
    PointLoad,
    Seen,
    Surface,
    asked_of,
    features,
)
from forebay_tuning.model.robust import huber, robust_scale

Array = NDArray[np.float64]

LOOSE = {
    "process_rate": 2.0,
    "call_time": 1.5,
    "node_rate": 1.5,
    "target_rate": 2.0,
    "request_time": 1.5,
    "interference_per_stream": 2.0,
    "streams_free": 0.7,
    "system_rate": 1.5,
    "lock_time": 1.5,
}
"""The prior's standard deviation of each number's logarithm around the first guess."""
WIDTHS: Array = np.array([LOOSE[name] for name in NAMES])

_PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e4)
"""The ridge penalties that are tried."""
_PENALTY_CONSTANT = 0.05
"""The penalty of the constant term."""
_LEVERAGE_MOST = 0.95
_MATTERS_LEAST = 0.1
"""The minimum weight of a slow probe."""
_SCALE = 0.2
"""The assumed standard deviation of a probe's logarithmic rate in the fit."""
_STEPS_MOST = 25
_DAMPING_MOST = 1e6
_LOG_MOST = 60.0
"""The bound of a number's logarithm, so that exp does not overflow."""


@frozen
class _LoadTrial:
    """The data: the probes' loads, and the logarithms of their rates."""

    asked: PointLoad[Array]
    logs: Array


def fit(seen: Sequence[Seen], space: Space, *, targets: int) -> Surface:
    """The response fitted to a few probes or more."""
    asked = asked_of_all([one.point for one in seen], targets)
    trial = _LoadTrial(asked=asked, logs=np.array([one.log_rate for one in seen]))
    matters = _matters(trial.logs)
    weights = matters
    guess = logs_of(first_guess(seen, space))
    here = guess
    for _ in range(3):
        here = _descend(here, guess, trial, weights)
        rest = -_missed(here, trial)
        scale = max(robust_scale(rest.tolist()), 0.03)
        middle = float(np.median(rest))
        weights = matters * np.array([huber(one - middle, scale) for one in rest.tolist()])
    places = np.array([features(scaled(one.point, space)) for one in seen])
    left, doubt = _doubt(here, trial, weights, places)
    spread = robust_scale(left.off.tolist())
    total = float(np.average((trial.logs - median(trial.logs.tolist())) ** 2, weights=weights))
    return Surface(
        physical=physical_of(here),
        targets=targets,
        coefficients=tuple(left.coefficients.tolist()),
        space=space,
        spread=max(spread, 1e-3),
        explained=1 - left.missed / total if total > 0 else 0.0,
        doubt=max(spread, 0.01) * math.sqrt(12 / max(12, len(seen))),
        probes=len(seen),
        uncertain=tuple(doubt.tolist()),
    )


def asked_of_all(points: Iterable[Point], targets: int) -> PointLoad[Array]:
    """The loads of these points on a system with `targets` targets."""
    several = [asked_of(one, targets) for one in points]
    return PointLoad(
        together=np.array([one.together for one in several]),
        transfer=np.array([one.transfer for one in several]),
        nodes=np.array([one.nodes for one in several]),
        busy=np.array([one.busy for one in several]),
        request=np.array([one.request for one in several]),
        streams=np.array([one.streams for one in several]),
        locked=np.array([one.locked for one in several]),
        balance=np.array([one.balance for one in several]),
    )


def _matters(logs: Array) -> Array:
    """The weight of each probe. The best point is not among the slow ones, so these count less."""
    top = np.sort(logs)[max(0, math.ceil(len(logs) * 0.95) - 1)]
    found: Array = np.maximum(_MATTERS_LEAST, np.exp(np.minimum(0.0, logs - top)))
    return found


@frozen
class _Rest:
    """A weighted ridge fit to the residuals of the physical part. `off` has the leave-one-out error
    of each probe, `missed` their mean square."""

    coefficients: Array
    off: Array
    missed: float


def _ridge(places: Array, rest: Array, weights: Array, penalty: float) -> _Rest:
    """Minimises Σ w (rest − place·x)² + Σ penalty·x²."""
    penalties = np.full(places.shape[1], penalty + 1e-9)
    penalties[0] = _PENALTY_CONSTANT
    inverse = np.linalg.inv(places.T @ (weights[:, None] * places) + np.diag(penalties))
    found = inverse @ (places.T @ (weights * rest))
    leverage = weights * np.einsum("ij,jk,ik->i", places, inverse, places)
    off = (rest - places @ found) / (1 - np.minimum(leverage, _LEVERAGE_MOST))
    return _Rest(coefficients=found, off=off, missed=float(np.average(off**2, weights=weights)))


def _doubt(here: Array, trial: _LoadTrial, weights: Array, places: Array) -> tuple[_Rest, Array]:
    """The surface with the penalty that predicts best; and the standard error of each physical
    number's logarithm, by the curvature of the cost: a number that no probe depends on has the
    width of its prior."""
    rest = -_missed(here, trial)
    best = _ridge(places, rest, weights, _PENALTIES[0])
    for penalty in _PENALTIES[1:]:
        found = _ridge(places, rest, weights, penalty)
        if found.missed < best.missed * 0.99:
            best = found
    slopes = _slopes(here, trial)
    share = weights / max(robust_scale(best.off.tolist()), 0.02) ** 2
    inverse = np.linalg.inv((slopes * share) @ slopes.T + np.diag(1 / WIDTHS**2))
    return best, np.sqrt(np.diag(inverse))


def first_guess(seen: Sequence[Seen], space: Space) -> Physical:
    """The start of the descent, from the fastest probes per process, node and target."""

    def most(values: list[float]) -> float:
        return sorted(values)[max(0, math.ceil(len(values) * 0.9) - 1)]

    rates = [(one.point, math.exp(one.log_rate)) for one in seen]
    widest = max(space.levels["stripe_count"])
    return Physical(
        process_rate=most([rate / point.processes for point, rate in rates]),
        call_time=2e-5,
        node_rate=most([rate / point.nodes for point, rate in rates]) * 1.2,
        target_rate=most(
            [
                rate / min(widest, point.stripe_count * (1 if point.shared else point.processes))
                for point, rate in rates
            ]
        ),
        request_time=3e-4,
        interference_per_stream=3e-3,
        streams_free=16.0,
        system_rate=most([rate for _, rate in rates]) * 2,
        lock_time=5e-4,
    )


def _descend(start: Array, guess: Array, trial: _LoadTrial, weights: Array) -> Array:
    """The Levenberg-Marquardt method, in the logarithms of the numbers."""
    here, damping = start, 0.1
    missed = _missed(here, trial)
    cost = _cost(missed, weights, here - guess)
    hold = 1 / WIDTHS**2
    for _ in range(_STEPS_MOST):
        slopes = _slopes(here, trial)
        shared = slopes * (weights / _SCALE**2)
        normal = shared @ slopes.T + np.diag(hold)
        normal += np.diag(np.diag(normal)) * damping
        step = np.linalg.solve(normal, -shared @ missed - (here - guess) * hold)
        tried = here + np.clip(step, -1.0, 1.0)
        missed_there = _missed(tried, trial)
        cost_there = _cost(missed_there, weights, tried - guess)
        if cost_there < cost:
            small = cost - cost_there < 1e-3 * cost
            here, missed, cost, damping = tried, missed_there, cost_there, damping / 3
            if small:
                break
        else:
            damping *= 4
            if damping > _DAMPING_MOST:
                break
    return here


def _missed(logs: Array, trial: _LoadTrial) -> Array:
    return np.log(physical_of(logs).rates(trial.asked)) - trial.logs


def _slopes(logs: Array, trial: _LoadTrial) -> Array:
    """The derivatives of the logarithmic rates, a row per number."""
    return np.array(physical_of(logs).slopes(trial.asked))


def _cost(missed: Array, weights: Array, moved: Array) -> float:
    return float(np.sum(weights * (missed / _SCALE) ** 2) + np.sum((moved / WIDTHS) ** 2))


def physical_of(logs: Array) -> Physical:
    """The physical numbers from their logarithms, in the order of NAMES."""
    values = np.exp(np.clip(logs, -_LOG_MOST, _LOG_MOST)).tolist()
    return Physical(**dict(zip_of(NAMES, values, strict=True)))


def logs_of(physical: Physical) -> Array:
    """The logarithms of the physical numbers, in the order of NAMES."""
    return np.log([getattr(physical, name) for name in NAMES])
