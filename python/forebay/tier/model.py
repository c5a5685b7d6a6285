"""A tier as values: what its mount says of all files, and of one."""

from enum import Enum
from pathlib import Path

from forebay.common.model.frozen import frozen


class TierOrder(Enum):
    """An order to a tier, about a file or everything below a folder. The values are those of the
    mount (src/pool/mount/tier)."""

    MOVE = "move"
    EVICT = "evict"
    FILL = "fill"
    LEAVE = "leave"


@frozen
class TierStatus:
    """The contents of fast storage below a folder, and counts since the tier was started.
    `waiting` are files that the parallel file system lacks bytes of. `unfound` replicas of an
    earlier tier are not counted yet. `taken_bytes` were written to fast storage by programs. Of the
    files that they opened to read, `hits` had a replica, and `misses` had none."""

    replicas: int
    bytes: int
    waiting: int
    waiting_bytes: int
    made: int
    filled: int
    moved: int
    moved_bytes: int
    evicted: int
    rescued: int
    failed: int
    taken_over: int
    given_up: int
    unfound: int
    taken_bytes: int
    hits: int
    misses: int


@frozen
class FileState:
    """Where the bytes of a file are. `state` is none, clean (in both places), dirty (in fast
    storage only) or moving. `newer_since`: since when fast storage has bytes that the file lacks,
    in seconds since the epoch; 0: it has none. `waits_for` is nothing, close, idle, size, job,
    order (by its policy), turn (other files are moved first), move (it is under way) or retry (a
    move has failed). `failure` says why the last move has failed; empty: it has not."""

    state: str
    generation: int
    bytes: int
    moving: bool
    newer_since: int
    waits_for: str
    failure: str

    @property
    def is_waiting(self) -> bool:
        """Whether the file lacks bytes."""
        return self.waits_for != "nothing"


@frozen
class TierRoom:
    """Bytes that replicas may take (0: all of the file system, whoever uses it), and percentages of
    that: above `high`, replicas make way, until no more than `low` is used."""

    bytes: int = 0
    high: int = 90
    low: int = 70


@frozen
class TierStart:
    """A tier that is to be started: over `folder`, with replicas in `fast`. `policy` holds for
    folders that have none of their own. `is_shared`: other nodes have tiers over it, too;
    `wait_seconds` is how long an open waits for bytes of theirs without progress. `job_end` is when
    the batch job ends, in seconds since the epoch: all but what the user moves is moved before. 0:
    never. `room` is the part of fast storage that it may have."""

    folder: Path
    fast: Path
    policy: str
    is_private: bool = False
    is_shared: bool = False
    wait_seconds: int = 60
    job_end: int = 0
    room: TierRoom = TierRoom()


@frozen
class TierTotals:
    """A tier's folder and fast place, and its status just before it ended: what waited then was
    moved at the end, but for what the messages of the end name."""

    folder: Path
    fast: Path
    status: TierStatus


@frozen
class TierEnd:
    """How tiers ended: what their mounts said about files that are not where they should be."""

    messages: tuple[str, ...] = ()
    totals: tuple[TierTotals, ...] = ()

    @property
    def lacks_files(self) -> bool:
        """Whether a file lacks bytes that are in fast storage, or in a rescue file."""
        return any("is not moved" in one or "was changed by" in one for one in self.messages)


class TierEnds:
    """The ends of several tiers, one after another."""

    def __init__(self) -> None:
        self._messages: list[str] = []
        self._totals: list[TierTotals] = []

    def add(self, end: TierEnd) -> None:
        """One more has ended."""
        self._messages += end.messages
        self._totals += end.totals

    def together(self) -> TierEnd:
        """As if it had been one."""
        return TierEnd(messages=tuple(self._messages), totals=tuple(self._totals))
