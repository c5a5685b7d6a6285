"""The native library's record as values: schema/record.md in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Optional

from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB


@frozen
class JobRecord:
    """One job, as of the opening of its first file. `rank` is the rank that wrote the line."""

    forebay: str
    mpi: str
    family: str
    ranks: int
    nodes: int
    pid: int
    host: str
    command: str
    started: str
    rank: int = 0


@frozen
class Traffic:
    """One direction of a file: the job's calls, bytes of all ranks, seconds of the slowest."""

    calls: int = 0
    """Collective calls of the job, each counted once."""
    bytes: int = 0
    rounds: int = 0
    """Rounds of the exchange between ranks."""
    requests: int = 0
    """Requests to storage."""
    bypassed_calls: int = 0
    """Calls that needed no exchange."""
    lent_bytes: int = 0
    """Bytes, gaps included, that were assembled in memory of the pool, and so copied only once."""
    seconds: float = 0.0
    """Time in these calls. The next three are overlapping parts of it, each of its slowest rank."""
    seconds_exchange: float = 0.0
    """Copying between the program's memory and staging, and messages between nodes."""
    seconds_storage: float = 0.0
    """Time with at least one of the rank's requests in flight."""
    seconds_wait: float = 0.0
    """Time blocked on other ranks or on storage."""
    found_requests_in_flight: int = 0
    """The k that was found while running, per target; 0 if it was not sought or not found."""

    def __add__(self, other: "Traffic") -> "Traffic":
        found = other.found_requests_in_flight or self.found_requests_in_flight
        sums = {
            one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)
        }
        return Traffic(**{**sums, "found_requests_in_flight": found})

    @property
    def mib_per_second(self) -> Optional[float]:
        """The bytes per second of the calls in MiB; None if no time was measured."""
        return self.bytes / MIB / self.seconds if self.seconds > 0 else None


@frozen
class PassedThrough:
    """Calls that were passed on to the MPI untouched. `bytes` is None if not known."""

    call: str
    calls: int
    bytes: Optional[int]
    reason: str


@frozen
class ErrorNote:
    """An error that the ranks agreed on."""

    call: str
    error_class: str
    message: str


@frozen
class SlowTarget:
    """A storage target that was much slower than the others; rates in bytes per second."""

    target: int
    """The target's index in the layout, from 0."""
    direction: str
    """"write" or "read"."""
    rate: float
    usual_rate: float
    found_requests_in_flight: int


@frozen
class FileFacts:
    """The known facts about a file, opened once or often."""

    path: str
    ranks: int
    nodes: int
    aggregators: tuple[int, ...]
    targets: int
    stripe_bytes: int
    seconds_open: float
    write: Traffic = field(default_factory=Traffic)
    read: Traffic = field(default_factory=Traffic)
    passed_through: tuple[PassedThrough, ...] = ()
    errors: tuple[ErrorNote, ...] = ()
    slow_targets: tuple[SlowTarget, ...] = ()
    warnings: tuple[str, ...] = ()


@frozen
class FileRecord(FileFacts):
    """One file from its opening to its closing. `closed` is False if the program ended before."""

    closed: bool
    settings: Mapping[str, str]


@frozen
class PoolFileRecord:
    """A file that went through the pool, over all times that the pool knew it."""

    path: str
    taken: int
    """Bytes that programs wrote into the pool."""
    drained: int
    """The part of `taken` that is on the file system or was overwritten before it got there."""
    waited_seconds: float
    """Time that programs waited for the pool, summed over all processes."""
    storage_seconds: float
    """Time with at least one request to the file system in flight."""
    storage_bytes: int
    requests: int
    times: int
    """How many times a program opened the file while the pool did not know it."""
    past_the_pool: Optional[str]
    """Why some of its bytes bypassed the pool; None if none did."""


@frozen
class PoolSample:
    """The pool's counts at a moment of a run, over all files. All but `outstanding` only grow, but
    for files whose counts were dropped."""

    seconds: float
    """Since the program's start."""
    taken: int
    """Bytes that programs wrote into the pool."""
    stored: int
    """Bytes that requests moved to the file system."""
    outstanding: int
    """Taken bytes that are not on the file system yet."""
    waited_seconds: float
    """Seconds that all processes waited for the pool; a wait counts when it is over."""


@frozen
class PoolNode:
    """One node's part of a pool of several nodes."""

    host: str
    taken: int
    """Bytes that programs of this node wrote into its pool."""
    cap: int
    """Upper bound of its daemon's memory in bytes."""
    waited_seconds: float
    """Seconds that all processes of this node waited for its pool."""
    samples: tuple[PoolSample, ...]
    """Its counts in the course of the run."""


@frozen
class PoolRecord:
    """The traffic through the pool in a run."""

    paths: tuple[str, ...]
    arrived: bool
    """Whether all bytes are on the file system."""
    drain_seconds: float
    """Seconds from the program's end until `arrived`."""
    taken: int
    cap: int
    """Upper bound of the daemon's memory in bytes; 0 if the daemon has died."""
    high: int
    """Peak of the reserved memory in bytes."""
    read_ahead: int
    files: tuple[PoolFileRecord, ...]
    files_dropped: int
    """Closed files whose counts were dropped."""
    storage_seconds: float = 0.0
    """Time with at least one request to the file system in flight, of whatever file; on several
    nodes, that of the node with the most; 0 in older records."""
    samples: tuple[PoolSample, ...] = ()
    """Its counts in the course of the run, on several nodes their sums; empty in older records."""
    nodes: int = 1
    """Nodes that had a pool; 1 in older records."""
    most_waited: Optional[PoolNode] = None
    """The node, of several, whose processes waited longest; None where none waited, on one
    node, and in older records."""

    @property
    def waited_seconds(self) -> float:
        """Seconds that all processes waited for the pool, for all files."""
        return sum(one.waited_seconds for one in self.files)


