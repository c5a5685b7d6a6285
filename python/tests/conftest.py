"""An imagined world: twins of the adapters hold what a test says and remember what was asked."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forebay.common.files.output_files import OutputFiles
from forebay.common.model.errors import (
    LayoutError,
    MountRefusedError,
    PoolError,
    PoolStartError,
    SetupError,
)
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.program import Family, Linkage, ProgramFacts
from forebay.common.model.record import Record, RunRecord
from forebay.layout.model import Layout, LayoutChange, WantedLayout
from forebay.machine_ports import DirectoryFacts, MachineFacts, World
from forebay.pool.model.mounting import MountChoice, MountWay
from forebay.pool.model.place import PoolPlace, RunningDaemon
from forebay.pool.model.pool import PoolEnd, PoolStatus
from forebay.pool.use_case.ports import PoolMount, PoolSession, Progress
from forebay.ports import (
    Captured,
    CutWorld,
    Finished,
    Hook,
    LauncherFacts,
    MpiWheel,
    NativeLibraries,
)
from forebay.settings.files.toml_settings import read_schema, read_settings_file
from forebay.settings.model.given import Override, SiteFile
from forebay.settings.model.table import SettingsTable
from forebay.simulate.files import NativeSimulator

ROOT = Path(__file__).resolve().parents[2]
STUB = Path("/opt/forebay/libforebay_mpi.so")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def table() -> SettingsTable:
    """The settings of schema/settings.toml."""
    return read_schema(ROOT / "schema" / "settings.toml")


@pytest.fixture
def forebay() -> Callable[..., subprocess.CompletedProcess[str]]:
    """forebay("layout", "show", …, folder=…, NAME="value"): the command in a process of its own,
    with these variables set, too."""

    def run(
        *words: str, folder: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "forebay", *words],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python"), **variables},
            check=False,
        )

    return run


@pytest.fixture
def native() -> NativeSimulator:
    """The native simulator. Tests that ask for it are skipped where it is not built."""
    simulator = NativeSimulator()
    try:
        simulator.program()
    except SetupError:
        pytest.skip("forebay_sim is not built")
    return simulator


@dataclass
class ImaginedSettings:
    """The real schema; files are read as they are. `own` is the machine's file."""

    own: SiteFile | None = None

    def table(self) -> SettingsTable:
        return read_schema(ROOT / "schema" / "settings.toml")

    def read_file(self, path: Path) -> Sequence[Override]:
        return read_settings_file(path)

    def site(self, environment: Mapping[str, str]) -> SiteFile | None:
        return self.own

    def has_site(self) -> bool:
        return self.own is not None

    def ignored_site(self, environment: Mapping[str, str]) -> str | None:
        return None


@dataclass
class ImaginedLibraries:
    """Libraries that are there, or not."""

    missing: bool = False
    cores: tuple[Family, ...] = (Family.MPICH, Family.OPEN_MPI)
    faults: tuple[str, ...] = ()

    def find(self) -> NativeLibraries:
        if self.missing:
            raise SetupError("cannot find libforebay_mpi.so (not in /opt). Build it.")
        cores = {family: STUB.with_name(f"core_{family.value}.so") for family in self.cores}
        io_ranks = {
            family: STUB.parent / family.value / "libforebay_io_ranks.so" for family in self.cores
        }
        return NativeLibraries(folder=STUB.parent, stub=STUB, cores=cores, io_ranks=io_ranks)

    def complaints(
        self, libraries: NativeLibraries, mpis: Sequence[LauncherFacts]
    ) -> Sequence[str]:
        return self.faults


@dataclass
class ImaginedLaunchers:
    """`mpirun` is Open MPI's, `mpiexec` MPICH's, `srun` Slurm's, and others by their names."""

    here: tuple[LauncherFacts, ...] = ()

    def inspect(self, word: str) -> LauncherFacts | None:
        known = {
            "mpirun": (Flavour.OPEN_MPI, Family.OPEN_MPI),
            "mpiexec": (Flavour.HYDRA, Family.MPICH),
            "srun": (Flavour.SLURM, None),
            "flux": (Flavour.FLUX, None),
            "jsrun": (Flavour.JSRUN, None),
            "aprun": (Flavour.APRUN, None),
        }
        if word not in known:
            return None
        flavour, family = known[word]
        path = Path("/usr/bin") / word
        return LauncherFacts(path=path, names=(path,), flavour=flavour, family=family)

    def installed(self) -> Sequence[LauncherFacts]:
        return self.here

    def wheels(self) -> Sequence[MpiWheel]:
        return ()


