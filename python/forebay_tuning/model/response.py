"""A fitted response: the predicted rate of every point. It is a physical model (the soft minimum of
what processes, nodes, targets and the whole system can carry) times a quadratic surface in the
logarithms for the rest. `fitting` finds both from probes. Single points are evaluated without
numpy, which is slow to import, and arrays of points with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import mul
from typing import TYPE_CHECKING, Generic, TypeVar

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay_tuning.model.metadata import FileRate, files_a_second
from forebay_tuning.model.modelled import SOFTNESS, balance, lock_share
from forebay_tuning.model.point import Direction, Point, Space, scaled
from forebay_tuning.model.robust import huber, robust_scale
from forebay_tuning.model.sustained import Sustained

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Real = TypeVar("Real", float, "NDArray[np.float64]")
"""The value of one point, or an array for many points."""

LOCK_TIME_LEAST = 1e-9
"""Seconds, if nothing is known about locks. Not 0, since numbers are fitted as logarithms."""
_STRUCTURE_LEAST = 0.3
"""The share of the variance of unseen probes (Q²) that a fit has to explain; with less, the
direction has no structure."""


@frozen
class Seen:
    """A probe's logarithmic transfer rate without drift; `place` is its number in time."""

    point: Point
    log_rate: float
    place: int


@frozen
class PointLoad(Generic[Real]):
    """The load of a point on a system. `together`: bytes of one call of all processes; `busy`:
    bytes that targets move at a time; `streams`: requests at each target; `locked`: the share of
    requests whose stripe is locked by another client; `balance`: the share of the targets' rate
    that is used if files fall on targets by chance."""

    together: Real
    transfer: Real
    nodes: Real
    busy: Real
    request: Real
    streams: Real
    locked: Real
    balance: Real


def used_targets(point: Point, targets: int) -> int:
    """The number of targets, out of `targets`, that the point's files lie on."""
    count = min(point.stripe_count, targets)
    return count if point.shared else min(targets, point.processes * count)


def asked_of(point: Point, targets: int) -> PointLoad[float]:
    """The load of a point on a system with `targets` targets."""
    count = min(point.stripe_count, targets)
    width = min(count, max(1, math.ceil(point.transfer_bytes / point.stripe_bytes)))
    used = used_targets(point, targets)
    request = min(point.transfer_bytes, point.stripe_bytes)
    on_node = math.ceil(point.processes / point.nodes)
    streams = point.processes * width / used
    return PointLoad(
        together=float(point.nodes * on_node * point.transfer_bytes),
        transfer=float(point.transfer_bytes),
        nodes=float(point.nodes),
        busy=float(min(used, point.processes * width) * request),
        request=float(request),
        streams=streams,
        locked=lock_share(point, streams) if point.shared else 0.0,
        balance=balance(point, targets, used),
    )


@frozen
class Physical:
    """The physical model's numbers: rates in bytes per second, times in seconds."""

    process_rate: float
    call_time: float
    node_rate: float
    target_rate: float
    request_time: float
    interference_per_stream: float
    streams_free: float
    system_rate: float
    lock_time: float = LOCK_TIME_LEAST

    def rate(self, point: Point, targets: int) -> float:
        """Bytes per second of all processes together."""
        return self.rates(asked_of(point, targets))

    def rates(self, asked: PointLoad[Real]) -> Real:
        """The same from loads, of one point or many: the soft minimum of the limits."""
        processes, nodes, targets, system = self._seconds(asked)
        total: Real = processes**SOFTNESS + nodes**SOFTNESS + targets**SOFTNESS + system**SOFTNESS
        softly: Real = total ** (-1 / SOFTNESS)
        return softly

    def limits(self, point: Point, targets: int) -> dict[str, float]:
        """The rate that each part could carry if all others were unlimited."""
        seconds = self._seconds(asked_of(point, targets))
        names = ("processes", "nodes", "targets", "system")
        return {name: 1 / one for name, one in zip_of(names, seconds, strict=True)}

    def slopes(self, asked: PointLoad[Real]) -> tuple[Real, ...]:
        """The derivatives of the rate's logarithm by the logarithms of the numbers, in the order of
        NAMES. Limits that are close to each other share them."""
        seconds = self._seconds(asked)
        powers = [one**SOFTNESS for one in seconds]
        total = powers[0] + powers[1] + powers[2] + powers[3]
        processes, nodes, targets, system = (one / total for one in powers)
        copying = asked.transfer / self.process_rate
        called = self.call_time / (copying + self.call_time)
        moving, crowded = self._moving(asked)
        locked = asked.locked * self.lock_time
        service = self.request_time + moving + crowded + locked
        free = moving * self.interference_per_stream * self.streams_free * (crowded > 0)
        return (
            processes * (1 - called),
            -processes * called,
            nodes,
            targets * (moving + crowded) / service,
            -targets * self.request_time / service,
            -targets * crowded / service,
            targets * free / service,
            system,
            -targets * locked / service,
        )

    def _seconds(self, asked: PointLoad[Real]) -> tuple[Real, Real, Real, Real]:
        """Seconds per byte if only the processes, nodes, targets or system were a limit."""
        moving, crowded = self._moving(asked)
        service = self.request_time + moving + crowded + asked.locked * self.lock_time
        return (
            (asked.transfer / self.process_rate + self.call_time) / asked.together,
            1 / (asked.nodes * self.node_rate),
            service / (asked.busy * asked.balance),
            1 / (asked.nodes * 0 + self.system_rate),
        )

    def _moving(self, asked: PointLoad[Real]) -> tuple[Real, Real]:
        """Seconds of a request's bytes at a target, and the additional seconds that other streams
        there cost it."""
        moving = asked.request / self.target_rate
        beyond = (asked.streams - self.streams_free) * (asked.streams > self.streams_free)
        return moving, moving * self.interference_per_stream * beyond


