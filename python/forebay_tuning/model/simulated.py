"""A point as arguments of the simulator, reduced in size: simulating a request takes the same time
whatever its size, and a rate that has become steady need not be simulated any longer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from forebay.common.model.errors import UsageError
from forebay.common.model.units import MIB
from forebay.simulate.model.independent import IndependentSimulation
from forebay.simulate.model.keys import SimulatorKeys
from forebay_tuning.model.modelled import Platform
from forebay_tuning.model.point import Direction, Point
from forebay_tuning.model.sample import Passage

REQUESTS_MOST = 100_000
"""The approximate number of requests per simulation, which takes one or two seconds."""
_LEAST_BYTES = 4 * MIB
"""The minimum of bytes per process, unless the point has fewer."""
_RPC_BYTES = MIB
_PROBED = {
    *("processes", "per_node", "shared", "stripe_count", "stripe_bytes", "transfer_bytes"),
    *("process_bytes", "read", "same", "seed", "moment"),
}
"""The keys that probing sets itself."""
_SIZES = ("nodes", "ranks_per_node", "targets")
"""The keys that probing has to know itself. The simulator refuses wrong values of others."""


def changed_by(platform: Platform, words: Sequence[str], keys: SimulatorKeys) -> Platform:
    """The platform with the sizes that KEY=VALUE words set. Raises UsageError if a word is not
    allowed in probing."""
    known = {key for key, _ in (*keys.platform, *keys.independent)} - _PROBED
    for word in words:
        name, _, value = word.partition("=")
        if name not in known:
            raise UsageError(
                f'cannot use "{word}" (with --simulate there is neither a directory nor a '
                "launcher, but KEY=VALUE of what is simulated, and probing sets the points "
                f"itself). Known are {', '.join(sorted(known))}."
            )
        if name in _SIZES:
            platform = _with(platform, name, value)
    return platform


def _with(platform: Platform, name: str, value: str) -> Platform:
    """The platform with the size `name`. Raises UsageError if `value` is none."""
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise UsageError(
            f'cannot use "{name}={value}" (it is no whole number of at least 1). Write it as in '
            f"{name}=8."
        )
    if name == "nodes":
        return replace(platform, nodes=int(value))
    if name == "ranks_per_node":
        return replace(platform, ranks_per_node=int(value))
    return replace(platform, targets=int(value))


def as_simulated(point: Point, *, requests: int = REQUESTS_MOST) -> Point:
    """The point with fewer bytes per process if it had too many requests; always whole calls."""
    request = min(point.stripe_bytes, _RPC_BYTES)
    room = requests * request // point.processes
    least = max(_LEAST_BYTES, point.transfer_bytes)
    calls = max(1, max(least, room) // point.transfer_bytes)
    return replace(point, process_bytes=min(point.process_bytes, calls * point.transfer_bytes))


def words_of_point(point: Point, direction: Direction) -> Mapping[str, int]:
    """The point as keys of `forebay simulate --independent`."""
    return {
        "processes": point.processes,
        "per_node": point.per_node,
        "shared": int(point.shared),
        "stripe_count": point.stripe_count,
        "stripe_bytes": point.stripe_bytes,
        "transfer_bytes": point.transfer_bytes,
        "process_bytes": point.process_bytes,
        "read": int(direction is Direction.READ),
    }


def passage_of(simulation: IndependentSimulation, point: Point) -> Passage:
    """The result for all bytes of the point, extrapolated from the simulated part."""
    return Passage(
        rate=point.bytes / simulation.seconds_moving_of(point.bytes),
        seconds_open=simulation.seconds_open,
        seconds_close=simulation.seconds_close,
    )


def per_node_for(files: int, nodes: int) -> int:
    """The processes per node if each file has a process."""
    return math.ceil(files / nodes)
