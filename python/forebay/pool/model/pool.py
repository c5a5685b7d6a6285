"""The pool of a node: its daemon's status, the status of each file, and how a daemon ended."""

from collections.abc import Mapping
from typing import Optional

from forebay.common.model.frozen import frozen
from forebay.common.model.record import PoolNode, PoolSample

EX_IOERR = 74
"""Exit status if bytes did not reach their file (sysexits.h)."""
EX_TEMPFAIL = 75
"""Exit status if they did, but were not always kept as durably as was asked for."""

SILENT_SECONDS_MAX = 30.0
"""A file system is called hanging after this long without an answer. It may recover, as after the
failover of a server."""
REASONS: Mapping[str, str] = {
    "mapped": "mapped into memory (mmap)",
    "stream": "standard input or output, freopen, or wide characters of C stdio",
    "append": "opened for appending (O_APPEND)",
    "direct": "opened with O_DIRECT or O_SYNC",
    "copied": "copied inside the kernel (sendfile, copy_file_range, splice)",
    "inherited": "inherited by another program",
    "sent": "its descriptor was sent to another process",
    "async": "asynchronous calls (aio, io_uring)",
    "asked": "a setting, or a call or a limit of file sizes that the pool cannot serve",
    "switched": "the program switched it by ioctl",
    "no_memory": "no memory came free, since what filled it could not be drained",
    "read_and_written": "read and written (pool_consistency=paper)",
    "job_ends": "the pool took nothing more, since the job was to end",
    "other_nodes": "several nodes had it open, and one of them wrote",
    "node_lost": "the daemon of another node had gone",
    "no_room": "the file system had less room than what was in the pool",
    "no_journal": "the journal could not be written",
    "full": "the pool had no room for so many processes",
    "no_descriptor": "the daemon may not have more files open (ulimit -n)",
    "unmapped": "a process could not map the pool's memory",
    "uncaptured": "a program ran that does not go through Forebay",
    "tables": "threads or processes did not share memory and descriptors alike (clone, unshare)",
    "flags": "a call had flags that the pool does not know (preadv2, pwritev2)",
    "stuck_log": "a process left a write in its middle (siglongjmp, a thread that was cancelled)",
}


@frozen
class PoolFile:
    """One file, summed over all times that the pool knew it."""

    path: str
    """The path by which it was opened; only the end of a very long one."""
    state: str
    """"pooled", "leaving", "through" or "closed" (schema/pool.md)."""
    reason: str
    """Why it first bypassed the pool: a key of REASONS, or "closing"; empty if it never did."""
    error: int
    """The errno of the last error in draining; 0 if there was none."""
    error_text: str
    taken: int
    """Bytes that programs wrote into the pool."""
    drained: int
    """The part of `taken` that is on the file system or was overwritten before it got there."""
    outstanding: int
    """Taken bytes that are not drained."""
    window: int
    """Upper bound of `outstanding`."""
    high: int
    """Peak of `outstanding`."""
    extents: int
    """Number of contiguous runs of outstanding bytes."""
    oldest_seconds: float
    """Age of the oldest outstanding byte."""
    silent_seconds: float
    """Time since the file system owes an answer; 0 if no request is in flight."""
    waited_seconds: float
    """Time that programs waited for free memory, for the file system, or for the daemon's replies
    to open, sync and truncate, summed over all processes."""
    opening_seconds: float
    """The part of `waited_seconds` that was waited for opens."""
    syncing_seconds: float
    """The part of `waited_seconds` that was waited for syncs: until the bytes were drained, and
    durable if that was asked for."""
    draining_seconds: float
    """The part of `waited_seconds` that was waited until the bytes were drained for another reason:
    before the file's times, owner, mode or size were changed, or it left the pool."""
    syncs: int
    """How many syncs were waited for."""
    storage_seconds: float
    """Time with at least one request to the file system in flight."""
    storage_bytes: int
    """Bytes that these requests moved."""
    requests: int
    rate: float
    """Bytes per second of these requests."""
    times: int
    """How many times a program opened the file while the pool did not know it."""

    @property
    def hidden_seconds(self) -> float:
        """Time in the file system that no program waited for."""
        return max(0.0, self.storage_seconds - self.waited_seconds)

    @property
    def hidden(self) -> Optional[float]:
        """The hidden share of the time in the file system; None if there was no such time."""
        if self.storage_seconds <= 0:
            return None
        return self.hidden_seconds / self.storage_seconds

    @property
    def past_the_pool(self) -> Optional[str]:
        """Why some of its bytes bypassed the pool, or None. Bytes that were written after the pool
        was told to stop do not count."""
        if self.reason == "closing":
            return None
        return REASONS.get(self.reason, self.reason) or None


