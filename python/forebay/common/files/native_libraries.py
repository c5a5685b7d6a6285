"""Finds libforebay_mpi.so and its cores. The search path is FOREBAY_LIBDIR, the package itself
(pip), lib/forebay beside it in an installed tree (cmake --install), and a checkout's builds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from forebay.common.files.commands import unloaded_environment
from forebay.common.files.programs import linked_libraries
from forebay.common.model.errors import SetupError
from forebay.common.model.program import Family
from forebay.ports import LauncherFacts, NativeLibraries

STUB_NAME = "libforebay_mpi.so"
IO_RANKS_NAME = "libforebay_io_ranks.so"
LIBDIR_VARIABLE = "FOREBAY_LIBDIR"
_PACKAGE = Path(__file__).resolve().parents[2]
_LOAD_SECONDS_MAX = 30
_CORE_FAMILIES = (Family.MPICH, Family.OPEN_MPI, Family.STANDARD_ABI)
_LOAD = "import ctypes as c, os, sys; c.CDLL(sys.argv[1], c.RTLD_GLOBAL); c.CDLL(sys.argv[2], 2)"


class LibraryFolders:
    """The port LibraryFinder, over folders."""

    def __init__(
        self, *, environment: Mapping[str, str] = os.environ, package: Path = _PACKAGE
    ) -> None:
        self._environment = environment
        self._package = package

    def find(self) -> NativeLibraries:
        """The first folder with the stub. If FOREBAY_LIBDIR is set, it is the only candidate."""
        folders = list(dict.fromkeys(self._folders()))
        for folder in folders:
            if (folder / STUB_NAME).is_file():
                return _libraries(folder.resolve())
        looked = ", ".join(str(folder) for folder in folders)
        raise SetupError(
            f"cannot find {STUB_NAME} (not in {looked}). "
            f"Build it (`make build`), or set {LIBDIR_VARIABLE} to its folder."
        )

    def _folders(self) -> Iterator[Path]:
        given = self._environment.get(LIBDIR_VARIABLE)
        if given:
            yield Path(given).absolute()
            return
        yield self._package / "lib"
        for ancestor in list(self._package.parents)[:4]:  # PREFIX/…/forebay/python/forebay
            yield ancestor / "lib" / "forebay"
        yield Path(sys.prefix) / "lib" / "forebay"
        for preset in ("release", "dev"):
            yield self._package.parents[1] / "build" / preset / "lib"

    def complaints(
        self, libraries: NativeLibraries, mpis: Sequence[LauncherFacts]
    ) -> Sequence[str]:
        """Loads the stub, and each core with each MPI library of its family, in child processes."""
        found = [_preload_complaint(libraries.stub)]
        for family, core in libraries.cores.items():
            lacks = [name for name, file in linked_libraries(core) if _is_missing(name, file)]
            if lacks:
                found.append(f"{core.name} lacks {', '.join(lacks)}")
                continue
            for mpi in dict.fromkeys(m.library for m in mpis if m.family is family and m.library):
                found.append(_load_complaint(core, mpi))
        return [complaint for complaint in found if complaint]


def _libraries(folder: Path) -> NativeLibraries:
    cores = {family: folder / f"libforebay_core_{family.value}.so" for family in _CORE_FAMILIES}
    io_ranks = {family: folder / family.value / IO_RANKS_NAME for family in _CORE_FAMILIES}
    return NativeLibraries(
        folder=folder,
        stub=folder / STUB_NAME,
        cores={family: path for family, path in cores.items() if path.is_file()},
        io_ranks={family: path for family, path in io_ranks.items() if path.is_file()},
    )


def _is_missing(name: str, file: str | None) -> bool:
    return file is None and not name.startswith(("linux-vdso", "ld-linux", "statically"))


def _preload_complaint(stub: Path) -> str | None:
    """Why the stub cannot be preloaded, or None. The dynamic linker only prints a warning then."""
    done = _run(["/bin/true"], {**os.environ, "LD_PRELOAD": str(stub)})
    return f"{stub.name} cannot be preloaded: {done.strip()}" if done else None


def _load_complaint(core: Path, mpi: Path) -> str | None:
    environment = unloaded_environment()
    errors = _run([sys.executable, "-c", _LOAD, str(mpi), str(core)], environment)
    if not errors:
        return None
    return f"{core.name} cannot be loaded with {mpi}: {errors.strip().splitlines()[-1]}"


def _run(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """The command's error messages; empty if it succeeded."""
    try:
        done = subprocess.run(
            list(words),
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(environment),
            timeout=_LOAD_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode and not done.stderr:
        return f"status {done.returncode}"
    return done.stderr if done.returncode or "preload" in done.stderr else ""