NAMES = tuple(Physical.__dataclass_fields__)


@frozen
class Surface:
    """A fitted response. `spread` is the standard deviation of single probes around it, in
    logarithms; `explained` is Q², by leave-one-out; `doubt` is the typical error of a prediction;
    `uncertain` has the standard error of each physical number's logarithm."""

    physical: Physical
    targets: int
    coefficients: tuple[float, ...]
    space: Space
    spread: float
    explained: float
    doubt: float
    probes: int
    uncertain: tuple[float, ...] = ()

    def is_identified(self, name: str) -> bool:
        """Whether the probes determine this physical number, and not only its prior: the 95 %
        interval is within a factor of three in both directions."""
        by_name = dict(zip(NAMES, self.uncertain))
        return 2 * by_name.get(name, 0.0) <= math.log(3)

    def interval(self, name: str) -> tuple[float, float]:
        """The 95 % interval of a physical number."""
        off = dict(zip(NAMES, self.uncertain)).get(name, 0.0)
        value: float = getattr(self.physical, name)
        return value * math.exp(-2 * off), value * math.exp(2 * off)

    @property
    def has_structure(self) -> bool:
        """Whether the fit predicts better than a constant."""
        return self.explained >= _STRUCTURE_LEAST

    def log_rate(self, point: Point) -> float:
        """The natural logarithm of bytes per second."""
        base = math.log(self.physical.rate(point, self.targets))
        return base + self._rest(point)

    def rate(self, point: Point) -> float:
        """Bytes per second while bytes move."""
        return math.exp(self.log_rate(point))

    def _rest(self, point: Point) -> float:
        if not any(self.coefficients):
            return 0.0
        inside = tuple(max(-1.2, min(1.2, one)) for one in scaled(point, self.space))
        return math.fsum(map(mul, features(inside), self.coefficients))


def features(place: Sequence[float]) -> tuple[float, ...]:
    """The quadratic features: 1, each coordinate, its square, and each product of two."""
    squares = [one * one for one in place[:-1]]
    crossed = [a * b for at, a in enumerate(place) for b in place[:at]]
    return (1.0, *place, *squares, *crossed)


@frozen
class Storm:
    """Opening or closing by many processes at once: seconds = base + each · processes ^ power."""

    base: float
    each: float
    power: float

    def seconds(self, processes: int) -> float:
        """Seconds until the last of `processes` processes is done."""
        return self.base + self.each * float(processes**self.power)


def fit_storm(seconds: Sequence[tuple[int, float]]) -> Storm:
    """Fits a storm to pairs of processes and seconds. The power is one of seven; base and each are
    fitted to relative errors by iteratively reweighted least squares (Huber)."""
    known = [(float(processes), one) for processes, one in seconds if one > 0]
    if not known:
        return Storm(base=0.0, each=0.0, power=1.0)
    best: tuple[float, Storm] | None = None
    for power in (0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0):
        weights = [1.0] * len(known)
        storm = Storm(base=0.0, each=0.0, power=power)
        for _ in range(4):
            storm = _fit_power(known, weights, power)
            off = [_off(storm, processes, one) for processes, one in known]
            weights = [huber(one, max(robust_scale(off), 0.02)) for one in off]
        missed = math.fsum(min(1.0, abs(_off(storm, n, one))) for n, one in known)
        if best is None or missed < best[0] - 1e-9:
            best = (missed, storm)
    assert best is not None
    return best[1]


