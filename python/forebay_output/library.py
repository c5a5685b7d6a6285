"""Loads libforebay_output.so of the MPI that mpi4py has loaded."""

import ctypes
import functools
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

NAME = "libforebay_output.so"
_PACKAGE = Path(__file__).resolve().parent
_FAMILIES = {"Open MPI": "openmpi", "MPICH": "mpich", "MVAPICH": "mpich", "Intel": "mpich"}


class OutputError(Exception):
    """A call of the output API failed; `code` is one of enum fbo_error."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


@functools.cache
def library() -> ctypes.CDLL:
    """The library. Raises OutputError where it cannot be found or loaded."""
    family = _family()
    folders = list(_folders(family))
    for folder in folders:
        if (folder / NAME).is_file():
            return _loaded(folder / NAME)
    looked = ", ".join(str(folder) for folder in folders)
    raise OutputError(
        f"cannot find {NAME} for {family} (not in {looked}). Build Forebay with that MPI, or set "
        "FOREBAY_LIBDIR to the folder above the one of the MPI.",
        code=0,
    )


def checked(status: int) -> None:
    """Raises OutputError unless `status` is FBO_SUCCESS."""
    if status:
        text = library().fbo_error_text()
        raise OutputError(text.decode(errors="replace"), code=status)


def _family() -> str:
    version = str(importlib.import_module("mpi4py.MPI").Get_library_version())
    for name, family in _FAMILIES.items():
        if name in version:
            return family
    raise OutputError(
        f"the MPI of mpi4py is unknown ({version.splitlines()[0]}). Use MPICH or one with its "
        "interface, or Open MPI.",
        code=0,
    )


def _folders(family: str) -> Iterator[Path]:
    given = os.environ.get("FOREBAY_LIBDIR")
    if given:
        yield Path(given).absolute() / family
        return
    yield _PACKAGE.parent / "forebay" / "lib" / family  # a wheel
    for ancestor in list(_PACKAGE.parents)[:4]:  # PREFIX/lib/forebay/python/forebay_output
        yield ancestor / "lib" / "forebay" / family
    yield Path(sys.prefix) / "lib" / "forebay" / family
    yield _PACKAGE.parents[1] / "build" / "release" / "lib" / family


def _loaded(path: Path) -> ctypes.CDLL:
    # The library needs the MPI that is there; Python loads that of mpi4py for mpi4py alone.
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        file = line.partition("/")
        if Path(file[2]).name.startswith(("libmpi.so", "libmpich.so")):
            ctypes.CDLL(f"/{file[2]}", ctypes.RTLD_GLOBAL)
    try:
        made = ctypes.CDLL(str(path))
    except OSError as error:
        raise OutputError(
            f"cannot load {path} ({error}). Build Forebay with the MPI of mpi4py.", code=0
        ) from error
    made.fbo_error_text.restype = ctypes.c_char_p
    return made
