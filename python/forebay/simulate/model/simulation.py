"""The simulator's results for one experiment (schema forebay.simulation/1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from forebay.common.model.errors import SimulationError
from forebay.common.model.frozen import frozen
from forebay.simulate.model.keys import SimulatorKeys

SCHEMA = "forebay.simulation/1"
_Said = TypeVar("_Said")
VARIANTS = ("forebay", "original", "placement", "earth(wr:2)", "earth(wr,ex:2)")


@frozen
class Simulation:
    """One collective experiment. Seconds are virtual. `slow_target` is a target that stands out,
    None if none does; `wrong_bytes` is None if bytes were not compared."""

    platform: str
    variant: str
    ranks: int
    targets: int
    bytes: int
    seconds: float
    seconds_open: float
    seconds_close: float
    seconds_bound: float
    rounds: int
    messages: int
    message_bytes: int
    requests: int
    slow_target: int | None
    slow_target_requests_in_flight: int | None
    wrong_bytes: int | None
    error: str

    @property
    def problem(self) -> str:
        """The failure as a message; empty if there was none."""
        if self.error or not self.wrong_bytes:
            return self.error
        return (
            f"{self.wrong_bytes} of {self.bytes} bytes are wrong (variant {self.variant}: they were"
            " read back otherwise than they were written). This is a fault of Forebay: report it "
            "with this command line."
        )

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0

    @property
    def share_of_bound(self) -> float:
        """The share of the upper bound that was reached: 1 if the slowest of network, servers and
        targets was always busy."""
        return self.seconds_bound / self.seconds if self.seconds > 0 else 0.0


def parse_simulation(text: str) -> Simulation:
    """Parses the simulator's output. Raises SimulationError if it is malformed."""

    def make(line: Mapping[str, Any]) -> Simulation:
        said = fields_of(Simulation, line)
        if said["slow_target"] < 0:
            said |= {"slow_target": None, "slow_target_requests_in_flight": None}
        return Simulation(**said)

    return parse_line(text, SCHEMA, make)


def parse_line(text: str, schema: str, make: Callable[[Mapping[str, Any]], _Said]) -> _Said:
    """The result of `make` for a line of that schema. Raises SimulationError if the line has
    another schema, or lacks a member."""
    try:
        line = json.loads(text)
        if line["schema"] != schema:
            raise SimulationError(
                f"the simulator speaks {line['schema']} (not {schema}). Install both anew."
            )
        return make(line)
    except (ValueError, KeyError, TypeError) as error:
        raise SimulationError(
            f"cannot read what the simulator said ({error}). Install Forebay anew."
        ) from error


def fields_of(kind: type, line: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the fields of `kind`, from a line. Raises KeyError if one is missing."""
    return {field.name: line[field.name] for field in fields(kind)}


def words_of(
    platform: str, *, variant: str, settings: Sequence[str], keys: SimulatorKeys
) -> tuple[str, ...]:
    """The simulator's arguments. Settings override those of the variant. Raises SimulationError if
    a key does not exist."""
    keys.check(settings, keys.collective, "variant")
    return (f"platform={platform}", f"variant={variant}", *settings)