def _off(storm: Storm, processes: float, seconds: float) -> float:
    return (storm.base + storm.each * float(processes**storm.power)) / seconds - 1


def _fit_power(
    known: Sequence[tuple[float, float]], weights: Sequence[float], power: float
) -> Storm:
    """Weighted least squares of relative errors; both coefficients are at least zero."""
    rows = [
        (1 / one, processes**power / one, w)
        for (processes, one), w in zip_of(known, weights, strict=True)
    ]
    aa = math.fsum(w * a * a for a, _, w in rows)
    ab = math.fsum(w * a * b for a, b, w in rows)
    bb = math.fsum(w * b * b for _, b, w in rows)
    ra = math.fsum(w * a for a, _, w in rows)
    rb = math.fsum(w * b for _, b, w in rows)
    determinant = aa * bb - ab * ab
    if determinant > 1e-9 * aa * bb:
        base = (ra * bb - rb * ab) / determinant
        each = (rb * aa - ra * ab) / determinant
        if base >= 0 and each >= 0:
            return Storm(base=base, each=each, power=power)
        if base < 0:
            return Storm(base=0.0, each=rb / bb, power=power)
    return Storm(base=ra / aa, each=0.0, power=power)


@frozen
class Response:
    """The response of one direction: the surface, and the cost of opening and closing."""

    direction: Direction
    surface: Surface
    opening: Storm
    closing: Storm
    files: int = 1
    """The number of files: if each belongs to one process, and there are more than processes, they
    are opened and closed one after another."""
    file_rates: tuple[FileRate, ...] = ()
    """Files a second that the file system creates or opens; empty if it was not measured."""
    widening: float = 1.0
    """The factor on predicted intervals, from the measured coverage on other systems."""
    sustained: Sustained | None = None
    """The sustained rate by long passages; None if there were none, or they do not determine it."""
    probed_bytes: int | None = None
    """Bytes of the largest probe; None if it is not to be doubted what larger programs do, as in a
    model, which has no cache that they fill."""

    def seconds(self, point: Point) -> float:
        """Seconds until the last process has closed its file."""
        return self.seconds_files(point) + self.seconds_moving(point)

    def seconds_files(self, point: Point) -> float:
        """Seconds of creating or opening the files, and of closing them: as long as the storms of
        all processes take, but no less than the rate of files allows. A shared file is created by
        one process."""
        around = self.opening.seconds(point.processes) + self.closing.seconds(point.processes)
        creating = 1 if point.shared else point.processes
        if not point.shared:
            around *= math.ceil(self.files / point.processes)
        if not self.file_rates:
            return around
        files = max(self.files, creating)
        return max(around, files / files_a_second(self.file_rates, creating))

    def seconds_moving(self, point: Point) -> float:
        """Seconds while bytes move. If a cache took in the short probes, bytes beyond its size move
        at the rate of the storage behind it."""
        moving = point.bytes / self.surface.rate(point)
        if self.sustained is None or not self.sustained.is_cached:
            return moving
        used = used_targets(point, self.surface.targets)
        return max(moving, self.sustained.seconds(point.bytes, used))

    def storage_doubt(self, point: Point) -> float:
        """The doubt about the storage behind a cache, as half the width of an interval of the
        logarithm of `seconds`: 0 if the cache takes in the point's bytes, or there is none."""
        found = self.sustained
        if found is None or not found.is_cached:
            return 0.0
        used = used_targets(point, self.surface.targets)
        if found.seconds(point.bytes, used) < self.seconds_moving(point):
            return 0.0
        return found.log_doubt(point.bytes, used)

    def times_probed(self, *points: Point) -> float:
        """How many times the bytes of the largest probe the largest of `points` has, at least 1."""
        if self.probed_bytes is None:
            return 1.0
        return max(1.0, *(one.bytes / self.probed_bytes for one in points))

    def rate(self, point: Point) -> float:
        """Bytes per second, including opening and closing."""
        return point.bytes / self.seconds(point)


def shifted(seen: Sequence[Seen], drift: Sequence[float]) -> list[Seen]:
    """The probes without the drift at the place of each."""
    return [replace(one, log_rate=one.log_rate - drift[one.place]) for one in seen]
