"""The metrics of a node's daemons, from what they say of themselves. Units are seconds and bytes;
names follow OpenMetrics 1.0 (units as suffixes; `_total` is added to counters)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import accumulate

from forebay.common.model.frozen import frozen
from forebay.pool.model.pool import PoolStatus, WaitHistogram

_LABEL_BYTES_MAX = 100
"""A user's or a reason's name is cut to so many characters."""


class MetricKind(Enum):
    """The type of a metric family."""

    COUNTER = "counter"
    GAUGE = "gauge"
    SUMMARY = "summary"
    HISTOGRAM = "histogram"


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
    return (count, *(one for one in (*families, _wait_family(daemons, own)) if one.samples))


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


def _wait_family(daemons: Sequence[PoolStatus], own: Mapping[str, str]) -> MetricFamily:
    """Waits by kind. The counts of a daemon never fall, unlike sums over files."""
    samples: list[MetricSample] = []
    for daemon in daemons:
        for waits in daemon.waits:
            labels = {**own, "process": str(daemon.process), "kind": waits.kind}
            samples += _histogram(waits, daemon.wait_bounds_seconds, labels)
    return MetricFamily(
        name="forebay_pool_wait_seconds",
        kind=MetricKind.HISTOGRAM,
        unit="seconds",
        text="How long programs waited for single answers of the daemon: to open, to sync, and "
        "until bytes were drained for another reason. Waits for room are not in it.",
        samples=tuple(samples),
    )


def _histogram(
    waits: WaitHistogram, bounds: Sequence[float], labels: Mapping[str, str]
) -> Iterator[MetricSample]:
    """The samples of one histogram: buckets that have all shorter waits in them, too."""
    up_to = accumulate(waits.counts)
    for bound, count in zip((*(repr(float(one)) for one in bounds), "+Inf"), up_to):
        yield MetricSample(suffix="_bucket", labels={**labels, "le": bound}, value=count)
    yield MetricSample(suffix="_count", labels=labels, value=sum(waits.counts))
    yield MetricSample(suffix="_sum", labels=labels, value=waits.seconds)


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


def _definition(
    kind: MetricKind, name: str, text: str, amounts: Amounts, label: str = ""
) -> _Definition:
    last = name.rpartition("_")[2]
    return _Definition(
        name=name,
        kind=kind,
        unit=last if last in _UNITS else "",
        text=text,
        amounts=amounts,
        label=label,
    )


_UNITS = {"seconds", "bytes"}
_counter = partial(_definition, MetricKind.COUNTER)
_gauge = partial(_definition, MetricKind.GAUGE)
_summary = partial(_definition, MetricKind.SUMMARY)
_DEFINITIONS = (
    _gauge(
        "forebay_pool_uptime_seconds",
        "How long the daemon has been there.",
        _one(lambda now: now.uptime_seconds),
    ),
    _counter(
        "forebay_pool_deposited_bytes",
        "Bytes that programs wrote into the pool.",
        _of_files("taken"),
    ),
    _counter(
        "forebay_pool_drained_bytes",
        "Deposited bytes that are on the file system or were overwritten before.",
        _of_files("drained"),
    ),
    _gauge(
        "forebay_pool_lag_bytes",
        "Deposited bytes that are not on the file system.",
        _one(lambda now: now.outstanding),
    ),
    _gauge(
        "forebay_pool_lag_age_seconds",
        "Age of the oldest byte that is not on the file system.",
        _one(lambda now: now.oldest_seconds),
    ),
    _gauge(
        "forebay_pool_lag_writes",
        "Writes of programs that the daemon has not looked at yet.",
        _one(lambda now: now.lag),
    ),
    _counter(
        "forebay_pool_waited_seconds",
        "Time that processes waited, added up: for opens, for syncs, and for all else (room, "
        "the file system, truncation).",
        _waits,
        label="kind",
    ),
    _summary(
        "forebay_pool_sync_wait_seconds",
        "Syncs that programs waited for, and for how long.",
        _syncs,
    ),
    _counter(
        "forebay_pool_storage_busy_seconds",
        "Time with at least one request at the file system.",
        _one(lambda now: now.storage_seconds),
    ),
    _counter(
        "forebay_pool_storage_moved_bytes",
        "Bytes that requests to the file system moved.",
        _of_files("storage_bytes"),
    ),
    _counter(
        "forebay_pool_storage_requests", "Requests to the file system.", _of_files("requests")
    ),
    _gauge(
        "forebay_pool_storage_silent_seconds",
        "How long the file system has owed an answer; 0 if it owes none.",
        _one(lambda now: max((file.silent_seconds for file in now.files), default=0.0)),
    ),
    _gauge(
        "forebay_pool_files",
        "Files that the daemon knows, by state; closed ones, too.",
        _states,
        label="state",
    ),
    _gauge(
        "forebay_pool_past_files",
        "Files that went past the pool, by the first reason.",
        _past,
        label="reason",
    ),
    _gauge(
        "forebay_pool_failing_files",
        "Files with an error in draining, by the last one.",
        _failing,
        label="error",
    ),
    _counter(
        "forebay_pool_uncounted_files",
        "Closed files whose counts are not in the sums any more, since there were too many.",
        _one(lambda now: now.files_dropped),
    ),
    _gauge(
        "forebay_pool_memory_used_bytes",
        "Memory that is reserved for programs, in whole blocks.",
        _one(lambda now: now.leased),
    ),
    _gauge(
        "forebay_pool_memory_peak_bytes",
        "The most memory that was reserved.",
        _one(lambda now: now.high),
    ),
    _gauge(
        "forebay_pool_memory_cap_bytes",
        "The most memory that may be reserved (pool_cap).",
        _one(lambda now: now.cap),
    ),
    _gauge(
        "forebay_pool_memory_limit_bytes",
        "Memory of the node or of the control group, for programs and pool together; 0 if not "
        "known.",
        _one(lambda now: now.memory),
    ),
    _counter(
        "forebay_pool_read_ahead_bytes",
        "Bytes that were read ahead of programs.",
        _one(lambda now: now.read_ahead),
    ),
    _gauge(
        "forebay_pool_read_ahead_held_bytes",
        "Bytes read ahead that are still held.",
        _one(lambda now: now.read_ahead_held),
    ),
    _gauge(
        "forebay_pool_clients", "Processes that use the pool.", _one(lambda now: len(now.clients))
    ),
    _gauge(
        "forebay_pool_closing",
        "1 if the daemon takes nothing more, since it was told to stop; else 0.",
        _one(lambda now: now.closing),
    ),
    _gauge(
        "forebay_pool_durability_ended",
        "1 if the journal of pool_durability=node is not written any more; else 0.",
        _one(lambda now: bool(now.durability_ended)),
    ),
)
