"""The simulator's results for a program's output with I/O ranks and without (schema
forebay.simulation.io_ranks/1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forebay.common.model.errors import SimulationError
from forebay.common.model.frozen import frozen
from forebay.simulate.model.keys import SimulatorKeys
from forebay.simulate.model.simulation import fields_of, parse_line

SCHEMA = "forebay.simulation.io_ranks/1"
OUTPUT_VARIANTS = ("gather", "io-ranks", "pool", "output")


@frozen
class OutputSimulation:
    """A program's output in one of the ways of OUTPUT_VARIANTS. Seconds are virtual.

    `ranks` compute, besides `io_ranks` in `spread` groups (both 0 where there are none). `exposed`
    is the part of `seconds` that was not computing, and `metadata` the part of that which is
    opening files before the program and closing them after it. `collected` and `written` are the
    longest time in which a rank collected and wrote one burst (`pool`, `output`: collected all
    bursts, and 0); `waited_for_room` is how long ranks waited until the last burst was written, or
    the pool had room; `written_after` is the time from the program's end until everything was on
    the file system; `high_bytes` is the peak memory of a node's pool."""

    platform: str
    variant: str
    ranks: int
    io_ranks: int
    spread: int
    nodes: int
    targets: int
    files: int
    steps: int
    interval: float
    seed: int
    bytes: int
    seconds: float
    exposed: float
    metadata: float
    collected: float
    written: float
    waited_for_room: float
    written_after: float
    high_bytes: int
    requests: int

    @property
    def exposed_each(self) -> float:
        """Seconds that a burst took the program beyond its computing, without opening files."""
        return (self.exposed - self.metadata) / self.steps


def parse_output_simulation(text: str) -> OutputSimulation:
    """Parses the simulator's output. Raises SimulationError if it is malformed, or reports wrong
    bytes."""

    def make(line: Mapping[str, Any]) -> OutputSimulation:
        if line["wrong"]:
            raise SimulationError(
                "the simulated output went wrong (not every byte arrived, or a pool refused what "
                "it was given). This is a fault of Forebay: report it with this command line."
            )
        return OutputSimulation(**fields_of(OutputSimulation, line))

    return parse_line(text, SCHEMA, make)


def output_words_of(
    platform: str, *, variant: str, settings: Sequence[str], keys: SimulatorKeys
) -> tuple[str, ...]:
    """The simulator's arguments. Raises SimulationError if a key does not exist."""
    keys.check(settings, keys.io_ranks)
    return ("io-ranks", f"platform={platform}", f"variant={variant}", *settings)