@frozen
class Rescued:
    """Bytes that did not reach their file. They are in rescue file `file`, or, if that is empty,
    lost: `problem` says why."""

    path: str
    error: int
    """The errno of the last attempt; 0 if the daemon was told to end before it tried."""
    error_text: str
    bytes: int
    file: str
    problem: str

    @property
    def next_step(self) -> tuple[str, ...]:
        """The command that writes the bytes to their file; empty if they are lost."""
        return ("forebay", "pool", "rescue", self.file) if self.file else ()


@frozen
class WaitHistogram:
    """How long clients waited for the daemon's answers, for all files since the daemon began."""

    kind: str
    """The answer that they waited for: "open", "sync", or "drain" (until the bytes were drained
    for another reason)."""
    seconds: float
    """All waits, added up."""
    counts: tuple[int, ...]
    """The waits in each bucket of `PoolStatus.wait_bounds_seconds`, not added up over shorter ones;
    the last, which is one more, has those above all bounds."""


@frozen
class PoolStatus:
    """A daemon's status at one moment."""

    process: int
    """The daemon's process id."""
    uptime_seconds: float
    ended: bool
    closing: bool
    """Whether it takes no more deposits, since it was told to stop."""
    cap: int
    """Upper bound of the memory for deposits, in bytes."""
    leased: int
    """Memory that is reserved for clients, in bytes: whole blocks, partly for future writes."""
    high: int
    """Peak of the reserved memory; the deposits themselves took less."""
    read_ahead_held: int
    """Bytes read ahead that are still cached."""
    read_ahead: int
    """Bytes that were read ahead of programs in total."""
    lag: int
    """Writes in clients' logs that the daemon has not looked at yet."""
    oldest_seconds: float
    """Age of the oldest byte that is not on the file system."""
    clients: tuple[int, ...]
    """Process ids of the programs that use the pool."""
    files: tuple[PoolFile, ...]
    files_dropped: int
    """Closed files whose counts were dropped, since there were too many."""
    rescued: tuple[Rescued, ...]
    notes: tuple[str, ...] = ()
    """Messages for users about the journal."""
    durability_ended: str = ""
    """Why the requested durability is not kept any more; empty if it is."""
    host: str = ""
    """The daemon's node."""
    storage_seconds: float = 0.0
    """Time with at least one request to the file system in flight, of whatever file."""
    clients_high: int = 0
    """The most processes that used the pool at a time."""
    read_from_nodes: int = 0
    """The part of `read_ahead` that came from the pools of other nodes."""
    passed_to_nodes: int = 0
    """Bytes that this node passed on to other nodes."""
    written_by_nodes: int = 0
    """Bytes of this node that another one has written to the file system for it."""
    written_for_nodes: int = 0
    """Bytes that this node has written to the file system for others."""
    wait_bounds_seconds: tuple[float, ...] = ()
    """The upper bounds of the buckets of `waits`, ascending."""
    waits: tuple[WaitHistogram, ...] = ()
    """One histogram for each kind."""
    memory: int = 0
    """Bytes of memory that the pool and the programs may use together; 0 if not known."""
    memory_limit_file: str = ""
    """The file with the control group's limit; empty if the node's memory is the limit."""

    @property
    def hangs(self) -> Optional[PoolFile]:
        """The file whose file system has not answered for longest, if for too long; else None."""
        silent = max(self.files, key=lambda file: file.silent_seconds, default=None)
        return silent if silent and silent.silent_seconds >= SILENT_SECONDS_MAX else None

    @property
    def taken(self) -> int:
        """Bytes that programs wrote into the pool, for all files."""
        return sum(file.taken for file in self.files)

    @property
    def outstanding(self) -> int:
        """Taken bytes that are not on the file system, for all files."""
        return sum(file.outstanding for file in self.files)


@frozen
class Lost:
    """Bytes of a file that were lost when a daemon died."""

    path: str
    bytes: int


@frozen
class PoolEnd:
    """How a daemon ended. If it did not end by itself, `status` is None and `death` says why.
    `messages` are the last lines of its log."""

    status: Optional[PoolStatus]
    seconds: float
    death: Optional[str] = None
    lost: tuple[Lost, ...] = ()
    messages: tuple[str, ...] = ()
    samples: tuple[PoolSample, ...] = ()
    """The pool's counts in the course of the run, if they were asked for; on several nodes their
    sums."""
    nodes: int = 1
    """Nodes that had a daemon."""
    most_waited: Optional[PoolNode] = None
    """The node, of several, whose processes waited longest; None where none waited, or counts
    were not asked for."""

    @property
    def arrived(self) -> bool:
        """Whether all bytes are on the file system."""
        return self.death is None and self.status is not None and not self.status.rescued

    @property
    def exit_status(self) -> int:
        """The exit status of a command that reports the end; 0 if everything went as requested."""
        if not self.arrived:
            return EX_IOERR
        return EX_TEMPFAIL if self.status and self.status.durability_ended else 0
