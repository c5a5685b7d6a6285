"""The command `forebay` as users call it: with the libraries that were built, from the sources."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from suite import mpi as m

FOREBAY = (sys.executable, str(m.ROOT / "python" / "forebay"))


def environment(**more: str) -> dict[str, str]:
    """The environment of the command, with these variables set, too."""
    own = {"FOREBAY_LIBDIR": str(m.LIBRARIES), "PYTHONPATH": str(m.ROOT / "python")}
    first = {"LD_PRELOAD": ":".join(m.PRELOAD_FIRST)} if m.PRELOAD_FIRST else {}
    return {**m.clean_environment(), **own, **first, **more}


def forebay(
    *words: object, cwd: Path, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`forebay` with these words, once it has ended."""
    return subprocess.run(
        [*FOREBAY, *map(str, words)],
        cwd=cwd,
        env=environment(**(more or {})),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
