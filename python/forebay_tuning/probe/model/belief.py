"""The belief about a system while it is probed: the rate of each point, and its uncertainty.

It is one Gaussian process for all parts of a probe's logarithmic rate: the physical numbers, an
additive function of each coordinate, a local remainder, the drift, and noise. All parts are
inferred jointly, so that each takes account of the uncertainty of the others. The physical numbers
enter the mean, linearised at their present values (Rasmussen and Williams, *Gaussian Processes for
Machine Learning*, 2006, section 2.7), and are updated by Gauss-Newton steps. Sums over single
coordinates: Duvenaud, Nickisch and Rasmussen, *Additive Gaussian Processes*, 2011.

The noise is a mixture: a probe is usual, or something else has slowed it down. The probability of
each kind follows from the prediction of all other probes (leave-one-out: Rasmussen and Williams,
section 5.4.2). A probe then counts with the mixture's mean and variance (Tresp, *Mixtures of
Gaussian Processes*, 2000; Jordan et al., *An Introduction to Variational Methods for Graphical
Models*, 1999)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay_tuning.model.response import Physical, PointLoad, Seen, shifted
from forebay_tuning.probe.model.fitting import (
    WIDTHS,
    Array,
    first_guess,
    fit,
    logs_of,
    physical_of,
)
from forebay_tuning.probe.model.grid import Places, ProbeGrid

_KEPT = 0.9
"""The autocorrelation of the drift from one probe to the next (AR(1))."""
_SLOWED = 0.08
"""The prior share of probes that something else slows down."""
_SLOWER = (0.6, 0.4)
"""Mean and standard deviation of that slowdown, in logarithms."""
_TRUST_LEAST = 1e-4
_STEP_MOST = 0.7
"""The largest step of a physical number's logarithm."""
_ROUNDS_FIRST, _ROUNDS = 6, 3
"""Gauss-Newton steps after a fresh fit, and after one more probe."""
_CUT = 9.0
"""The largest squared deviation (in variances) that a probe contributes when hyperparameters are
judged."""
_FACTORS = (0.5, 0.8, 1.25, 2.0)
"""The factors by which one hyperparameter is changed at a time."""
_NUMBER_LEAST, _NUMBER_MOST = 0.003, 0.8
"""The bounds of all hyperparameters."""


@frozen
class Numbers:
    """The hyperparameters, standard deviations of logarithms: of the additive part of one
    coordinate, of the local part, of the drift, and of the noise. The defaults are their prior
    medians."""

    own: float = 0.06
    local: float = 0.1
    drift: float = 0.15
    noise: float = 0.06

    @property
    def oddness(self) -> float:
        """The negative logarithm of their prior density, up to a constant."""
        usual, widths = Numbers(), (1.0, 1.2, 1.0, 0.7)
        return math.fsum(
            0.5 * (math.log(getattr(self, one.name) / getattr(usual, one.name)) / width) ** 2
            for one, width in zip_of(fields(self), widths, strict=True)
        )


