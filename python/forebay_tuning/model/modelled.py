"""A platform as formulas: how long a point takes on a modelled machine. The numbers are those of
platforms/*.toml, and the terms those of the simulator (docs/internals/simulation.md), summed up
instead of played through, so that hundreds of machines can be probed in seconds. What makes real
probing hard comes from a seed: drift, noise, stragglers, a sick target, a page cache."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import field

from forebay.common.model.frozen import frozen
from forebay.simulate.model.keys import BackgroundLoad
from forebay_tuning.model.point import Direction, Point

SOFTNESS = 6.0
"""How sharp the bend is where one limit takes over from another."""


@frozen
class Platform:
    """What of a machine matters here; rates in bytes per second, times in seconds."""

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


@frozen
class Bend:
    """What a real system has and no formula: a smooth deviation, by coordinate pairs."""

    linear: Mapping[str, float] = field(default_factory=dict)

    def factor(self, point: Point) -> float:
        """By which a rate differs from the formula's."""
        total = 0.0
        for name, slope in self.linear.items():
            total += slope * math.sin(0.55 * math.log2(getattr(point, name)) + 10 * slope)
        return math.exp(total)


@frozen
class Expected:
    """Seconds of a point without noise."""

    seconds_open: float
    seconds_moving: float
    seconds_close: float

    @property
    def seconds(self) -> float:
        """All together."""
        return self.seconds_open + self.seconds_moving + self.seconds_close


def expected(
    platform: Platform, point: Point, direction: Direction, *, bend: Bend | None = None
) -> Expected:
    """The formulas."""
    rate = moving_rate(platform, point, direction) * (bend.factor(point) if bend else 1.0)
    crowd = 1.0 if point.shared else 1.0 + 0.05 * point.stripe_count
    return Expected(
        seconds_open=storm_seconds(platform, point.processes, platform.open_time * crowd),
        seconds_moving=point.bytes / rate,
        seconds_close=storm_seconds(platform, point.processes, platform.close_time),
    )


def storm_seconds(platform: Platform, processes: int, each: float) -> float:
    """All come at once; who finds others waiting takes longer by `crowding` for each of them."""
    work = processes + platform.crowding * processes * processes / 2
    return each * max(1.0, work / platform.metadata_threads)


def moving_rate(platform: Platform, point: Point, direction: Direction) -> float:
    """Bytes per second of all processes while they transfer."""
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
    # A process waits for its call: copying into the client, and the storage behind it.
    alone = transfer / platform.client_rate + platform.call_time
    if direction is Direction.READ:
        alone += service
    on_node = math.ceil(point.processes / point.nodes)
    node = min(on_node * transfer / alone, platform.link_rate)
    return softly_least((point.nodes * node, targets, platform.servers * platform.server_link_rate))


def softly_least(limits: tuple[float, ...]) -> float:
    """The least of several limits, rounded off where two are near each other."""
    least = min(limits)
    return least * math.pow(math.fsum((least / one) ** SOFTNESS for one in limits), -1 / SOFTNESS)


def lock_share(point: Point, streams: float) -> float:
    """Of requests of a shared file that find their stripe in another client's hands."""
    if streams <= 1:
        return 0.0
    inner = max(1.0, point.process_bytes / point.stripe_bytes)
    return min(1.0, 1.0 / inner) * min(1.0, point.transfer_bytes / point.stripe_bytes)


def balance(point: Point, targets: int, used: int) -> float:
    """Files of their own fall on targets by chance: the fullest one is waited for."""
    if point.shared or used < targets:
        return 1.0
    each = point.processes * point.stripe_count / targets
    return 1.0 / (1.0 + 0.35 / math.sqrt(each))


@frozen
class Weather:
    """What probing has to see through. Shares are of the logarithm of a rate."""

    drift: float = 0.0
    noise: float = 0.0
    stragglers: float = 0.0
    """The share of probes that something else slows down."""
    cache_factor: float = 1.0
    """Reads are so much faster than the storage, when they come from a page cache."""
    sick_target: int | None = None
    sick_slower: float = 1.0


class Sky:
    """The weather as it goes on, from a seed. It is drawn as the simulator draws the load of other
    jobs, but for the whole system instead of each target."""

    def __init__(self, weather: Weather, load: BackgroundLoad, *, seed: int) -> None:
        self._weather = weather
        self._load = load
        self._random = random.Random(seed)
        self._level = self._random.gauss(0.0, weather.drift)

    @property
    def level(self) -> float:
        """Of the drift at the last probe, as the logarithm of a rate."""
        return self._level

    def next(self) -> float:
        """By which the next probe's rates are multiplied."""
        weather, load = self._weather, self._load
        step = weather.drift * math.sqrt(1 - load.drift_kept**2)
        self._level = load.drift_kept * self._level + self._random.gauss(0.0, step)
        factor = math.exp(self._level + self._random.gauss(0.0, weather.noise))
        if self._random.random() < weather.stragglers:
            factor /= self._random.uniform(load.slower_least, load.slower_most)
        return factor
