"""The ports of the use cases: the promises that adapters keep, and their twins in tests as well."""

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
    """The preload stub, and the cores beside it by MPI family."""

    folder: Path
    stub: Path
    cores: Mapping[Family, Path]


@frozen
class Finished:
    """A process that ended. `status` is a shell's exit status: 128+n after signal n."""

    status: int
    seconds: float


@frozen
class Captured:
    """The output of a short command. `status` is as in Finished, or None if it took too long."""

    status: int | None
    output: str
    errors: str


@frozen
class LauncherFacts:
    """One MPI launcher. `names` are all paths under which PATH finds it."""

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
    """The `bytes` that are left of a quota; `of` says in words whose quota it is."""

    bytes: int
    of: str


@frozen
class DirectoryFacts:
    """A directory, and the file system that it is on."""

    path: Path
    mount_point: Path
    file_system: str
    device: str
    free_bytes: int | None
    """None if the file system does not say."""
    is_writable: bool
    quota: QuotaLeft | None = None
    """None if there is no quota, or the system does not show it."""


@frozen
class MachineFacts:
    """Facts about kernel and hardware that matter to Forebay. An obstacle is the reason why a
    feature does not work, None if it does."""

    cores: int
    io_uring_obstacle: str | None
    memfd_obstacle: str | None
    shm_bytes: int | None
    shm_free_bytes: int | None


class SettingsSource(Protocol):
    """The table of settings, and files of settings."""

    def table(self) -> SettingsTable:
        """All settings. Raises SetupError if the schema is missing."""

    def read_file(self, path: Path) -> Sequence[Override]:
        """The settings in a file, as text, with their lines. Raises SettingsError if the file
        cannot be read or is no TOML."""


class LibraryFinder(Protocol):
    """Finds the native libraries."""

    def find(self) -> NativeLibraries:
        """The first folder that has them. Raises SetupError, which names all folders searched."""

    def complaints(
        self, libraries: NativeLibraries, mpis: Sequence[LauncherFacts]
    ) -> Sequence[str]:
        """Why the stub or the cores cannot be loaded with these MPIs; empty if they can."""


class Launchers(Protocol):
    """The MPI launchers on this machine."""

    def inspect(self, word: str) -> LauncherFacts | None:
        """The launcher that `word` names, or None if there is no such program."""

    def installed(self) -> Sequence[LauncherFacts]:
        """All launchers on PATH, each once."""

    def wheels(self) -> Sequence[MpiWheel]:
        """MPIs among the packages of the running Python."""


class Programs(Protocol):
    """Program files on disk."""

    def locate(self, word: str) -> Path | None:
        """The file that a shell would run for `word`, or None."""

    def inspect(self, path: Path) -> ProgramFacts:
        """How the program at `path` is linked."""


Hook = Callable[[], None] | None
"""A function to call when an event happens; None if nothing is to be done then."""


class Processes(Protocol):
    """Runs programs."""

    def run(
        self, words: Sequence[str], *, environment: Mapping[str, str], job_ending: Hook = None
    ) -> Finished:
        """Runs `words` to the end in the foreground, forwarding signals. Calls `job_ending` when a
        signal announces the end of the batch job (SIGTERM, SIGUSR1). Raises LaunchError if the
        program cannot be started."""

    def capture(
        self, words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
    ) -> Captured:
        """Runs a command and keeps its output; ends it after `seconds_max`. Raises StoppedError
        if a signal asked this process to end; the command has ended then, too."""


class Records(Protocol):
    """Record files (schema/record.md)."""

    def end(self, path: Path) -> int:
        """The present length of the file in bytes; 0 if there is none."""

    def read(self, path: Path, *, offset: int) -> Record:
        """The record from byte `offset` on; empty if there is no file."""

    def append(self, path: Path, run: RunRecord) -> None:
        """Appends the line of a whole run. Raises RecordError if the file cannot be written."""

    def temporary(self, *, shared: bool) -> Path:
        """A path for a record that is removed later. If `shared`, other nodes must see it."""

    def remove(self, path: Path) -> None:
        """Removes a temporary record."""


class Outputs(Protocol):
    """Files that will be written at the end of a run, and files that its program has written."""

    def obstacle(self, path: Path) -> str | None:
        """Why the file cannot be written, or None if it can."""

    def moment(self) -> int:
        """The present time, for the argument `since` of `changed`."""

    def changed(self, folder: Path, words: Sequence[str], *, since: int) -> Sequence[Path]:
        """The user's regular files that were modified since that moment, with their resolved names,
        among the files in `folder` and those that `words` name. Files elsewhere are not found."""


class Machine(Protocol):
    """This machine and its file systems."""

    def facts(self) -> MachineFacts:
        """The facts about kernel and hardware."""

    def directory(self, path: Path) -> DirectoryFacts:
        """The file system that `path` is on. Raises UsageError if there is no such directory."""


class Layouts(Protocol):
    """Layouts of files over storage targets. All methods raise SetupError if the native program is
    missing."""

    def show(self, path: Path) -> Layout:
        """The layout of a file, or of new files in a directory. Raises LayoutError if it cannot be
        read."""

    def set(self, path: Path, wanted: WantedLayout) -> LayoutChange:
        """Sets the layout of a new or empty file, or of a directory. Raises LayoutError if nothing
        was set."""


@frozen
class World:
    """All ports together, with the environment and the working directory."""

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
