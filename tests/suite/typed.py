"""Types as a user does in a shell, in which `forebay` is the one that was built."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite import mpi as m
from suite.command import FOREBAY, environment

SYSTEM_PYTHON = "/usr/bin/python3"  # for which Debian's packages are
PYTHON = os.environ.get("FOREBAY_TEST_PYTHON", SYSTEM_PYTHON)
"""The Python of the examples: another one than Debian's where it has what they need."""
SECONDS_MAX = 300
# Without Forebay, what stands behind `--` is run as it is.
_LEFT_OUT = '#!/bin/bash\nwhile [[ $1 != -- ]]; do shift; done\nshift\nexec "$@"\n'
_OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Said:
    """The end of what was typed."""

    status: int
    output: str
    errors: str


class Shell:
    """A shell in a folder, whose `mpicc` and `mpiexec` are Open MPI's, and whose `python3` is
    PYTHON. `plain`: its `forebay` only starts the program."""

    def __init__(self, folder: Path, tools: Path, *, plain: bool = False) -> None:
        tools.mkdir(parents=True)
        self.folder = folder
        if plain:
            _script(tools / "forebay", _LEFT_OUT)
        else:
            _started_by(tools / "forebay", *FOREBAY)
        for name in ("mpicc", "mpiexec"):
            (tools / name).symlink_to(f"/usr/bin/{name}.{m.OPEN_MPI.family}")
        _started_by(tools / "python3", PYTHON)
        self.variables = environment(**_OPEN_MPI, PYTHONDONTWRITEBYTECODE="1")
        del self.variables["PYTHONPATH"]  # `forebay` needs none, and python3 is another one
        self.variables["PATH"] = f"{tools}:{self.variables['PATH']}"

    def __call__(self, script: str, *words: str, more: Mapping[str, str] | None = None) -> Said:
        """Runs a script, with these words as its arguments."""
        done = subprocess.run(
            ["bash", "-euc", script, "bash", *words],
            cwd=self.folder,
            env={**self.variables, **(more or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS_MAX,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)


def _started_by(path: Path, *words: str) -> None:
    """Makes a command of words. A link to the Python of a virtual environment would not find it."""
    _script(path, f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def blocks(page: Path) -> Sequence[str]:
    """The commands that a page says to type."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))
