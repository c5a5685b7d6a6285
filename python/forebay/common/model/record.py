"""The observations of the native library, as values: schema/record.md in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace

from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB


@frozen
class JobRecord:
    """One job, as its first file was opened. `rank` (of all `ranks`): whose process says it."""

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
    """One direction of a file: the job's calls, bytes over ranks, seconds of the slowest rank."""

    calls: int = 0
    """Collective ones of the job; each counts once."""
    bytes: int = 0
    rounds: int = 0
    """Rounds of the exchange."""
    requests: int = 0
    """To storage."""
    bypassed_calls: int = 0
    """Calls that needed no exchange."""
    lent_bytes: int = 0
    """Put together in memory of the pool, gaps included, and so copied once."""
    seconds: float = 0.0
    """In these calls. The next three are parts of it, each of its slowest rank; they overlap."""
    seconds_exchange: float = 0.0
    """Copying between program and staging, and messages between nodes."""
    seconds_storage: float = 0.0
    """With at least one request of the rank in flight."""
    seconds_wait: float = 0.0
    """Blocked on other ranks or on storage."""
    found_requests_in_flight: int = 0
    """For each target, while running; 0: not sought, or not found."""

    def __add__(self, other: "Traffic") -> "Traffic":
        found = other.found_requests_in_flight or self.found_requests_in_flight
        sums = {
            one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)
        }
        return Traffic(**{**sums, "found_requests_in_flight": found})

    @property
    def mib_per_second(self) -> float | None:
        """Bytes over seconds within the calls; None when no time was measured."""
        return self.bytes / MIB / self.seconds if self.seconds > 0 else None


@frozen
class PassedThrough:
    """Calls that were given to the MPI untouched. `bytes` is None where they are not known."""

    call: str
    calls: int
    bytes: int | None
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
    """Its place in the layout, from 0."""
    direction: str
    """write or read."""
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
    """One file from its opening to its closing (`closed` is False: the program ended before)."""

    closed: bool
    settings: Mapping[str, str]


@frozen
class PoolFileRecord:
    """A file that went through the pool, all times that the pool knew it together."""

    path: str
    taken: int
    """Bytes that programs gave."""
    drained: int
    """Those of them that are with the file system or were overwritten."""
    waited_seconds: float
    """That programs waited for the pool: all processes together."""
    storage_seconds: float
    """With at least one request at the file system."""
    storage_bytes: int
    requests: int
    times: int
    """How often the file became known."""
    past_the_pool: str | None
    """Why something of it went to the file system directly; None: nothing did."""


@frozen
class PoolRecord:
    """What went through the pool of a run."""

    paths: tuple[str, ...]
    arrived: bool
    """Whether all of it is with the file system."""
    drain_seconds: float
    """From the program's end until it was."""
    taken: int
    cap: int
    """Bound of its memory; 0: its daemon has died."""
    high: int
    """Memory that was reserved at most."""
    read_ahead: int
    files: tuple[PoolFileRecord, ...]
    files_dropped: int
    """Closed files of which nothing was kept."""

    @property
    def waited_seconds(self) -> float:
        """Of all processes, for all files."""
        return sum(one.waited_seconds for one in self.files)


@frozen
class RunRecord:
    """A command of `forebay run`, from its start to its end: with MPI or without."""

    forebay: str
    command: str
    seconds: float
    status: int
    pool: PoolRecord | None = None
    started: str = ""
    """ISO 8601, UTC."""


@frozen
class Record:
    """A record's jobs, files and runs in their order; `damaged_lines` could not be decoded."""

    jobs: tuple[JobRecord, ...] = ()
    files: tuple[FileRecord, ...] = ()
    damaged_lines: tuple[int, ...] = ()
    runs: tuple[RunRecord, ...] = ()


@frozen
class FileSummary(FileFacts):
    """All openings of one path, added up."""

    opened: int
    closed: int
    settings: Mapping[str, str] = field(default_factory=dict)
    """In effect, of the last opening with collective calls."""

    @property
    def bytes_moved(self) -> int:
        """Bytes that Forebay moved, both ways."""
        return self.write.bytes + self.read.bytes


def distinct_jobs(told: Sequence[JobRecord]) -> tuple[JobRecord, ...]:
    """`told` with one value for each job: processes of a job that open files apart from each other
    tell of it separately, each with its own rank."""
    jobs: list[list[JobRecord]] = []
    for one in told:
        for job in jobs:
            if _is_of(one, job):
                job.append(one)
                break
        else:
            jobs.append([one])
    return tuple(
        replace(min(job, key=lambda one: one.rank), nodes=max(one.nodes for one in job))
        for job in jobs
    )


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
    # An opening without collective calls has none of what the others had.
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