@frozen
class Belief:
    """The posterior after some probes. `at` has the probes' indices in the grid, `times` their
    numbers, `trust` the probability that each was not slowed down, `inverse` the inverse of their
    covariance matrix, `weights` that inverse times the residuals of their logarithmic rates,
    `slopes` a row of derivatives by the physical numbers for each."""

    grid: ProbeGrid
    at: Places
    times: Array
    numbers: Numbers
    physical: Physical
    trust: Array
    inverse: Array
    weights: Array
    slopes: Array

    def means(self) -> Array:
        """The expected logarithmic rates of all points, without drift."""
        numbers = self.numbers
        own, local = self.grid.summed(self.at, self.weights)
        base: Array = np.log(self.physical.rates(self.grid.asked))
        return base + numbers.own**2 * own + numbers.local**2 * local

    def drift(self, time: int) -> float:
        """The expected drift at that time, which all probes of the time share."""
        return float(self._drift_with(time) @ self.weights)

    def variances(self, at: Places) -> Array:
        """The variances of these points' logarithmic rates."""
        slopes = self._slopes(at)
        with_probes = self._with_probes(at, slopes)
        before = np.sum((slopes * WIDTHS) ** 2, axis=1) + self._unseen
        known = np.sum(with_probes @ self.inverse * with_probes, axis=1)
        found: Array = np.maximum(before - known, 1e-8)
        return found

    def view(self, at: Places, time: int) -> View:
        """The joint posterior of a few points, and what a probe of each at that time would tell."""
        numbers = self.numbers
        slopes = self._slopes(at)
        with_probes = self._with_probes(at, slopes)
        known = with_probes @ self.inverse
        own, local = self.grid.alike(at, at)
        before = numbers.own**2 * own + numbers.local**2 * local + _product(slopes, slopes)
        covariances = before - known @ with_probes.T
        drift_seen = self._drift_with(time)
        with_drift = -known @ drift_seen
        drift = max(numbers.drift**2 - float(drift_seen @ self.inverse @ drift_seen), 0.0)
        outcome = np.diag(covariances) + 2 * with_drift + drift + numbers.noise**2
        tilts = (covariances + with_drift[:, None]) / np.sqrt(np.maximum(outcome, 1e-9))
        return View(covariances=covariances, tilts=tilts)

    @property
    def _unseen(self) -> float:
        """A point's prior variance without the physical part."""
        return self.numbers.own**2 * len(self.grid.near) + self.numbers.local**2

    def _slopes(self, at: Places) -> Array:
        return np.array(self.physical.slopes(self.grid.asked_at(at))).T

    def _with_probes(self, at: Places, slopes: Array) -> Array:
        own, local = self.grid.alike(at, self.at)
        numbers = self.numbers
        found: Array = numbers.own**2 * own + numbers.local**2 * local
        return found + _product(slopes, self.slopes)

    def _drift_with(self, time: int) -> Array:
        found: Array = self.numbers.drift**2 * _KEPT ** np.abs(self.times - time)
        return found


@frozen
class View:
    """A few points. `covariances` are those of their logarithmic rates. `tilts[i, j]` is the shift
    of the mean of point i if a probe of point j comes out one standard deviation better than
    expected."""

    covariances: Array
    tilts: Array


@frozen
class _PairTrial:
    """The data: for each probe, its load and logarithmic rate; for each pair of probes, the
    similarity by single coordinates, as a whole, and in time."""

    asked: PointLoad[Array]
    logs: Array
    own: Array
    local: Array
    drift: Array


@frozen
class _Straight:
    """The physical part linearised at the present numbers: a row of slopes for each probe, the
    residuals with respect to the first guess along these slopes, and the resulting covariances."""

    slopes: Array
    rest: Array
    wide: Array


@frozen
class _Heard:
    """The probes under the mixture of noise: `above` is the mean slowdown that is added back,
    `variances` are the noise variances, `odds` is the mixture's term of the log-likelihood."""

    above: Array
    variances: Array
    odds: float


def first_belief(seen: Sequence[Seen], grid: ProbeGrid, *, drift: Sequence[float]) -> Belief:
    """The belief from probes alone. `drift` is an estimate of the drift at each probe."""
    start = fit(shifted(seen, drift), grid.space, targets=grid.targets).physical
    nothing = np.zeros(0)
    empty = Belief(
        grid=grid,
        at=np.zeros(0, dtype=np.intp),
        times=nothing,
        numbers=Numbers(),
        physical=start,
        trust=nothing,
        inverse=nothing,
        weights=nothing,
        slopes=nothing,
    )
    return _settle(empty, seen, rounds=_ROUNDS_FIRST, sought=True)


def further(before: Belief, seen: Sequence[Seen], *, sought: bool) -> Belief:
    """The belief with additional probes, which come after the old ones. If `sought`, the
    hyperparameters are optimised again, too."""
    return _settle(before, seen, rounds=_ROUNDS, sought=sought)


def _settle(before: Belief, seen: Sequence[Seen], *, rounds: int, sought: bool) -> Belief:
    grid, numbers = before.grid, before.numbers
    at = grid.places([one.point for one in seen])
    times = np.array([float(one.place) for one in seen])
    trial = _trial(grid, at, times, seen)
    here, origin = logs_of(before.physical), logs_of(first_guess(seen, grid.space))
    trust = np.concatenate([before.trust, np.ones(len(seen) - len(before.trust))])
    for left in reversed(range(rounds)):
        straight = _straighten(here, origin, trial)
        if sought and left <= 1:
            numbers = _likeliest(trial, straight, trust, numbers)
        heard = _heard(trust, numbers)
        covariance = _covariance(trial, straight, heard, numbers)
        inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
        weights = inverse @ (straight.rest + heard.above)
        wanted = origin + WIDTHS**2 * (weights @ straight.slopes)
        here = here + np.clip(wanted - here, -_STEP_MOST, _STEP_MOST)
        if left:
            trust = _trusted(weights, np.diag(inverse), heard, numbers)
    return Belief(
        grid=grid,
        at=at,
        times=times,
        numbers=numbers,
        physical=physical_of(here),
        trust=trust,
        inverse=inverse,
        weights=weights,
        slopes=straight.slopes,
    )


