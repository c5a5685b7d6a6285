"""The metrics of a node's daemons, from what they say of themselves. Units are seconds and bytes;
names follow OpenMetrics 1.0 (units as suffixes; `_total` is added to counters)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from forebay.common.model.frozen import frozen
from forebay.pool.model.pool import PoolStatus

_LABEL_BYTES_MAX = 100
"""A user's or a reason's name is cut to so many characters."""


class MetricKind(Enum):
    """The type of a metric family."""

    COUNTER = "counter"
    GAUGE = "gauge"
    SUMMARY = "summary"


@frozen
class MetricSample:
    """One value. `suffix` is appended to the family's name, as `_total` or `_count`."""

    suffix: str
    labels: Mapping[str, str]
    value: float


@frozen
class MetricFamily:
    """All samples of one name. `unit` is its last word, or empty."""

    name: str
    kind: MetricKind
    unit: str
    text: str
    samples: tuple[MetricSample, ...]


Amounts = Callable[[PoolStatus], Mapping[str, float]]


@frozen
class _Definition:
    """A family with one label, or none (`label` is empty), besides those that name the daemon."""

    name: str
    kind: MetricKind
    unit: str
    text: str
    amounts: Amounts
    label: str = ""


def families_of(daemons: Sequence[PoolStatus], *, user: str) -> tuple[MetricFamily, ...]:
    """The metrics of all daemons of a user; if there is none, only how many there are."""
    own = {"user": user[:_LABEL_BYTES_MAX]}
    count = MetricFamily(
        name="forebay_pool_daemons",
        kind=MetricKind.GAUGE,
        unit="",
        text="Daemons of the user that run on this node.",
        samples=(MetricSample(suffix="", labels=own, value=len(daemons)),),
    )
    families = (_family(one, daemons, own) for one in _DEFINITIONS)
    return (count, *(one for one in families if one.samples))


def _family(
    definition: _Definition, daemons: Sequence[PoolStatus], own: Mapping[str, str]
) -> MetricFamily:
    samples = []
    for daemon in daemons:
        labels = {**own, "process": str(daemon.process)}
        for key, value in sorted(definition.amounts(daemon).items()):
            if definition.kind is MetricKind.SUMMARY:
                samples.append(MetricSample(suffix=key, labels=labels, value=value))
                continue
            more = {definition.label: key[:_LABEL_BYTES_MAX]} if definition.label else {}
            suffix = "_total" if definition.kind is MetricKind.COUNTER else ""
            samples.append(MetricSample(suffix=suffix, labels={**labels, **more}, value=value))
    return MetricFamily(
        name=definition.name,
        kind=definition.kind,
        unit=definition.unit,
        text=definition.text,
        samples=tuple(samples),
    )


def _waits(now: PoolStatus) -> Mapping[str, float]:
    opening = sum(file.opening_seconds for file in now.files)
    syncing = sum(file.syncing_seconds for file in now.files)
    waited = sum(file.waited_seconds for file in now.files)
    return {"open": opening, "sync": syncing, "other": max(0.0, waited - opening - syncing)}


def _syncs(now: PoolStatus) -> Mapping[str, float]:
    return {
        "_count": sum(file.syncs for file in now.files),
        "_sum": sum(file.syncing_seconds for file in now.files),
    }


def _past(now: PoolStatus) -> Mapping[str, float]:
    return Counter(file.reason for file in now.files if file.past_the_pool)


def _failing(now: PoolStatus) -> Mapping[str, float]:
    return Counter(file.error_text or str(file.error) for file in now.files if file.error)


def _states(now: PoolStatus) -> Mapping[str, float]:
    return Counter(file.state for file in now.files)


def _one(value: Callable[[PoolStatus], float]) -> Amounts:
    return lambda now: {"": float(value(now))}


def _of_files(name: str) -> Amounts:
    return _one(lambda now: sum(getattr(file, name) for file in now.files))


