"""The ports of the use cases: the promises that adapters keep, and their twins in tests as well.
These are those that running a program takes; the others are in machine_ports.py, since a program
waits for what is imported before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Protocol

from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.program import Family, ProgramFacts
from forebay.pool.use_case.ports import Pools

if TYPE_CHECKING:  # a program would wait for these
    from forebay.common.model.record import Record, RunRecord
    from forebay.settings.model.given import Override, SiteFile
    from forebay.settings.model.table import SettingsTable


@frozen
class NativeLibraries:
    """The preload stub, and by MPI family, as far as they were built, the cores beside it and the
    libraries that cut I/O ranks off."""

    folder: Path
    stub: Path
    cores: Mapping[Family, Path]
    io_ranks: Mapping[Family, Path] = field(default_factory=dict)


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
class CutWorld:
    """An MPI world with I/O ranks: all its ranks, and those of them that the program did not
    see."""

    ranks: int
    io_ranks: int


@frozen
class MpiWheel:
    """An MPI installed as a Python package."""

    name: str
    version: str


class SettingsSource(Protocol):
    """The table of settings, and files of settings."""

    def table(self) -> SettingsTable:
        """All settings. Raises SetupError if the schema is missing."""

    def read_file(self, path: Path) -> Sequence[Override]:
        """The settings in a file, as text, with their lines. Raises SettingsError if the file
        cannot be read or is no TOML."""

    def site(self, environment: Mapping[str, str]) -> SiteFile | None:
        """The settings of those who look after this machine, or None if there are none. Raises
        SettingsError as `read_file` does."""

    def has_site(self) -> bool:
        """Whether the machine has such a file, without reading it."""

    def ignored_site(self, environment: Mapping[str, str]) -> str | None:
        """A warning if the environment names a site's file that does not count, else None."""


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


Hook = Optional[Callable[[], None]]
"""A function to call when an event happens; None if nothing is to be done then."""


class Processes(Protocol):
    """Runs programs."""

    def run(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        started: Hook = None,
        job_ending: Hook = None,
    ) -> Finished:
        """Runs `words` to the end in the foreground, forwarding signals. Calls `started` when the
        program runs, and `job_ending` when a signal announces the end of the batch job (SIGTERM,
        SIGUSR1). Raises LaunchError if the program cannot be started."""

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

    def cut_worlds(self, path: Path) -> Sequence[CutWorld]:
        """The MPI worlds that were cut into compute and I/O ranks, as their ranks have noted beside
        the record; the note is removed."""

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


@frozen
class RunWorld:
    """The ports that running a program takes, with the environment and the working directory."""

    settings: SettingsSource
    libraries: LibraryFinder
    launchers: Launchers
    programs: Programs
    processes: Processes
    records: Records
    outputs: Outputs
    pools: Pools
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = field(default_factory=Path.cwd)
