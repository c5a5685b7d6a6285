"""How far a prediction can be trusted: its interval, and how often such intervals held."""

from __future__ import annotations

import math
from dataclasses import replace

from forebay.common.model.frozen import frozen
from forebay_tuning.model.point import Direction, Point
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.response import Response


@frozen
class Coverage:
    """How often measurements on real file systems were inside intervals that are `factor` times as
    wide as the fit says: `held` of `pairs`. No pair is of a file system whose measurements had a
    part in the factor (python -m evaluation.tuning coverage)."""

    factor: float
    held: int
    pairs: int

    @property
    def text(self) -> str:
        """The coverage in a phrase for users."""
        return (
            f"such intervals held {self.held} of {self.pairs} measurements on other file systems, "
            "of no more bytes than were probed"
        )


MEASURED = Coverage(factor=2.32, held=204, pairs=215)
"""By cross-validation on tmpfs, a disk, a limited disk and CephFS: docs/tuning.md. Intervals as
wide as the fit says covered 135 of them."""

FRESH = Coverage(factor=2.32, held=67, pairs=100)
"""File systems probed anew, and points with up to four times the bytes of any probe among those
that were measured: docs/tuning.md."""


def response_of(portrait: Portrait, direction: Direction, *, files: int = 1) -> Response | None:
    """The portrait's response of one direction for a program with so many files, with intervals as
    wide as predictions of measured portraits were seen to miss; None if it was not probed."""
    response = portrait.response(direction)
    if response is None or portrait.identity.is_modelled:
        return None if response is None else replace(response, files=files)
    return replace(
        response, files=files, widening=MEASURED.factor, probed_bytes=portrait.space.bytes_max
    )


def log_interval(now: Point, best: Point, response: Response) -> float:
    """Half the width of the interval of a gain's logarithm: about 95 % by the fit, more outside the
    probed levels, and widened by the measured coverage of predictions. Where the points have more
    bytes than any probe, and no sustained rate is known, a part of them may move in another way
    than probes did: the logarithm to base 2 of how many times as many they are is added."""
    one, other = response.storage_doubt(now), response.storage_doubt(best)
    beyond = _beyond_levels(now, response) + _beyond_levels(best, response)
    fitted = 2 * math.sqrt(2) * response.surface.doubt + 0.05 * beyond + abs(one - other)
    return response.widening * fitted + _beyond_bytes(response, now, best)


def log_interval_of_seconds(point: Point, response: Response) -> float:
    """As `log_interval`, of the predicted seconds of one point."""
    beyond = 0.05 * _beyond_levels(point, response)
    fitted = 2 * response.surface.doubt + beyond + response.storage_doubt(point)
    return response.widening * fitted + _beyond_bytes(response, point)


def _beyond_levels(point: Point, response: Response) -> float:
    """By how many doublings all coordinates together are outside of the probed levels."""
    beyond = 0.0
    for name, levels in response.surface.space.levels.items():
        value: int = getattr(point, name)
        if name not in ("stripe_bytes", "process_bytes"):
            beyond += max(0.0, math.log2(value / levels[-1]), math.log2(levels[0] / value))
    return beyond


def _beyond_bytes(response: Response, *points: Point) -> float:
    return 0.0 if response.sustained else math.log2(response.times_probed(*points))


def coverage_of(now: Point, best: Point, response: Response) -> str:
    """How often such a prediction was seen to hold, in a phrase for users."""
    return beyond_probes(now, best, response) or MEASURED.text


def beyond_probes(now: Point, best: Point, response: Response) -> str:
    """A phrase for users on a prediction for more bytes than were probed; empty for no more."""
    times = response.times_probed(now, best)
    if times <= 1:
        return ""
    moved = f"{times:.1f}" if times < 10 else f"{times:.0f}"
    return (
        f"this program moves {moved} times what was probed; in a fresh measurement "
        f"{FRESH.held} of {FRESH.pairs} such predictions held"
    )