_COUNTER, _GAUGE = MetricKind.COUNTER, MetricKind.GAUGE
_DEFINITIONS = (
    _Definition(
        name="forebay_pool_uptime_seconds", kind=_GAUGE, unit="seconds",
        text="How long the daemon has been there.", amounts=_one(lambda now: now.uptime_seconds),
    ),
    _Definition(
        name="forebay_pool_deposited_bytes", kind=_COUNTER, unit="bytes",
        text="Bytes that programs wrote into the pool.", amounts=_of_files("taken"),
    ),
    _Definition(
        name="forebay_pool_drained_bytes", kind=_COUNTER, unit="bytes",
        text="Deposited bytes that are on the file system or were overwritten before.",
        amounts=_of_files("drained"),
    ),
    _Definition(
        name="forebay_pool_lag_bytes", kind=_GAUGE, unit="bytes",
        text="Deposited bytes that are not on the file system.",
        amounts=_one(lambda now: now.outstanding),
    ),
    _Definition(
        name="forebay_pool_lag_age_seconds", kind=_GAUGE, unit="seconds",
        text="Age of the oldest byte that is not on the file system.",
        amounts=_one(lambda now: now.oldest_seconds),
    ),
    _Definition(
        name="forebay_pool_lag_writes", kind=_GAUGE, unit="",
        text="Writes of programs that the daemon has not looked at yet.",
        amounts=_one(lambda now: now.lag),
    ),
    _Definition(
        name="forebay_pool_waited_seconds", kind=_COUNTER, unit="seconds", label="kind",
        text="Time that processes waited, added up: for opens, for syncs, and for all else (room, "
        "the file system, truncation).", amounts=_waits,
    ),
    _Definition(
        name="forebay_pool_sync_wait_seconds", kind=MetricKind.SUMMARY, unit="seconds",
        text="Syncs that programs waited for, and for how long.", amounts=_syncs,
    ),
    _Definition(
        name="forebay_pool_storage_busy_seconds", kind=_COUNTER, unit="seconds",
        text="Time with at least one request at the file system.",
        amounts=_one(lambda now: now.storage_seconds),
    ),
    _Definition(
        name="forebay_pool_storage_moved_bytes", kind=_COUNTER, unit="bytes",
        text="Bytes that requests to the file system moved.", amounts=_of_files("storage_bytes"),
    ),
    _Definition(
        name="forebay_pool_storage_requests", kind=_COUNTER, unit="",
        text="Requests to the file system.", amounts=_of_files("requests"),
    ),
    _Definition(
        name="forebay_pool_storage_silent_seconds", kind=_GAUGE, unit="seconds",
        text="How long the file system has owed an answer; 0 if it owes none.",
        amounts=_one(lambda now: max((file.silent_seconds for file in now.files), default=0.0)),
    ),
    _Definition(
        name="forebay_pool_files", kind=_GAUGE, unit="", label="state",
        text="Files that the daemon knows, by state; closed ones, too.", amounts=_states,
    ),
    _Definition(
        name="forebay_pool_past_files", kind=_GAUGE, unit="", label="reason",
        text="Files that went past the pool, by the first reason.", amounts=_past,
    ),
    _Definition(
        name="forebay_pool_failing_files", kind=_GAUGE, unit="", label="error",
        text="Files with an error in draining, by the last one.", amounts=_failing,
    ),
    _Definition(
        name="forebay_pool_uncounted_files", kind=_COUNTER, unit="",
        text="Closed files whose counts are not in the sums any more, since there were too many.",
        amounts=_one(lambda now: now.files_dropped),
    ),
    _Definition(
        name="forebay_pool_memory_used_bytes", kind=_GAUGE, unit="bytes",
        text="Memory that is reserved for programs, in whole blocks.",
        amounts=_one(lambda now: now.leased),
    ),
    _Definition(
        name="forebay_pool_memory_peak_bytes", kind=_GAUGE, unit="bytes",
        text="The most memory that was reserved.", amounts=_one(lambda now: now.high),
    ),
    _Definition(
        name="forebay_pool_memory_cap_bytes", kind=_GAUGE, unit="bytes",
        text="The most memory that may be reserved (pool_cap).", amounts=_one(lambda now: now.cap),
    ),
    _Definition(
        name="forebay_pool_memory_limit_bytes", kind=_GAUGE, unit="bytes",
        text="Memory of the node or of the control group, for programs and pool together; 0 if not "
        "known.", amounts=_one(lambda now: now.memory),
    ),
    _Definition(
        name="forebay_pool_read_ahead_bytes", kind=_COUNTER, unit="bytes",
        text="Bytes that were read ahead of programs.", amounts=_one(lambda now: now.read_ahead),
    ),
    _Definition(
        name="forebay_pool_read_ahead_held_bytes", kind=_GAUGE, unit="bytes",
        text="Bytes read ahead that are still held.",
        amounts=_one(lambda now: now.read_ahead_held),
    ),
    _Definition(
        name="forebay_pool_clients", kind=_GAUGE, unit="",
        text="Processes that use the pool.", amounts=_one(lambda now: len(now.clients)),
    ),
    _Definition(
        name="forebay_pool_closing", kind=_GAUGE, unit="",
        text="1 if the daemon takes nothing more, since it was told to stop; else 0.",
        amounts=_one(lambda now: now.closing),
    ),
    _Definition(
        name="forebay_pool_durability_ended", kind=_GAUGE, unit="",
        text="1 if the journal of pool_durability=node is not written any more; else 0.",
        amounts=_one(lambda now: bool(now.durability_ended)),
    ),
)  # fmt: skip
