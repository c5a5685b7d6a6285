"""Judges from the numbers of a pool whether it paid, and if not, why (docs/pool.md says how).

The pool wins at most the time that the file system took, and costs what programs waited for it. The
first is measured for the pool's own requests, which are large; for small ones it is mostly the
pool's own handling. Many small files are not worth a pool whatever it says: the kernel's cache
takes them at once."""

from __future__ import annotations

from enum import Enum

from forebay.common.model.frozen import frozen
from forebay.pool.model.pool import PoolEnd, PoolStatus

_REQUEST_BYTES_LEAST = 256 << 10
"""Bytes of an average request from which on the file system's time is one for moving bytes."""
_SMALL_BYTES_MAX = 1 << 20
"""Below this, on average, files are called small."""
_MANY = 100
"""Fewer opens are not the reason: one of them may have been slow."""
_SECONDS_LEAST = 0.05
"""Waits below this are not worth a word about whether the pool paid."""
_SHARE_LEAST = 0.01
"""So are waits below this share of the program's time."""
_OPEN_SECONDS = 0.001
"""Seconds that an open may take beyond the wait that is counted, for its question and answer."""
_FULL_SHARE = 0.9
"""A pool, or a file's window, that was filled to this share may have been too small."""
_BY_CAPTURE = frozenset({"append", "stream", "copied", "inherited", "uncaptured"})
"""Reasons for going past the pool that a mounted one does not have."""
_WINS_LEAST = 0.1
"""The pool must have spared this share of the file system's time to have paid."""


class Judgement(Enum):
    """The outcome of a pool's work."""

    INCOMPLETE = "incomplete"
    """Some bytes did not arrive."""
    PAST = "past"
    """All files went past the pool."""
    COST = "cost"
    """Programs waited about as long as the file system took, or longer."""
    FINE = "fine"
    """None of these."""


class Cause(Enum):
    """Causes of a program's wait where the pool did not pay."""

    OPENS = "opens"
    SYNCS = "syncs"
    CHANGES = "changes"
    """Changes of files' times, owner, mode or size, before which they had to be drained."""
    PAST = "past"
    """Most files went past the pool, which had to be emptied of them before."""
    ROOM = "room"
    """Room in the pool, or in the window of a file, which was full."""


@frozen
class PoolVerdict:
    """Whether a pool paid. `waited_seconds` is the time that programs waited for it, summed over
    processes. `without_seconds` estimates how long they would have waited without it; None if the
    numbers do not tell. The counts are those of the causes."""

    judgement: Judgement
    waited_seconds: float = 0.0
    is_at_least: bool = False
    """Whether more was waited: the counts of some files were dropped, or there were so many opens
    that the way of the answers counts, which the daemon does not see."""
    without_seconds: float | None = None
    cause: Cause | None = None
    """None if the pool paid, or the cause is none of them."""
    has_reads: bool = False
    """Whether programs read enough to be read ahead of, which `waited_seconds` leaves out."""
    processes: int = 1
    """The most at a time."""
    files: int = 0
    past: int = 0
    """How many of the files went past the pool."""
    mount_helps: bool = False
    """Whether some of these would be in a pool that is mounted."""
    opens: int = 0
    are_small: bool = False
    """Whether the files are small, on average."""
    syncs: int = 0


def verdict_of(end: PoolEnd, *, seconds: float | None) -> PoolVerdict:
    """The verdict on a pool that has ended. `seconds` is how long the program ran, None if it is
    not known."""
    status = end.status
    if status is None or not end.arrived:
        return PoolVerdict(judgement=Judgement.INCOMPLETE)
    files = [file for file in status.files if file.taken or file.past_the_pool]
    found = _Found(
        status=status,
        waited=sum(file.waited_seconds for file in status.files),
        files=len(files),
        past=sum(file.past_the_pool is not None for file in files),
        opens=sum(file.times for file in files),
    )
    cause = _cause(found)
    judgement = _judged(found, cause, seconds)
    return PoolVerdict(
        judgement=judgement,
        waited_seconds=found.waited,
        is_at_least=status.files_dropped > 0 or cause is Cause.OPENS,
        without_seconds=_without(status),
        cause=cause if judgement is Judgement.COST else None,
        has_reads=status.read_ahead > 0,
        processes=max(status.clients_high, 1),
        files=found.files,
        past=found.past,
        mount_helps=any(file.reason in _BY_CAPTURE for file in files),
        opens=found.opens,
        are_small=found.are_small,
        syncs=sum(file.syncs for file in files),
    )


@frozen
class _Found:
    status: PoolStatus
    waited: float
    files: int
    past: int
    opens: int

    @property
    def are_small(self) -> bool:
        """Whether the files are small, on average."""
        return self.status.taken < _SMALL_BYTES_MAX * self.opens


def _judged(found: _Found, cause: Cause | None, seconds: float | None) -> Judgement:
    status = found.status
    if not status.taken and found.past:
        return Judgement.PAST
    # Processes may have waited at the same time, so that the program waited at least so long.
    processes = max(status.clients_high, 1)
    waited = found.waited / processes
    uncounted = _OPEN_SECONDS * found.opens / processes if cause is Cause.OPENS else 0.0
    if waited < _SECONDS_LEAST or waited + uncounted < _SHARE_LEAST * (seconds or 0.0):
        return Judgement.FINE
    by_number = cause in (Cause.OPENS, Cause.CHANGES) and found.opens >= _MANY
    are_many_small = by_number and not _are_large(status)
    if are_many_small or waited >= (1 - _WINS_LEAST) * status.storage_seconds:
        return Judgement.COST
    return Judgement.FINE


def _without(status: PoolStatus) -> float | None:
    """The time that the file system took for the program's bytes; None if it took it for others as
    well, or for requests so small that it tells nothing."""
    return status.storage_seconds if _are_large(status) and not status.read_ahead else None


def _are_large(status: PoolStatus) -> bool:
    """Whether the requests are large on average: if not, or if there are none, their time is not
    that of moving bytes."""
    moved = sum(file.storage_bytes for file in status.files)
    requests = sum(file.requests for file in status.files)
    return requests > 0 and moved >= _REQUEST_BYTES_LEAST * requests


def _cause(found: _Found) -> Cause | None:
    files = found.status.files
    opening = sum(file.opening_seconds for file in files)
    syncing = sum(file.syncing_seconds for file in files)
    draining = sum(file.draining_seconds for file in files)
    longest = max(opening, syncing, draining, found.waited - opening - syncing - draining)
    if longest <= 0:
        return None
    if syncing == longest:
        return Cause.SYNCS
    if 2 * found.past >= found.files and found.past:
        return Cause.PAST
    if opening == longest:
        return Cause.OPENS if found.opens >= _MANY else None
    if draining == longest:  # also that of files that left the pool
        return Cause.PAST if found.past else Cause.CHANGES
    return Cause.ROOM if _was_full(found.status) else None


def _was_full(status: PoolStatus) -> bool:
    """Whether the pool or the window of a file was full, or nearly so, at a time."""
    fullest = max((file.high - _FULL_SHARE * file.window for file in status.files), default=-1.0)
    return fullest >= 0 or status.high >= _FULL_SHARE * status.cap
