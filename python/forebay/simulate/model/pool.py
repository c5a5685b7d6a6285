"""The simulator's results for a program whose output goes through the pool (schema
forebay.simulation.pool/1)."""

from collections.abc import Mapping, Sequence
from typing import Any

from forebay.common.model.errors import SimulationError
from forebay.common.model.frozen import frozen
from forebay.simulate.model.keys import SimulatorKeys
from forebay.simulate.model.simulation import fields_of, parse_line

SCHEMA = "forebay.simulation.pool/1"


@frozen
class Way:
    """One run of the program, with the pool or without. Seconds are virtual.

    `exposed` is the part of `seconds` that was not computing; `gathered` is the time that the
    slowest writer spent on collecting in all bursts; `longest` is the longest time of one burst;
    `reading` is the time that the slowest rank spent on the input. `input_bytes` is the input that
    came from the file system, for all ranks together; `passed_bytes` moved between nodes."""

    seconds: float
    exposed: float
    gathered: float
    longest: float
    requests: int
    reading: float
    input_bytes: int
    passed_bytes: int = 0


@frozen
class PoolSimulation:
    """A program without and with the pool.

    `hidden` is the share of the waiting that the pool removed; `waited_for_room` the seconds of the
    writer that waited longest for window or cap; `drained_after` the seconds from the program's end
    until everything was on the file system; `high_bytes` the peak memory of a node's pool;
    `file_high_bytes` the peak of one file; `bytes_past` the bytes that bypassed the pool; `opened`
    counts files once per node; `messages` are those between the nodes' daemons."""

    platform: str
    ranks: int
    nodes: int
    targets: int
    writers: int
    files: int
    steps: int
    interval: float
    window_bytes: int
    cap_bytes: int
    seed: int
    bytes: int
    plain: Way
    pooled: Way
    hidden: float
    waited_for_room: float
    drained_after: float
    high_bytes: int
    file_high_bytes: int
    bytes_past: int
    closed_early: bool
    messages: int
    opened: int


def parse_pool_simulation(text: str) -> PoolSimulation:
    """Parses the simulator's output. Raises SimulationError if it is malformed, or reports wrong
    bytes."""

    def make(line: Mapping[str, Any]) -> PoolSimulation:
        if line["wrong"]:
            raise SimulationError(
                "the simulated pool went wrong (not every byte arrived, or its daemons refused "
                "what they were given). This is a fault of Forebay: report it with this command "
                "line."
            )
        ways = {name: Way(**fields_of(Way, line[name])) for name in ("plain", "pooled")}
        return PoolSimulation(**{**fields_of(PoolSimulation, line), **ways})

    return parse_line(text, SCHEMA, make)


def pool_words_of(platform: str, settings: Sequence[str], keys: SimulatorKeys) -> tuple[str, ...]:
    """The simulator's arguments. Raises SimulationError if a key does not exist."""
    keys.check(settings, keys.pool)
    return ("pool", f"platform={platform}", *settings)
