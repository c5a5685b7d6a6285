"""How a system responds: a rate for every point, fitted to probes. First the physical part, the
least of what clients, nodes, targets and the system as a whole can carry; then what it leaves, as
a quadratic surface that shrinks to nothing where the probes do not ask for it. Both are fitted
robustly, in logarithms, since real rates are skewed and have stragglers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from forebay.domain.frozen import frozen
from forebay.domain.tuning.algebra import Matrix, cholesky, dot, huber, ridge, robust_scale, solve
from forebay.domain.tuning.modelled import SOFTNESS, softly_least
from forebay.domain.tuning.point import Direction, Point, Space, scaled

_PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e4)
_MATTERS_LEAST = 0.1
_STRUCTURE_LEAST = 0.3
"""Of the variance that a fit has to explain of probes that it has not seen (Q²), or there is no
structure to be found."""


@frozen
class Seen:
    """A probe's logarithmic rate while moving bytes, with drift taken out; `place`: its number."""

    point: Point
    log_rate: float
    place: int


@frozen
class Physical:
    """What limits a rate; bytes per second and seconds."""

    process_rate: float
    call_time: float
    node_rate: float
    target_rate: float
    request_time: float
    interference_per_stream: float
    streams_free: float
    system_rate: float

    def rate(self, point: Point, targets: int) -> float:
        """Bytes per second of all processes together."""
        return softly_least(tuple(self.limits(point, targets).values()))

    def limits(self, point: Point, targets: int) -> dict[str, float]:
        """What each part could carry if the others were without limits."""
        busy, request, streams = _asked_of_targets(point, targets)
        beyond = max(0.0, streams - self.streams_free)
        service = self.request_time + request / self.target_rate * (
            1 + self.interference_per_stream * beyond
        )
        alone = point.transfer_bytes / self.process_rate + self.call_time
        on_node = math.ceil(point.processes / point.nodes)
        return {
            "processes": point.nodes * on_node * point.transfer_bytes / alone,
            "nodes": point.nodes * self.node_rate,
            "targets": busy * request / service,
            "system": self.system_rate,
        }

    def slopes(self, point: Point, targets: int) -> list[float]:
        """The derivatives of the rate's logarithm by the logarithms of the numbers, in the order of
        NAMES. Where several limits are near each other, they share them."""
        limits = self.limits(point, targets)
        least = min(limits.values())
        parts = {name: (least / one) ** SOFTNESS for name, one in limits.items()}
        total = math.fsum(parts.values())
        processes, nodes, at_targets, system = (one / total for one in parts.values())
        copying = point.transfer_bytes / self.process_rate
        called = self.call_time / (copying + self.call_time)
        _, request, streams = _asked_of_targets(point, targets)
        moving = request / self.target_rate
        crowded = moving * self.interference_per_stream * max(0.0, streams - self.streams_free)
        service = self.request_time + moving + crowded
        free = moving * self.interference_per_stream * self.streams_free if crowded > 0 else 0.0
        return [
            processes * (1 - called),
            -processes * called,
            nodes,
            at_targets * (moving + crowded) / service,
            -at_targets * self.request_time / service,
            -at_targets * crowded / service,
            at_targets * free / service,
            system,
        ]


NAMES = tuple(Physical.__dataclass_fields__)


def _asked_of_targets(point: Point, targets: int) -> tuple[int, int, float]:
    """How many targets are busy, the bytes of a request, and streams at each target."""
    count = min(point.stripe_count, targets)
    width = min(count, max(1, math.ceil(point.transfer_bytes / point.stripe_bytes)))
    used = count if point.shared else min(targets, point.processes * count)
    busy = min(used, point.processes * width)
    request = min(point.transfer_bytes, point.stripe_bytes)
    return busy, request, point.processes * width / used


@frozen
class Surface:
    """A fitted response. `spread`: of single probes around it, as a share of the logarithm;
    `explained`: Q², of probes left out of the fit one by one; `doubt`: how far a prediction is
    off, typically; `uncertain`: the standard error of each physical number's logarithm."""

    physical: Physical
    targets: int
    coefficients: tuple[float, ...]
    space: Space
    spread: float
    explained: float
    doubt: float
    probes: int
    uncertain: tuple[float, ...] = ()

    @property
    def has_structure(self) -> bool:
        """Whether it says more than a constant would."""
        return self.explained >= _STRUCTURE_LEAST

    def log_rate(self, point: Point) -> float:
        """Natural logarithm of bytes per second."""
        base = math.log(self.physical.rate(point, self.targets))
        return base + self._rest(point)

    def rate(self, point: Point) -> float:
        """Bytes per second while bytes move."""
        return math.exp(self.log_rate(point))

    def _rest(self, point: Point) -> float:
        if not any(self.coefficients):
            return 0.0
        inside = tuple(max(-1.2, min(1.2, one)) for one in scaled(point, self.space))
        return dot(features(inside), self.coefficients)


