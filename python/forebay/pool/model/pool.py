"""The pool of a node: what its daemon says of itself and of each file, and how a run through it
ended."""

from collections.abc import Mapping
from pathlib import Path

from forebay.common.model.frozen import frozen

EX_IOERR = 74
"""Exit status where bytes did not arrive (sysexits.h)."""
EX_TEMPFAIL = 75
"""… where they did, but were not kept as durably as was asked for all the time."""

SOCKET_VARIABLE = "FOREBAY_POOL_SOCKET"
PATHS_VARIABLE = "FOREBAY_POOL_PATHS"
DAEMON_VARIABLE = "FOREBAY_POOL_DAEMON"
"""Which process listens at the socket: programs tell nothing to another one."""
PATHS_SETTING = "pool_paths"
NODES_SETTING = "pool_nodes"
STARTER_SETTING = "pool_starter"
MOUNT_SETTING = "pool_mount"
MOUNT_NEVER, MOUNT_REQUIRED = "never", "require"
PATHS_MAX = 16
"""As many paths as a captured program looks at (src/pool/capture/files/paths.hpp)."""
SILENT_SECONDS_MAX = 30.0
"""A file system that does not answer for longer hangs: it may recover, as after a server's
failure."""
SOCKET_NAME_MAX = 107
"""Bytes of a socket's path that the kernel takes."""