@dataclass
class ImaginedPrograms:
    """Programs by name."""

    programs: Mapping[str, ProgramFacts] = field(
        default_factory=lambda: {
            "./program": ProgramFacts(
                path=Path("./program"),
                linkage=Linkage.DYNAMIC,
                mpi_library="libmpich.so.12",
                family=Family.MPICH,
            ),
            "./static": ProgramFacts(path=Path("./static"), linkage=Linkage.STATIC),
            "./serial": ProgramFacts(path=Path("./serial"), linkage=Linkage.DYNAMIC),
            "./job.sh": ProgramFacts(path=Path("./job.sh"), linkage=Linkage.SCRIPT),
        }
    )

    def locate(self, word: str) -> Path | None:
        return Path(word) if word in self.programs else None

    def inspect(self, path: Path) -> ProgramFacts:
        return next(one for one in self.programs.values() if one.path == path)


@dataclass
class ImaginedProcesses:
    """Ends with what the test says; remembers what was started."""

    status: int = 0
    captured: Captured | None = None
    started: list[tuple[tuple[str, ...], Mapping[str, str]]] = field(default_factory=list)
    job_ends: bool = False

    def run(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        started: Hook = None,
        job_ending: Hook = None,
    ) -> Finished:
        if started is not None:
            started()
        if self.job_ends and job_ending is not None:
            job_ending()
        self.started.append((tuple(words), environment))
        return Finished(status=self.status, seconds=1.5)

    def capture(
        self, words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
    ) -> Captured:
        self.started.append((tuple(words), environment))
        if self.captured is not None:
            return self.captured
        lines = [f"{name}={value}" for name, value in environment.items()]
        return Captured(status=0, output="\n".join(lines), errors="")


@dataclass
class ImaginedRecords:
    """A record that is there when the run has ended."""

    record: Record = field(default_factory=Record)
    asked_shared: list[bool] = field(default_factory=list)
    removed: list[Path] = field(default_factory=list)
    appended: list[RunRecord] = field(default_factory=list)
    worlds: tuple[CutWorld, ...] = ()

    def cut_worlds(self, path: Path) -> Sequence[CutWorld]:
        return self.worlds

    def end(self, path: Path) -> int:
        return 0

    def append(self, path: Path, run: RunRecord) -> None:
        self.appended.append(run)

    def read(self, path: Path, *, offset: int) -> Record:
        return self.record

    def temporary(self, *, shared: bool) -> Path:
        self.asked_shared.append(shared)
        return Path("/tmp/forebay-run-x/record")

    def remove(self, path: Path) -> None:
        self.removed.append(path)


@dataclass
class ImaginedMachine:
    """Four cores, ext4."""

    cores: int = 4
    directory_facts: Mapping[str, Any] = field(default_factory=dict)
    machine_facts: Mapping[str, Any] = field(default_factory=dict)

    def facts(self) -> MachineFacts:
        usual: dict[str, Any] = {
            "cores": self.cores,
            "io_uring_obstacle": None,
            "memfd_obstacle": None,
            "shm_bytes": 1 << 30,
            "shm_free_bytes": 1 << 29,
        }
        return MachineFacts(**{**usual, **self.machine_facts})

    def directory(self, path: Path) -> DirectoryFacts:
        usual: dict[str, Any] = {
            "path": path,
            "mount_point": Path("/"),
            "file_system": "ext4",
            "device": "/dev/vda",
            "free_bytes": 1 << 40,
            "is_writable": True,
        }
        return DirectoryFacts(**{**usual, **self.directory_facts})