def features(place: Sequence[float]) -> tuple[float, ...]:
    """1, each coordinate, its square, and each product of two."""
    squares = [one * one for one in place[:-1]]
    crossed = [a * b for at, a in enumerate(place) for b in place[:at]]
    return (1.0, *place, *squares, *crossed)


def fit(
    seen: Sequence[Seen], space: Space, *, targets: int, start: Physical | None = None
) -> Surface:
    """Of at least a few probes. `start`: what a fit of nearly the same probes has found."""
    matters = _matters(seen)
    weights = list(matters)
    guess = first_guess(seen, space)
    physical = start or guess
    for _ in range(3 if start is None else 1):
        physical = _descend(physical, guess, seen, weights, targets)
        rest = [one.log_rate - math.log(physical.rate(one.point, targets)) for one in seen]
        scale = max(robust_scale(rest), 0.03)
        middle = median(rest)
        weights = [
            much * huber(one - middle, scale) for much, one in zip(matters, rest, strict=True)
        ]
    return _with_rest(physical, seen, weights, space, targets)


def _matters(seen: Sequence[Seen]) -> list[float]:
    """The slow half of all points is not where the best one is: it may be fitted less well."""
    logs = sorted(one.log_rate for one in seen)
    top = logs[max(0, math.ceil(len(logs) * 0.95) - 1)]
    return [max(_MATTERS_LEAST, math.exp(min(0.0, one.log_rate - top))) for one in seen]


def _with_rest(
    physical: Physical, seen: Sequence[Seen], weights: list[float], space: Space, targets: int
) -> Surface:
    rest = [one.log_rate - math.log(physical.rate(one.point, targets)) for one in seen]
    rows = [features(scaled(one.point, space)) for one in seen]
    best: tuple[float, tuple[float, ...], list[float]] | None = None
    for penalty in _PENALTIES:
        penalties = [0.05, *([penalty] * (len(rows[0]) - 1))]
        found = ridge(rows, rest, weights, penalties)
        off = [one - left for one, left in zip(rest, found.left_out, strict=True)]
        missed = _mean_square(off, weights)
        if best is None or missed < best[0] * 0.99:
            best = (missed, found.coefficients, off)
    assert best is not None
    missed, coefficients, off = best
    logs = [one.log_rate for one in seen]
    middle = median(logs)
    total = _mean_square([one - middle for one in logs], weights)
    return Surface(
        physical=physical,
        targets=targets,
        coefficients=coefficients,
        space=space,
        spread=max(robust_scale(off), 1e-3),
        explained=1 - missed / total if total > 0 else 0.0,
        doubt=max(robust_scale(off), 0.01) * math.sqrt(12 / max(12, len(seen))),
        probes=len(seen),
        uncertain=_uncertain(physical, seen, weights, targets, robust_scale(off)),
    )


def _uncertain(
    physical: Physical,
    seen: Sequence[Seen],
    weights: Sequence[float],
    targets: int,
    scale: float,
) -> tuple[float, ...]:
    """By the curvature of what is minimised: a number that no probe depends on has the width that
    it was allowed."""
    here = [math.log(getattr(physical, name)) for name in NAMES]
    columns = _slopes(here, seen, targets)
    share = [w / max(scale, 0.02) ** 2 for w in weights]
    normal = _normal(columns, share)
    for at, name in enumerate(NAMES):
        normal[at][at] += 1 / LOOSE[name] ** 2
    lower = cholesky(normal)
    unit = [[1.0 if i == j else 0.0 for j in range(len(NAMES))] for i in range(len(NAMES))]
    return tuple(math.sqrt(solve(lower, unit[i])[i]) for i in range(len(NAMES)))


def _slopes(here: Sequence[float], seen: Sequence[Seen], targets: int) -> list[tuple[float, ...]]:
    """A column of slopes for each number."""
    physical = physical_of(here)
    return list(zip(*(physical.slopes(one.point, targets) for one in seen), strict=True))


def _normal(columns: Sequence[Sequence[float]], share: Sequence[float]) -> Matrix:
    size = len(columns)
    return [
        [
            math.fsum(w * a * b for w, a, b in zip(share, columns[i], columns[j], strict=True))
            for j in range(size)
        ]
        for i in range(size)
    ]


def first_guess(seen: Sequence[Seen], space: Space) -> Physical:
    """Where the descent begins: from the fastest probes of all, by process, node and target."""

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
    )