REASONS: Mapping[str, str] = {
    "mapped": "mapped into memory (mmap)",
    "stream": "standard input or output, freopen, or wide characters of C stdio",
    "append": "opened for appending (O_APPEND)",
    "direct": "opened with O_DIRECT or O_SYNC",
    "copied": "copied inside the kernel (sendfile, copy_file_range, splice)",
    "inherited": "inherited by another program",
    "sent": "its descriptor was sent to another process",
    "async": "asynchronous calls (aio, io_uring)",
    "asked": "the program or a setting asked for it",
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
    """One file, all times that the pool knew it together."""

    path: str
    """As it was opened; of a long one the end."""
    state: str
    """pooled, leaving, through or closed, as schema/pool.md has them."""
    reason: str
    """Why it was not pooled, the first time: of REASONS, or closing; empty: it was."""
    error: int
    """Errno of the last error of draining; 0: there was none."""
    error_text: str
    taken: int
    """Bytes that programs gave."""
    drained: int
    """Those of the taken bytes that are with the file system or were overwritten."""
    outstanding: int
    """The other bytes."""
    window: int
    """Bytes that may be outstanding at most."""
    high: int
    """Bytes that were outstanding at most."""
    extents: int
    """Runs of bytes that are outstanding."""
    oldest_seconds: float
    """Age of the oldest of them."""
    silent_seconds: float
    """That the file system has owed an answer; 0: it owes none."""
    waited_seconds: float
    """That programs waited for room, for the file system, or for the daemon's answers when they
    opened, synced or truncated it: all processes together."""
    storage_seconds: float
    """With at least one request at the file system."""
    storage_bytes: int
    """That these requests moved."""
    requests: int
    rate: float
    """Bytes a second."""
    times: int
    """How often the file became known."""

    @property
    def hidden_seconds(self) -> float:
        """Time of the file system that no program waited for."""
        return max(0.0, self.storage_seconds - self.waited_seconds)

    @property
    def hidden(self) -> float | None:
        """The part of the file system's time that was hidden; None: it took none."""
        if self.storage_seconds <= 0:
            return None
        return self.hidden_seconds / self.storage_seconds

    @property
    def past_the_pool(self) -> str | None:
        """Why something of it went to the file system directly; None: nothing did, unless it was
        written after the pool was told to stop."""
        if self.reason == "closing":
            return None
        return REASONS.get(self.reason, self.reason) or None


@frozen
class Rescued:
    """Bytes that did not arrive. They are in `file`, or nowhere: `problem` says why."""

    path: str
    error: int
    """Errno; 0: the daemon was told to end before it had tried."""
    error_text: str
    bytes: int
    file: str
    problem: str

    @property
    def next_step(self) -> tuple[str, ...]:
        """The words of the command that finishes the work, if there is one."""
        return ("forebay", "pool", "rescue", self.file) if self.file else ()


@frozen
class PoolStatus:
    """A daemon at a moment."""

    process: int
    """Its number."""
    uptime_seconds: float
    ended: bool
    closing: bool
    """It takes nothing more, since it was told to stop."""
    cap: int
    """Bytes of memory for deposits at most."""
    leased: int
    """Bytes of memory that are reserved: whole blocks, in part for what programs may write next."""
    high: int
    """Bytes that were reserved at most: more than was ever held."""
    read_ahead_held: int
    """Those of the bytes read ahead that it still has."""
    read_ahead: int
    """Bytes that were read ahead of programs."""
    lag: int
    """Writes that it has not looked at yet."""
    oldest_seconds: float
    """Age of the oldest byte that is not with the file system."""
    clients: tuple[int, ...]
    """Process numbers of programs that use it."""
    files: tuple[PoolFile, ...]
    files_dropped: int
    """Closed files of which nothing was kept, since there were too many."""
    rescued: tuple[Rescued, ...]
    notes: tuple[str, ...] = ()
    """Messages for people about its journal."""
    durability_ended: str = ""
    """Why the durability that was asked for is not kept any more; empty: it is."""
    host: str = ""
    """Where it is."""
    read_from_nodes: int = 0
    """Those of the bytes read ahead that other nodes passed on to this one."""
    passed_to_nodes: int = 0
    """Bytes that this node passed on to others."""
    memory: int = 0
    """Bytes that the pool and the programs may use together; 0: not known."""
    memory_limit_file: str = ""
    """File with the limit of the control group; empty: the limit is the node's memory."""

    @property
    def hangs(self) -> PoolFile | None:
        """The file whose file system has been silent longest, if that is too long."""
        silent = max(self.files, key=lambda file: file.silent_seconds, default=None)
        return silent if silent and silent.silent_seconds >= SILENT_SECONDS_MAX else None

    @property
    def taken(self) -> int:
        """Bytes that programs have given."""
        return sum(file.taken for file in self.files)

    @property
    def outstanding(self) -> int:
        """Those of the taken bytes that are not yet with the file system."""
        return sum(file.outstanding for file in self.files)


@frozen
class Lost:
    """Bytes of a file that a daemon took with it when it died."""

    path: str
    bytes: int


@frozen
class RunningDaemon:
    """A process of the user's, and where it listens."""

    process: int
    socket: Path


@frozen
class PoolPlace:
    """Where a daemon listens, and what it is started with."""

    socket: Path
    environment: Mapping[str, str]
    folder: Path
    nodes: int = 1
    """More than one: a daemon listens on each of them, at the same path."""
    starter: tuple[str, ...] = ()
    """The command that starts them; empty: Slurm's."""
    shared: Path | None = None
    """A folder that all nodes have, where the starter passes standard input to its first task
    only: the daemons are told there what others are told on standard input."""


@frozen
class PoolEnd:
    """How a daemon ended. `status` is None, and `death` says why, when it did not end by itself;
    `messages` are the lines that it has written."""

    status: PoolStatus | None
    seconds: float
    death: str | None = None
    lost: tuple[Lost, ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def arrived(self) -> bool:
        """Whether everything is with the file system."""
        return self.death is None and self.status is not None and not self.status.rescued

    @property
    def exit_status(self) -> int:
        """Exit status of a command that reports the end; 0: all is as was asked for."""
        if not self.arrived:
            return EX_IOERR
        return EX_TEMPFAIL if self.status and self.status.durability_ended else 0


LIBRARY_PREFIX = "libforebay_"
"""Prefix of the libraries that are preloaded."""


def daemon_text(process: int, socket: Path) -> str:
    """The value of DAEMON_VARIABLE: it says nothing of another socket."""
    return f"{process}:{socket}"


def paths_text(paths: tuple[Path, ...]) -> str:
    """The value of PATHS_VARIABLE."""
    return ",".join(str(path) for path in paths)
