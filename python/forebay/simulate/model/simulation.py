"""The simulator's results for one experiment (schema forebay.simulation/1)."""

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from forebay.common.model.errors import SimulationError
from forebay.common.model.frozen import frozen

SCHEMA = "forebay.simulation/1"
_Said = TypeVar("_Said")
VARIANTS = ("forebay", "original", "placement", "earth(wr:2)", "earth(wr,ex:2)")

PLATFORM_KEYS = (
    ("nodes", "nodes that compute"),
    ("ranks_per_node", "ranks on each"),
    ("link_rate", "of a node's interface, as in 2GB/s"),
    ("memory_rate", "copying by all ranks of a node together"),
    ("copy_rate", "copying by one rank"),
    ("message_time", "a message costs so much at both ends, as in 3us"),
    ("rank_send_rate", "sending by one rank where every rank is alone"),
    ("rank_receive_rate", "taking in by one rank, likewise"),
    ("client_rate", "writing by one rank into the file system's client"),
    ("rpc_bytes", "largest request of a node's client, as in 4MiB"),
    ("rpcs_in_flight", "of a node's client at a target"),
    ("dirty_bytes", "that a node's client holds back for a target"),
    ("read_ahead", "by a node's client, for all its ranks together"),
    ("call_time", "of a node's client, a call and each stripe of it"),
    ("servers", "storage servers"),
    ("server_memory", "of each, for what nodes' clients have read"),
    ("targets", "storage targets, over all servers"),
    ("target_rate", "of a target, as in 500MB/s"),
    ("request_time", "a request costs a target so much"),
    ("interference_per_stream", "slows a target for each client past streams_free"),
    ("streams_free", "clients that a target serves at full speed"),
    ("interference_per_queued", "slows a target for each request past queued_free"),
    ("queued_free", "requests that may wait at a target at full speed"),
    ("lock_time", "a lock that another one has costs so much, as in 1ms"),
    ("grant_time", "a node's client waits so long for a lock that is free"),
    ("jitter", "a target's times vary by this share, 0 to 1"),
    ("stripe_bytes", "stripe size of the file, as in 1MiB"),
    ("object_time", "making a file costs so much for each of its stripes"),
)
KEYS = (
    ("aggregators_per_target", "aggregators that share a target"),
    ("cb_nodes", "aggregators at most; 0: as many as fit"),
    ("cb_buffer_size", "an aggregator's window, as in 4MiB"),
    ("buffers", "windows that an aggregator has"),
    ("staging_bytes_max", "memory for staging on each node"),
    ("requests_in_flight", "requests a target has at a time (k); 0: found"),
    ("request_bytes_max", "largest request"),
    ("per_node", "aggregators on a node at most"),
    ("region_count", "regions of each rank a call"),
    ("region_bytes", "bytes of a region"),
    ("region_spacing", "bytes between regions that nobody writes"),
    ("calls", "collective calls, one after the other"),
    ("seed", "of what is random; the same gives the same times"),
    ("sick_target", "the target that is ill, from 0; -1: none"),
    ("sick_slower", "its requests take so many times as long"),
    ("sick_error_from", "it fails from this second on; -1: never"),
    ("ranks_alone", "1: every rank is a node of its own"),
    ("blocking", "1: a rank does nothing else while it writes, as in pwrite"),
    ("read", "1: reads instead of writing"),
    ("verify", "1: writes real bytes, reads them back, compares"),
)


@frozen
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
        """The failure, as a message; empty: there was none."""
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
    """Parses the simulator's line. Any other line is an error of the installation."""

    def make(line: Mapping[str, Any]) -> Simulation:
        said = fields_of(Simulation, line)
        if said["slow_target"] < 0:
            said |= {"slow_target": None, "slow_target_requests_in_flight": None}
        return Simulation(**said)

    return parse_line(text, SCHEMA, make)


def parse_line(text: str, schema: str, make: Callable[[Mapping[str, Any]], _Said]) -> _Said:
    """The result of `make` for a line of that schema. SimulationError: it is none, or lacks what
    `make` asks for."""
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
    """The value of each field of a frozen class, from a line. KeyError: it lacks one."""
    return {field.name: line[field.name] for field in fields(kind)}


def words_of(platform: str, *, variant: str, settings: Sequence[str]) -> tuple[str, ...]:
    """The simulator's command line without its name. Settings win over the variant's.
    SimulationError: no such key."""
    for word in settings:
        check_key(word, [*(key for key, _ in (*PLATFORM_KEYS, *KEYS)), "variant"])
    return (f"platform={platform}", f"variant={variant}", *settings)


def check_key(word: str, known: Sequence[str]) -> None:
    """SimulationError: `word` is KEY=VALUE, and no such key is known."""
    name, equals, _ = word.partition("=")
    if not equals or name in known:
        return  # what is no KEY=VALUE the simulator refuses
    nearest = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.0)[0]
    raise SimulationError(
        f'cannot use "{word}" (no key is called "{name}"). Did you mean "{nearest}"? '
        "`forebay simulate --help` lists all."
    )
