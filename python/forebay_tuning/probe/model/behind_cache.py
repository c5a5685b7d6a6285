"""Checks by long passages a choice that was made by short ones. Where a cache takes in the short
ones, the fit is of those that the cache took in, longer ones move at the rate of the storage behind
it, and a gain counts only if a long passage has it, too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from forebay_tuning.model.point import Direction, Point, changed
from forebay_tuning.model.response import Surface, shifted, used_targets
from forebay_tuning.model.sample import Choice, Sample
from forebay_tuning.model.sustained import Moved, Sustained, joined, sustained_of, with_taken_in
from forebay_tuning.probe.model.fitting import fit
from forebay_tuning.probe.model.search import POINTS_LEAST, drift_of, seen_of

_BY_STORAGE = 0.5
"""The share of a passage's time in which the storage was at work, from which on the passage is not
counted as one of the cache."""


def with_long_passages(
    choice: Choice,
    taken: Sequence[Sample],
    long: Sequence[Sample],
    *,
    control: Point,
    targets: int,
) -> Choice:
    """The choice with the sustained rate by the long passages; where there is a cache, with a fit
    without the short passages in which the storage was at work, and with the long passages' gain.
    `control` has the default settings."""
    direction = choice.response.direction
    default, best = (
        sustained_by(one, targets, taken, long, direction) for one in (control, choice.best)
    )
    found = joined(default, None if _alike(choice.best, control) else best)
    if found is None or not found.is_cached:
        response = replace(choice.response, sustained=found)
        return replace(choice, response=response)
    found = with_taken_in(
        found, [(moved, used_targets(point, targets)) for point, moved in _moved(taken, direction)]
    )
    surface = _of_cache(taken, found, direction, choice.response.surface)
    response = replace(choice.response, sustained=found, surface=surface)
    return _with_gain(replace(choice, response=response), long, control)


def sustained_by(
    control: Point,
    targets: int,
    taken: Sequence[Sample],
    long: Sequence[Sample],
    direction: Direction,
) -> Sustained | None:
    """The sustained rate of a point's settings, by their long passages and their short ones."""
    return sustained_of(
        [moved for point, moved in _moved(taken, direction) if point == control],
        [moved for point, moved in _moved(long, direction) if _alike(point, control)],
        targets=used_targets(control, targets),
        alike=[
            moved for point, moved in _moved(taken, direction) if _differs_in_size(point, control)
        ],
    )


def _moved(samples: Sequence[Sample], direction: Direction) -> list[tuple[Point, Moved]]:
    return [
        (one.ask.point, Moved(bytes=count, seconds=count / passage.rate))
        for one in samples
        if (passage := one.passage(direction)) is not None and passage.rate > 0
        for count in [passage.bytes or one.ask.point.bytes]
    ]


def _alike(point: Point, other: Point) -> bool:
    """Whether the points differ in the number of bytes at most."""
    return changed(point, {"process_bytes": other.process_bytes}) == other


def _differs_in_size(point: Point, control: Point) -> bool:
    """Whether the point differs from the control point in size only, not in anything else that
    affects its rate."""
    size = {"process_bytes": control.process_bytes, "transfer_bytes": control.transfer_bytes}
    return point != control and changed(point, size) == control


def _of_cache(
    taken: Sequence[Sample], found: Sustained, direction: Direction, whole: Surface
) -> Surface:
    """The fit to the passages that the cache took in; to all, if these are too few."""
    drift = drift_of(taken, direction)
    kept = []
    for one in shifted(seen_of(taken, direction), drift):
        seconds = one.point.bytes / math.exp(one.log_rate)
        stored = found.seconds(one.point.bytes, used_targets(one.point, whole.targets))
        if stored < _BY_STORAGE * seconds:
            kept.append(one)
    if len({one.point for one in kept}) < POINTS_LEAST:
        return whole
    return fit(kept, whole.space, targets=whole.targets)


def _with_gain(choice: Choice, long: Sequence[Sample], control: Point) -> Choice:
    """The choice with the gain of the longest passages; the default, if they show none."""
    moved = _moved(long, choice.response.direction)
    most = max((one.bytes for _, one in moved), default=0)
    own, others = (
        [one.rate for point, one in moved if _alike(point, like) and 2 * one.bytes > most]
        for like in (choice.best, control)
    )
    found = choice.response.sustained
    assert found is not None
    gain = median(own) / median(others) if own and others else 1.0
    # The rate of the storage is in both of them, with its range.
    doubt = math.sqrt(found.high / found.low) if own and others else 1.0
    if gain / doubt <= 1.0:
        return replace(choice, best=control, gain=1.0, gain_low=1.0, gain_high=1.0)
    return replace(choice, gain=gain, gain_low=gain / doubt, gain_high=gain * doubt)