@frozen
class RunRecord:
    """A whole command of `forebay run`, with or without MPI."""

    forebay: str
    command: str
    seconds: float
    status: int
    pool: Optional[PoolRecord] = None
    started: str = ""
    """ISO 8601, UTC."""
    ranks: Optional[int] = None
    """Ranks that the program saw, as the launcher's command line says; None if it does not, and in
    older records."""


@frozen
class EndRecord:
    """The end of a process that has written a JobRecord."""

    rank: int
    pid: int
    host: str
    seconds: float
    """Seconds from the start of the process to MPI_Finalize."""


@frozen
class Record:
    """A record's jobs, files, runs and ends in their order; `damaged_lines` could not be
    decoded."""

    jobs: tuple[JobRecord, ...] = ()
    files: tuple[FileRecord, ...] = ()
    damaged_lines: tuple[int, ...] = ()
    runs: tuple[RunRecord, ...] = ()
    ends: tuple[EndRecord, ...] = ()

    @property
    def seconds(self) -> float:
        """The length of all runs together: as `forebay run` measured it, or else as the jobs'
        processes did. 0 if it is not known, as of a job that did not reach MPI_Finalize."""
        if self.runs:
            return sum(one.seconds for one in self.runs)
        ends: dict[tuple[int, int, str], list[float]] = {}
        for end in self.ends:
            ends.setdefault((end.rank, end.pid, end.host), []).append(end.seconds)
        total = 0.0
        for job in _processes_by_job(self.jobs):
            of_each = [ends.get((one.rank, one.pid, one.host)) for one in job]
            lengths = [found.pop(0) for found in of_each if found]
            if not lengths:
                return 0.0
            total += max(lengths)
        return total


@frozen
class FileSummary(FileFacts):
    """All openings of one path, summed up."""

    opened: int
    closed: int
    settings: Mapping[str, str] = field(default_factory=dict)
    """The settings in effect at the last opening with collective calls."""

    @property
    def bytes_moved(self) -> int:
        """Bytes that Forebay moved in both directions."""
        return self.write.bytes + self.read.bytes


def distinct_jobs(told: Sequence[JobRecord]) -> tuple[JobRecord, ...]:
    """The jobs in `told`, each once."""
    return tuple(
        replace(min(job, key=lambda one: one.rank), nodes=max(one.nodes for one in job))
        for job in _processes_by_job(told)
    )


def _processes_by_job(told: Sequence[JobRecord]) -> list[list[JobRecord]]:
    """The lines of each job. Processes of one job that open files independently each write a line,
    with their own rank."""
    jobs: list[list[JobRecord]] = []
    for one in told:
        for job in jobs:
            if _is_of(one, job):
                job.append(one)
                break
        else:
            jobs.append([one])
    return jobs


def _is_of(one: JobRecord, job: Sequence[JobRecord]) -> bool:
    same = (one.mpi, one.ranks, one.command) == (job[0].mpi, job[0].ranks, job[0].command)
    return same and all(one.rank != other.rank for other in job)


def summarise(files: Sequence[FileRecord]) -> tuple[FileSummary, ...]:
    """One summary per path, in the order in which the paths were first closed."""
    by_path: dict[str, list[FileRecord]] = {}
    for file in files:
        by_path.setdefault(file.path, []).append(file)
    return tuple(_summary(path, records) for path, records in by_path.items())


def _summary(path: str, records: Sequence[FileRecord]) -> FileSummary:
    # An opening without collective calls has no aggregators, targets or stripes.
    last = next((one for one in reversed(records) if one.aggregators), records[-1])
    write, read = Traffic(), Traffic()
    for record in records:
        write += record.write
        read += record.read
    return FileSummary(
        path=path,
        opened=len(records),
        closed=sum(record.closed for record in records),
        settings=last.settings,
        ranks=max(record.ranks for record in records),
        nodes=max(record.nodes for record in records),
        aggregators=last.aggregators,
        targets=last.targets,
        stripe_bytes=last.stripe_bytes,
        seconds_open=sum(record.seconds_open for record in records),
        write=write,
        read=read,
        passed_through=_merged([note for record in records for note in record.passed_through]),
        errors=tuple(note for record in records for note in record.errors),
        slow_targets=_latest([slow for record in records for slow in record.slow_targets]),
        warnings=tuple(dict.fromkeys(text for record in records for text in record.warnings)),
    )


def _latest(slow: Sequence[SlowTarget]) -> tuple[SlowTarget, ...]:
    return tuple({(one.direction, one.target): one for one in slow}.values())


def _merged(notes: Sequence[PassedThrough]) -> tuple[PassedThrough, ...]:
    merged: dict[tuple[str, str], PassedThrough] = {}
    for note in notes:
        before = merged.get((note.call, note.reason))
        if before is None:
            merged[note.call, note.reason] = note
            continue
        known = before.bytes is not None and note.bytes is not None
        merged[note.call, note.reason] = PassedThrough(
            call=note.call,
            calls=before.calls + note.calls,
            bytes=(before.bytes or 0) + (note.bytes or 0) if known else None,
            reason=note.reason,
        )
    return tuple(merged.values())
