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
    """The program once, without the pool or with it. Virtual seconds: `exposed` are those of
    `seconds` that were not computing, `gathered` what the writer that collected longest spent on
    that in all bursts, `longest` what one burst took the slowest writer, `reading` what the input
    took the slowest rank. `input_bytes`: what the file system gave of it to all ranks together;
    `passed_bytes`: what nodes passed on to each other."""

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
    """A program without and with the pool. `hidden`: the share of the waiting that is gone;
    `waited_for_room`: seconds of the writer that waited longest for window or cap;
    `drained_after`: seconds from the program's end until all was with the file system;
    `high_bytes`: the most memory of any node's pool; `file_high_bytes`: the most of one file in it;
    `bytes_past`: what went past the pool; `opened`: files, by each node that did;
    `messages`: between the nodes' daemons."""

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
    """Parses the simulator's line. Any other line is an error of the installation."""

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
    """The simulator's command line without its name. SimulationError: no such key."""
    keys.check(settings, keys.pool)
    return ("pool", f"platform={platform}", *settings)
