"""The simulator's results for processes that read or write by themselves (schema
forebay.simulation.independent/1)."""

from collections.abc import Mapping, Sequence
from typing import Any

from forebay.common.model.frozen import frozen
from forebay.simulate.model.simulation import PLATFORM_KEYS, check_key, fields_of, parse_line

SCHEMA = "forebay.simulation.independent/1"

INDEPENDENT_KEYS = (
    ("processes", "that read or write; 0: all ranks of all nodes"),
    ("per_node", "of them on a node at most; 0: as many as it has ranks"),
    ("shared", "1: one file for all; 0: a file for each process"),
    ("stripe_count", "targets of a file; 0: all"),
    ("transfer_bytes", "of a call, as in 1MiB"),
    ("process_bytes", "of a process, one call after the other, as in 64MiB"),
    ("read", "1: reads instead of writing"),
    ("same", "1: all read the same bytes of one file"),
    ("direct", "1: past the client's memory, as O_DIRECT"),
    ("drift", "others' load on all targets: deviation of its logarithm"),
    ("noise", "the same of each target by itself"),
    ("stragglers", "share of targets that are 1.3 to 3 times as slow"),
    ("moment", "of the drift: the next one is little different"),
    ("sick_target", "the target that is ill, from 0; -1: none"),
    ("sick_slower", "its requests take so many times as long"),
    ("sick_error_from", "it fails from this second on; -1: never"),
    ("seed", "of what is random; the same gives the same times"),
)


@frozen
class IndependentSimulation:
    """One passage: all processes open, move their bytes, close. Seconds are virtual.
    `steady_rate`: bytes per second between the first quarter and the last eighth, 0 if there were
    too few requests to tell; `locks_lost`: of other nodes, by `locks_asked`; `target_bytes` and
    `target_busy`: bytes and seconds of each target; `error`: of a call, empty if there was none."""

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
        """From before opening until the last process has closed."""
        return self.seconds_open + self.seconds_moving + self.seconds_close

    @property
    def rate(self) -> float:
        """Bytes per second while bytes move."""
        return self.bytes / self.seconds_moving if self.seconds_moving > 0 else 0.0

    def seconds_moving_of(self, count: int) -> float:
        """Seconds to move `count` bytes; those beyond the simulated ones move at the steady
        rate."""
        rate = self.steady_rate or self.rate
        more = max(0, count - self.bytes)
        return self.seconds_moving + (more / rate if more else 0.0)


def parse_independent_simulation(text: str) -> IndependentSimulation:
    """Parses the simulator's line. Any other line is an error of the installation."""

    def make(line: Mapping[str, Any]) -> IndependentSimulation:
        return IndependentSimulation(**fields_of(IndependentSimulation, line))

    return parse_line(text, SCHEMA, make)


def independent_words_of(platform: str, settings: Sequence[str]) -> tuple[str, ...]:
    """The simulator's command line without its name. SimulationError: no such key."""
    for word in settings:
        check_key(word, [key for key, _ in (*PLATFORM_KEYS, *INDEPENDENT_KEYS)])
    return ("independent", f"platform={platform}", *settings)
