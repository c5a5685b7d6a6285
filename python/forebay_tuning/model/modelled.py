"""A platform as formulas: the time of a point on a modelled machine. Its numbers are those of
platforms/*.toml, its terms those of the simulator (docs/internals/simulation.md) in closed form, so
that hundreds of machines can be probed in seconds. The difficulties of real probing (drift, noise,
stragglers, a sick target, a page cache) are drawn from a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import field

from forebay.common.model.frozen import frozen
from forebay.simulate.model.keys import BackgroundLoad
from forebay_tuning.model.point import Direction, Point

SOFTNESS = 6.0
"""The exponent of the soft minimum: the larger, the sharper the bend between two limits."""


@frozen
class Platform:
    """The parameters of a machine; rates in bytes per second, times in seconds."""

    name: str
    nodes: int
    ranks_per_node: int
    link_rate: float
    client_rate: float
    call_time: float
    servers: int
    server_link_rate: float
    targets: int
    target_rate: float
    request_time: float
    interference_per_stream: float
    streams_free: float
    lock_time: float
    stripe_bytes: int
    metadata_threads: int
    open_time: float
    close_time: float
    crowding: float
    object_time: float = 0.0
    """Seconds that creating a file takes longer for each of its stripes."""


@frozen
class Bend:
    """A smooth deviation from the formulas, as real systems have it, by coordinate."""

    linear: Mapping[str, float] = field(default_factory=dict)

    def factor(self, point: Point) -> float:
        """The factor by which the rate differs from the formula's."""
        total = 0.0
        for name, slope in self.linear.items():
            total += slope * math.sin(0.55 * math.log2(getattr(point, name)) + 10 * slope)
        return math.exp(total)


@frozen
class Expected:
    """The seconds of a point without noise."""

    seconds_open: float
    seconds_moving: float
    seconds_close: float

    @property
    def seconds(self) -> float:
        """The sum of all parts."""
        return self.seconds_open + self.seconds_moving + self.seconds_close


def expected(
    platform: Platform, point: Point, direction: Direction, *, bend: Bend | None = None
) -> Expected:
    """The time of a point by the formulas."""
    rate = moving_rate(platform, point, direction) * (bend.factor(point) if bend else 1.0)
    objects = platform.object_time * point.stripe_count if direction is Direction.WRITE else 0.0
    # A shared file is created by the first process; the others open it.
    each, first = (0.0, objects) if point.shared else (objects, 0.0)
    return Expected(
        seconds_open=storm_seconds(platform, point.processes, platform.open_time + each) + first,
        seconds_moving=point.bytes / rate,
        seconds_close=storm_seconds(platform, point.processes, platform.close_time),
    )


def storm_seconds(platform: Platform, processes: int, each: float) -> float:
    """Seconds of a metadata storm: all processes come at once, and each waiting one makes the
    service slower by `crowding`."""
    work = processes + platform.crowding * processes * processes / 2
    return each * max(1.0, work / platform.metadata_threads)


def moving_rate(platform: Platform, point: Point, direction: Direction) -> float:
    """Bytes per second of all processes together while they transfer."""
    transfer = point.transfer_bytes
    count = min(point.stripe_count, platform.targets)
    width = min(count, max(1, math.ceil(transfer / point.stripe_bytes)))
    used = count if point.shared else min(platform.targets, point.processes * count)
    streams = point.processes * width / used
    request = min(transfer, point.stripe_bytes)
    beyond = max(0.0, streams - platform.streams_free)
    service = platform.request_time + request / platform.target_rate * (
        1 + platform.interference_per_stream * beyond
    )
    if point.shared and direction is Direction.WRITE:
        service += platform.lock_time * lock_share(point, streams)
    busy = min(used, point.processes * width)
    targets = busy * request / service * balance(point, platform.targets, used)
    # A process waits for its call: for copying into the client and, if it reads, for storage.
    alone = transfer / platform.client_rate + platform.call_time
    if direction is Direction.READ:
        alone += service
    on_node = math.ceil(point.processes / point.nodes)
    node = min(on_node * transfer / alone, platform.link_rate)
    return softly_least((point.nodes * node, targets, platform.servers * platform.server_link_rate))


def softly_least(limits: tuple[float, ...]) -> float:
    """The soft minimum of several limits: smooth where two are close to each other."""
    least = min(limits)
    return least * math.pow(math.fsum((least / one) ** SOFTNESS for one in limits), -1 / SOFTNESS)


def lock_share(point: Point, streams: float) -> float:
    """The share of a shared file's requests whose stripe is locked by another client."""
    if streams <= 1:
        return 0.0
    inner = max(1.0, point.process_bytes / point.stripe_bytes)
    return min(1.0, 1.0 / inner) * min(1.0, point.transfer_bytes / point.stripe_bytes)


def balance(point: Point, targets: int, used: int) -> float:
    """The share of the targets' rate that is used if files fall on targets by chance: the fullest
    target is waited for."""
    if point.shared or used < targets:
        return 1.0
    each = point.processes * point.stripe_count / targets
    return 1.0 / (1.0 + 0.35 / math.sqrt(each))


@frozen
class Disturbances:
    """The disturbances that probing has to cope with. Shares are of a rate's logarithm."""

    drift: float = 0.0
    noise: float = 0.0
    stragglers: float = 0.0
    """The share of probes that something else slows down."""
    cache_factor: float = 1.0
    """The factor by which reads from a page cache are faster than the storage."""
    sick_target: int | None = None
    sick_slower: float = 1.0


class RateFactors:
    """The background load over time, from a seed: drawn as the simulator draws it, but for the
    whole system instead of each target."""

    def __init__(self, disturbances: Disturbances, load: BackgroundLoad, *, seed: int) -> None:
        self._disturbances = disturbances
        self._load = load
        self._random = random.Random(seed)
        self._level = self._random.gauss(0.0, disturbances.drift)

    @property
    def level(self) -> float:
        """The drift at the last probe, as the logarithm of a rate."""
        return self._level

    def next(self) -> float:
        """The factor for the rates of the next probe. Drift is an AR(1) process."""
        disturbances, load = self._disturbances, self._load
        step = disturbances.drift * math.sqrt(1 - load.drift_kept**2)
        self._level = load.drift_kept * self._level + self._random.gauss(0.0, step)
        factor = math.exp(self._level + self._random.gauss(0.0, disturbances.noise))
        if self._random.random() < disturbances.stragglers:
            factor /= self._random.uniform(load.slower_least, load.slower_most)
        return factor
