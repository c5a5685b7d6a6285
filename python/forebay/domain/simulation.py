"""What the simulator says about one experiment (schema forebay.simulation/1)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from forebay.domain.errors import SimulationError

SCHEMA = "forebay.simulation/1"
VARIANTS = ("forebay", "original", "placement", "earth(wr:2)", "earth(wr,ex:2)")


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """One run in virtual time. Seconds are virtual. `slow_target`: the one that stands out;
    `wrong_bytes`: None where none were compared."""

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
        """What went wrong; empty: nothing did."""
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
        """1 when the slowest of network, servers and targets was busy all the time."""
        return self.seconds_bound / self.seconds if self.seconds > 0 else 0.0


def parse_simulation(text: str) -> Simulation:
    """The simulator's line. What is no such line is an error of the installation."""
    try:
        line = json.loads(text)
        if line["schema"] != SCHEMA:
            raise SimulationError(
                f"the simulator speaks {line['schema']} (not {SCHEMA}). Install both anew."
            )
        is_slow = line["slow_target"] >= 0
        return Simulation(
            platform=line["platform"],
            variant=line["variant"],
            ranks=line["ranks"],
            targets=line["targets"],
            bytes=line["bytes"],
            seconds=line["seconds"],
            seconds_open=line["seconds_open"],
            seconds_close=line["seconds_close"],
            seconds_bound=line["seconds_bound"],
            rounds=line["rounds"],
            messages=line["messages"],
            message_bytes=line["message_bytes"],
            requests=line["requests"],
            slow_target=line["slow_target"] if is_slow else None,
            slow_target_requests_in_flight=(
                line["slow_target_requests_in_flight"] if is_slow else None
            ),
            wrong_bytes=line["wrong_bytes"],
            error=line["error"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise SimulationError(
            f"cannot read what the simulator said ({error}). Install Forebay anew."
        ) from error


def words_of(platform: str, *, variant: str, settings: Sequence[str]) -> tuple[str, ...]:
    """The simulator's command line without its name. Settings win over the variant's."""
    return (f"platform={platform}", f"variant={variant}", *settings)