def _trial(grid: ProbeGrid, at: Places, times: Array, seen: Sequence[Seen]) -> _PairTrial:
    own, local = grid.alike(at, at)
    return _PairTrial(
        asked=grid.asked_at(at),
        logs=np.array([one.log_rate for one in seen]),
        own=own,
        local=local,
        drift=_KEPT ** np.abs(times[:, None] - times[None, :]),
    )


def _straighten(here: Array, origin: Array, trial: _PairTrial) -> _Straight:
    physical = physical_of(here)
    slopes = np.array(physical.slopes(trial.asked)).T
    rest = trial.logs - np.log(physical.rates(trial.asked)) + slopes @ (here - origin)
    return _Straight(slopes=slopes, rest=rest, wide=_product(slopes, slopes))


def _product(some: Array, others: Array) -> Array:
    """The covariances between points with these slopes that the physical numbers cause."""
    return some * WIDTHS**2 @ others.T


def _covariance(trial: _PairTrial, straight: _Straight, heard: _Heard, numbers: Numbers) -> Array:
    """The covariance matrix of the probes."""
    return (
        straight.wide
        + numbers.own**2 * trial.own
        + numbers.local**2 * trial.local
        + numbers.drift**2 * trial.drift
        + np.diag(heard.variances)
    )


def _heard(trust: Array, numbers: Numbers) -> _Heard:
    noise = numbers.noise**2
    slower, by = _SLOWER
    wide = noise + by**2
    usual, slowed = trust / noise, (1 - trust) / wide
    both = usual + slowed
    odds = trust * math.log(noise) + (1 - trust) * math.log(wide) + np.log(both)
    odds += usual * slowed / both * slower**2
    return _Heard(above=slower * slowed / both, variances=1 / both, odds=-0.5 * float(odds.sum()))


def _trusted(weights: Array, diagonal: Array, heard: _Heard, numbers: Numbers) -> Array:
    """The probability that each probe was not slowed down by something else, from the leave-one-out
    predictions. `diagonal` is that of the covariance's inverse."""
    off = weights / diagonal - heard.above
    usual = np.maximum(1 / diagonal - heard.variances, 0.0) + numbers.noise**2
    slower, by = _SLOWER
    wide = usual + by**2
    odds = math.log(_SLOWED / (1 - _SLOWED)) + 0.5 * (
        off**2 / usual - (off + slower) ** 2 / wide + np.log(usual / wide)
    )
    trust = 1 / (1 + np.exp(np.clip(odds, -50.0, 50.0)))
    faster: Array = np.where(off > 0, 1 - _SLOWED, 0.0)
    return np.maximum(np.maximum(trust, faster), _TRUST_LEAST)


def _likeliest(trial: _PairTrial, straight: _Straight, trust: Array, start: Numbers) -> Numbers:
    """The hyperparameters with the largest posterior density, by coordinate-wise steps."""

    def likelihood(numbers: Numbers) -> float:
        heard = _heard(trust, numbers)
        lower = np.linalg.cholesky(_covariance(trial, straight, heard, numbers))
        off = np.linalg.solve(lower, straight.rest + heard.above)
        missed = np.minimum(off**2, _CUT) / 2 + np.log(np.diag(lower))
        return heard.odds - numbers.oddness - float(missed.sum())

    best, most = start, likelihood(start)
    for one in fields(Numbers):
        for factor in _FACTORS:
            while True:
                value = getattr(best, one.name) * factor
                if not _NUMBER_LEAST <= value <= _NUMBER_MOST:
                    break
                tried = replace(best, **{one.name: value})
                found = likelihood(tried)
                if found <= most:
                    break
                best, most = tried, found
    return best
