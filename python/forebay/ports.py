"""The ports of the use cases. Adapters keep these promises; tests have twins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol

from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import Flavour
from forebay.common.model.program import Family, ProgramFacts
from forebay.common.model.record import Record, RunRecord
from forebay.layout.model import Layout, LayoutChange, WantedLayout
from forebay.pool.use_case.ports import Pools
from forebay.settings.model import Override, SettingsTable


@frozen
class NativeLibraries:
    """The preload stub and the cores beside it, by family."""

    folder: Path
    stub: Path
    cores: Mapping[Family, Path]


@frozen
class Finished:
    """A process that ended: status as shells say it (128+n: by signal n)."""

    status: int
    seconds: float


@frozen
class Captured:
    """The output of a short command. `status` as in Finished; None when it took too long."""

    status: int | None
    output: str
    errors: str


@frozen
class LauncherFacts:
    """One launcher. `names` are all paths under which PATH finds it."""

    path: Path
    names: tuple[Path, ...]
    flavour: Flavour
    version: str | None = None
    library: Path | None = None
    family: Family | None = None


@frozen
class MpiWheel:
    """An MPI installed as a Python package."""

    name: str
    version: str


@frozen
class QuotaLeft:
    """So many bytes of a quota; `of`: whose, in words."""

    bytes: int
    of: str


@frozen
class DirectoryFacts:
    """The known facts about a directory's file system."""

    path: Path
    mount_point: Path
    file_system: str
    device: str
    free_bytes: int | None
    """None: the file system does not say."""
    is_writable: bool
    quota: QuotaLeft | None = None
    """None: there is none, or the system does not say."""


@frozen
class MachineFacts:
    """The facts about kernel and hardware that matter to Forebay. Reasons are None where it
    works."""

    cores: int
    io_uring_obstacle: str | None
    memfd_obstacle: str | None
    shm_bytes: int | None
    shm_free_bytes: int | None


class SettingsSource(Protocol):
    """The settings that there are, and files of them."""

    def table(self) -> SettingsTable:
        """All settings. SetupError: the schema is missing."""

    def read_file(self, path: Path) -> Sequence[Override]:
        """Keys, values as text and lines. SettingsError: not readable, not TOML."""


class LibraryFinder(Protocol):
    """Where the native libraries are."""

    def find(self) -> NativeLibraries:
        """The first folder that has them. SetupError names all that were looked into."""

    def complaints(
        self, libraries: NativeLibraries, mpis: Sequence[LauncherFacts]
    ) -> Sequence[str]:
        """Why stub or cores cannot be loaded with these MPIs; empty when they can."""


class Launchers(Protocol):
    """Launchers on this machine."""

    def inspect(self, word: str) -> LauncherFacts | None:
        """The launcher that `word` names; None when there is no such program."""

    def installed(self) -> Sequence[LauncherFacts]:
        """All on PATH, each once."""

    def wheels(self) -> Sequence[MpiWheel]:
        """MPIs among the packages of the running Python."""


class Programs(Protocol):
    """Program files."""

    def locate(self, word: str) -> Path | None:
        """The file that a shell would run for `word`."""

    def inspect(self, path: Path) -> ProgramFacts:
        """How it is linked."""


Hook = Callable[[], None] | None
"""Is called when something happens; None: nobody is told."""


class Processes(Protocol):
    """Runs things."""

    def run(
        self, words: Sequence[str], *, environment: Mapping[str, str], job_ending: Hook = None
    ) -> Finished:
        """Runs to the end in the foreground, forwarding signals; `job_ending` is called when one
        says that the batch job will end soon (SIGTERM, SIGUSR1). LaunchError: cannot start."""

    def capture(
        self, words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
    ) -> Captured:
        """Runs a command and keeps what it prints; ends it when it takes too long.
        StoppedError: a signal came that was to end us; the command has ended."""


class Records(Protocol):
    """Record files."""

    def end(self, path: Path) -> int:
        """Bytes that are in the file already; 0 when there is none."""

    def read(self, path: Path, *, offset: int) -> Record:
        """The record from `offset` on; empty when there is no file."""

    def append(self, path: Path, run: RunRecord) -> None:
        """Puts a line on a whole run behind the others. RecordError: it cannot be written."""

    def temporary(self, *, shared: bool) -> Path:
        """A path for a record that nobody keeps; `shared`: other nodes must see it."""

    def remove(self, path: Path) -> None:
        """Removes a temporary record."""


class Outputs(Protocol):
    """Files that will be written when a run is over, and those that its program has written."""

    def obstacle(self, path: Path) -> str | None:
        """Why the file cannot be written; None when it can."""

    def moment(self) -> int:
        """Now, for `changed`."""

    def changed(self, folder: Path, words: Sequence[str], *, since: int) -> Sequence[Path]:
        """Files of the user that were written since that moment: those in `folder` and those that
        words of the command name, with the kernel's own names. Not all that there are."""


class Machine(Protocol):
    """The machine and its file systems."""

    def facts(self) -> MachineFacts:
        """Kernel and hardware."""

    def directory(self, path: Path) -> DirectoryFacts:
        """The file system that `path` is on. UsageError: no such directory."""


class Layouts(Protocol):
    """How files lie over targets. SetupError: the native program is missing."""

    def show(self, path: Path) -> Layout:
        """The layout of a file, or of new files in a directory. LayoutError: cannot be read."""

    def set(self, path: Path, wanted: WantedLayout) -> LayoutChange:
        """Gives a new or empty file, or a directory, a layout. LayoutError: nothing was set."""


@frozen
class World:
    """All ports together."""

    settings: SettingsSource
    libraries: LibraryFinder
    launchers: Launchers
    programs: Programs
    processes: Processes
    records: Records
    outputs: Outputs
    machine: Machine
    layouts: Layouts
    pools: Pools
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = field(default_factory=Path.cwd)