LOOSE = {
    "process_rate": 2.0,
    "call_time": 1.5,
    "node_rate": 1.5,
    "target_rate": 2.0,
    "request_time": 1.5,
    "interference_per_stream": 2.0,
    "streams_free": 0.7,
    "system_rate": 1.5,
}
"""How far, in logarithms, each number may be from the first guess before that counts against it
as much as one probe being off by its scale."""


def _descend(
    start: Physical,
    guess: Physical,
    seen: Sequence[Seen],
    weights: Sequence[float],
    targets: int,
) -> Physical:
    """Levenberg and Marquardt's, in the logarithms of the numbers."""
    origin = [math.log(getattr(guess, name)) for name in NAMES]
    here = [math.log(getattr(start, name)) for name in NAMES]
    damping = 0.1
    missed = _missed(here, seen, targets)
    cost = _cost(missed, weights, here, origin)
    for _ in range(25):
        columns = _slopes(here, seen, targets)
        step = _step(columns, missed, weights, here, origin, damping)
        tried = [a + max(-1.0, min(1.0, b)) for a, b in zip(here, step, strict=True)]
        missed_there = _missed(tried, seen, targets)
        cost_there = _cost(missed_there, weights, tried, origin)
        if cost_there < cost:
            small = cost - cost_there < 1e-3 * cost
            here, missed, cost, damping = tried, missed_there, cost_there, damping / 3
            if small:
                break
        else:
            damping *= 4
            if damping > 1e6:
                break
    return physical_of(here)


def physical_of(logs: Sequence[float]) -> Physical:
    """From the logarithms of its numbers, in the order of NAMES."""
    values = [math.exp(max(-60.0, min(60.0, one))) for one in logs]
    return Physical(**dict(zip(NAMES, values, strict=True)))


def _missed(logs: Sequence[float], seen: Sequence[Seen], targets: int) -> list[float]:
    physical = physical_of(logs)
    return [math.log(physical.rate(one.point, targets)) - one.log_rate for one in seen]


_SCALE = 0.2


def _cost(
    missed: Sequence[float],
    weights: Sequence[float],
    here: Sequence[float],
    origin: Sequence[float],
) -> float:
    probes = math.fsum(w * (one / _SCALE) ** 2 for w, one in zip(weights, missed, strict=True))
    held = math.fsum(
        ((a - b) / LOOSE[name]) ** 2 for name, a, b in zip(NAMES, here, origin, strict=True)
    )
    return probes + held


def _step(
    columns: Sequence[Sequence[float]],
    missed: Sequence[float],
    weights: Sequence[float],
    here: Sequence[float],
    origin: Sequence[float],
    damping: float,
) -> list[float]:
    size = len(columns)
    share = [w / _SCALE**2 for w in weights]
    normal = _normal(columns, share)
    right = [
        -math.fsum(w * a * b for w, a, b in zip(share, columns[i], missed, strict=True))
        for i in range(size)
    ]
    for i, name in enumerate(NAMES):
        hold = 1 / LOOSE[name] ** 2
        normal[i][i] = (normal[i][i] + hold) * (1 + damping)
        right[i] -= (here[i] - origin[i]) * hold
    return solve(cholesky(normal), right)


def _mean_square(values: Sequence[float], weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    return math.fsum(w * v * v for w, v in zip(weights, values, strict=True)) / total


@frozen
class Storm:
    """Opening or closing by many at once: seconds = base + each · processes ^ power."""

    base: float
    each: float
    power: float

    def seconds(self, processes: int) -> float:
        """Until the last of so many is done."""
        return self.base + self.each * float(processes**self.power)


def fit_storm(seconds: Sequence[tuple[int, float]]) -> Storm:
    """From processes and seconds. The power is one of a few; the rest is fitted to what is off by
    the least share, robustly."""
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
    """Least squares of relative errors, both numbers at least zero."""
    rows = [
        (1 / one, processes**power / one, w)
        for (processes, one), w in zip(known, weights, strict=True)
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
    """One direction of a system: its surface, and what opening and closing cost."""

    direction: Direction
    surface: Surface
    opening: Storm
    closing: Storm

    def seconds(self, point: Point) -> float:
        """Until the last process has closed."""
        around = self.opening.seconds(point.processes) + self.closing.seconds(point.processes)
        return around + point.bytes / self.surface.rate(point)

    def rate(self, point: Point) -> float:
        """Bytes per second with opening and closing."""
        return point.bytes / self.seconds(point)


def shifted(seen: Sequence[Seen], drift: Sequence[float]) -> list[Seen]:
    """Without the drift of each one's place."""
    return [replace(one, log_rate=one.log_rate - drift[one.place]) for one in seen]
