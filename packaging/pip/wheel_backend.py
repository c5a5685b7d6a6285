"""scikit-build-core, with a word on the terminal about what takes so long: pip shows nothing of a
build but a wheel that turns."""

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

from scikit_build_core.build import *  # noqa: F403  (the other hooks of PEP 517 and PEP 660)
from scikit_build_core.build import build_wheel as _build_wheel

_DEBIANS = ("mpicc.mpich", "mpicc.openmpi")
_OTHERS = ("mpicc", "mpiicx", "mpiicc", "cc")


def _say(text: str) -> None:
    with contextlib.suppress(OSError), Path("/dev/tty").open("w", encoding="utf-8") as terminal:
        terminal.write(f"\n  {text}\n")


def _wrappers() -> list[str]:
    """The compiler wrappers that cmake/mpi_families.cmake asks."""
    if named := os.environ.get("FOREBAY_MPICC"):
        return named.replace(":", ";").split(";")
    names = _DEBIANS if all(map(shutil.which, _DEBIANS)) else (*_DEBIANS, *_OTHERS)
    is_cray = "CRAYPE_VERSION" in os.environ or "CRAYPE_DIR" in os.environ
    return [
        name for name in (*names, "mpicc_abi") if shutil.which(name) and (name != "cc" or is_cray)
    ]


def build_wheel(*arguments: Any, **named: Any) -> str:
    wrappers = " and ".join(_wrappers()) or "no compiler wrapper, of which none is in PATH"
    mpis = (
        "without MPI" if os.environ.get("FOREBAY_MPI") == "none" else f"for the MPI of {wrappers}"
    )
    _say(
        f"Forebay is compiled {mpis}: some four minutes of a processor, half of that on two. "
        "`pip install -v` shows each file."
    )
    return _build_wheel(*arguments, **named)
