"""scikit-build-core, with a word on the terminal about what takes so long: pip shows nothing of a
build but a wheel that turns."""

import contextlib
import shutil
from pathlib import Path
from typing import Any

from scikit_build_core.build import *  # noqa: F403  (the other hooks of PEP 517 and PEP 660)
from scikit_build_core.build import build_wheel as _build_wheel

_FAMILIES = {"mpich": "MPICH", "openmpi": "Open MPI"}


def _say(text: str) -> None:
    with contextlib.suppress(OSError), Path("/dev/tty").open("w", encoding="utf-8") as terminal:
        terminal.write(f"\n  {text}\n")


def build_wheel(*arguments: Any, **named: Any) -> str:
    found = [name for key, name in _FAMILIES.items() if shutil.which(f"mpicc.{key}")]
    _say(
        f"Forebay is compiled for {' and '.join(found) or 'no MPI: none was found'}: some four "
        "minutes of a processor, half of that on two. `pip install -v` shows each file."
    )
    return _build_wheel(*arguments, **named)