@dataclass
class ImaginedLayouts:
    """Every path has the same layout, or an obstacle."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    obstacle: str | None = None

    def show(self, path: Path) -> Layout:
        if self.obstacle:
            raise LayoutError(self.obstacle)
        usual: dict[str, Any] = {
            "path": str(path),
            "kind": "directory",
            "bytes": 0,
            "file_system": "none",
            "origin": "",
            "targets": 1,
            "stripe_bytes": 0,
        }
        return Layout(**{**usual, **self.facts})

    def set(self, path: Path, wanted: WantedLayout) -> LayoutChange:
        return LayoutChange(layout=self.show(path), made=False, complaint=None)


@dataclass
class ImaginedDaemon:
    """Ends as the test says."""

    end: PoolEnd
    log: list[str]

    @property
    def process(self) -> int | None:
        return 4711

    def program_started(self) -> None:
        self.log.append("program started")

    def close_down(self) -> None:
        self.log.append("close down")

    def finish(self, progress: Progress) -> PoolEnd:
        if self.end.status is not None:
            progress.show(self.end.status)
        progress.end()
        self.log.append("finish")
        return self.end


class ImaginedSession:
    """With a daemon that has nothing."""

    def status(self) -> PoolStatus:
        return pool_status()

    def drain(self, progress: Progress) -> int:
        return 0

    def stop(self, progress: Progress) -> PoolEnd:
        return PoolEnd(status=pool_status(), seconds=0.0)


NO_HELPER = "there is no fusermount3"


@dataclass
class ImaginedPools:
    """Daemons that are there when they are wanted; remembers what was done."""

    end: PoolEnd = field(default_factory=lambda: PoolEnd(status=pool_status(), seconds=0.5))
    refused: str | None = None
    log: list[str] = field(default_factory=list)
    places: list[PoolPlace] = field(default_factory=list)
    others: tuple[RunningDaemon, ...] = ()
    listens: bool = False
    limit: str | None = None
    no_mount: str | None = None
    mount_refused: str | None = None
    limited: str | None = None
    also: tuple[Path, ...] = ()
    complaints: tuple[str, ...] = ()
    ways: tuple[MountWay, ...] = (MountWay(name="root", obstacle=None),)

    def library(self) -> Path:
        return STUB.with_name("libforebay_posix.so")

    def program(self) -> Path:
        if self.refused:
            raise SetupError(self.refused)
        return STUB.with_name("forebayd")

    def obstacle(self) -> str | None:
        return self.limit

    def left_behind(self) -> Sequence[str]:
        return ()

    def room(self, *, everywhere: bool = False) -> Path:
        self.log.append("room")
        return Path("/run/x/pool")

    def remove_room(self, socket: Path) -> None:
        self.log.append("remove")

    def start(self, place: PoolPlace) -> ImaginedDaemon:
        self.log.append("start")
        self.places.append(place)
        if self.refused:
            raise PoolStartError(self.refused)
        return ImaginedDaemon(end=self.end, log=self.log)

    def start_detached(self, place: PoolPlace) -> int:
        self.start(place)
        return 77

    def mount_obstacle(self, paths: Sequence[Path], choice: MountChoice) -> str | None:
        return None if choice.is_private and self.no_mount == NO_HELPER else self.no_mount

    def mount_ways(self, folder: Path) -> Sequence[MountWay]:
        self.log.append(f"try {folder}")
        return self.ways

    def other_names(self, path: Path) -> Sequence[Path]:
        return self.also

    def mount_limit(self) -> str | None:
        return self.limited

    def mount(
        self, paths: Sequence[Path], choice: MountChoice, *, socket: Path, folder: Path
    ) -> PoolMount:
        self._refuse()
        self.log.append("mount privately" if choice.is_private else "mount")
        return self

    def entering(self, words: Sequence[str]) -> Sequence[str]:
        return ("enter", *words) if "mount privately" in self.log else words

    def finish(self) -> Sequence[str]:
        self.log.append("unmount")
        return self.complaints

    def mount_detached(self, paths: Sequence[Path], choice: MountChoice, *, socket: Path) -> None:
        self._refuse()
        self.log.append("mount")

    def _refuse(self) -> None:
        if self.mount_refused:
            raise MountRefusedError(self.mount_refused)

    def usual_socket(self) -> Path:
        return Path("/run/user/pool")

    def end_by_signal(self, socket: Path) -> PoolEnd | None:
        return None

    def running(self) -> Sequence[RunningDaemon]:
        return self.others

    def connect(self, socket: Path) -> PoolSession:
        if self.listens:
            return ImaginedSession()
        raise PoolError(f"cannot reach a daemon of the pool at {socket}")


def pool_status(**changes: Any) -> PoolStatus:
    """A daemon that has nothing, but for `changes`."""
    usual: dict[str, Any] = {
        "process": 77, "uptime_seconds": 3.0, "ended": True, "closing": True,
        "cap": 1 << 30, "leased": 0, "high": 1 << 20, "read_ahead_held": 0,
        "read_ahead": 0, "lag": 0, "oldest_seconds": 0.0, "clients": (), "files": (),
        "files_dropped": 0, "rescued": (),
    }  # fmt: skip
    return PoolStatus(**{**usual, **changes})


@pytest.fixture
def make_world(tmp_path: Path) -> Callable[..., World]:
    """make_world(processes={"status": 3}, environment={…}): usual twins, changed where said."""
    twins: dict[str, Callable[..., Any]] = {
        "settings": ImaginedSettings,
        "libraries": ImaginedLibraries,
        "launchers": ImaginedLaunchers,
        "programs": ImaginedPrograms,
        "processes": ImaginedProcesses,
        "records": ImaginedRecords,
        "outputs": OutputFiles,
        "machine": ImaginedMachine,
        "layouts": ImaginedLayouts,
        "pools": ImaginedPools,
    }

    def make(environment: Mapping[str, str] | None = None, **changes: Any) -> World:
        made = {name: twin(**changes.get(name, {})) for name, twin in twins.items()}
        return World(**made, environment=environment or {}, folder=tmp_path)

    return make
