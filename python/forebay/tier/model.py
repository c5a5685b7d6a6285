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
    earlier tier are not counted yet."""

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
class TierStart:
    """A tier that is to be started: over `folder`, with replicas in `fast`. `policy` holds for
    folders that have none of their own. `is_shared`: other nodes have tiers over it, too;
    `wait_seconds` is how long an open waits for bytes of theirs without progress. `job_end` is when
    the batch job ends, in seconds since the epoch: all but what the user moves is moved before. 0:
    never."""

    folder: Path
    fast: Path
    policy: str
    is_private: bool = False
    is_shared: bool = False
    wait_seconds: int = 60
    job_end: int = 0


@frozen
class TierEnd:
    """How tiers ended: what their mounts said about files that are not where they should be."""

    messages: tuple[str, ...] = ()

    @property
    def lacks_files(self) -> bool:
        """Whether a file lacks bytes that are in fast storage, or in a rescue file."""
        return any("is not moved" in one or "was changed by" in one for one in self.messages)


class TierEnds:
    """The ends of several tiers, one after another."""

    def __init__(self) -> None:
        self._messages: list[str] = []

    def add(self, end: TierEnd) -> None:
        """One more has ended."""
        self._messages += end.messages

    def together(self) -> TierEnd:
        """As if it had been one."""
        return TierEnd(messages=tuple(self._messages))
