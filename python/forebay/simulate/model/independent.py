"""The simulator's results for processes that read or write by themselves (schema
forebay.simulation.independent/1)."""

from collections.abc import Mapping, Sequence
from typing import Any

from forebay.common.model.frozen import frozen
from forebay.simulate.model.keys import SimulatorKeys
from forebay.simulate.model.simulation import fields_of, parse_line

SCHEMA = "forebay.simulation.independent/1"


@frozen
class IndependentSimulation:
    """One passage: all processes open, move their bytes, and close. Seconds are virtual.

    `steady_rate` is in bytes per second, measured between the first quarter and the last eighth of
    the requests, 0 if there were too few of them; `locks_lost` are locks of other nodes that were
    revoked for `locks_asked`; `target_bytes` and `target_busy` are the bytes and busy seconds of
    each target; `error` is that of a call, empty if there was none."""

    platform: str
    processes: int
    per_node: int
    nodes: int
    targets: int
    files: int
    stripe_count: int
    direction: str
    seed: int
    moment: int
    bytes: int
    seconds_open: float
    seconds_moving: float
    seconds_close: float
    steady_rate: float
    requests: int
    request_bytes: int
    locks_asked: int
    locks_lost: int
    target_bytes: Sequence[int]
    target_busy: Sequence[float]
    error: str

    @property
    def seconds(self) -> float:
        """Seconds from the first open to the last close."""
        return self.seconds_open + self.seconds_moving + self.seconds_close

    @property
    def rate(self) -> float:
        """Bytes per second while bytes move."""
        return self.bytes / self.seconds_moving if self.seconds_moving > 0 else 0.0

    def seconds_moving_of(self, count: int) -> float:
        """Seconds to move `count` bytes; bytes beyond the simulated ones move at the steady
        rate."""
        rate = self.steady_rate or self.rate
        more = max(0, count - self.bytes)
        return self.seconds_moving + (more / rate if more else 0.0)


def parse_independent_simulation(text: str) -> IndependentSimulation:
    """Parses the simulator's output. Raises SimulationError if it is malformed."""

    def make(line: Mapping[str, Any]) -> IndependentSimulation:
        return IndependentSimulation(**fields_of(IndependentSimulation, line))

    return parse_line(text, SCHEMA, make)


def independent_words_of(
    platform: str, settings: Sequence[str], keys: SimulatorKeys
) -> tuple[str, ...]:
    """The simulator's arguments. Raises SimulationError if a key does not exist."""
    keys.check(settings, keys.independent)
    return ("independent", f"platform={platform}", *settings)
