"""Prepares the MPIs that are measured, Debian's from PATH and the wheels of PyPI by
evaluation.wheels, and builds the programs once for each of them."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from evaluation import wheels
from evaluation.model import BenchError, MpiSource
from forebay.common.model.frozen import frozen

HERE = Path(__file__).resolve().parent
C_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow")


@frozen
class BuiltMpi:
    """An MPI's launcher, and the program `patterns` built with the MPI."""

    launcher: Path
    patterns: Path


def prepare(mpi: MpiSource, *, build: Path) -> BuiltMpi:
    """Installs the MPI if it is missing, and builds `patterns` if it is out of date."""
    tools = _unpacked(mpi, build / "mpis") / "bin" if mpi.wheel else None
    compiler = _program(mpi.compiler, tools)
    launcher = _program(mpi.launcher, tools)
    made = build / "evaluation" / f"patterns-{mpi.name}"
    patterns = _built([str(compiler), *C_FLAGS], HERE / "patterns.c", made)
    return BuiltMpi(launcher=launcher, patterns=patterns)


def prepare_limits(*, build: Path) -> Path:
    """Builds `limits`, which needs no MPI."""
    return _built(["cc", *C_FLAGS, "-pthread"], HERE / "limits.c", build / "evaluation" / "limits")


def _program(name: str, folder: Path | None) -> Path:
    found = shutil.which(name, path=str(folder) if folder else None)
    if found is None:
        where = folder or "PATH"
        raise BenchError(
            f"No {name} (it is not in {where}). Install it, `apt-get install mpich libmpich-dev "
            "openmpi-bin libopenmpi-dev`, or leave its stacks out with --stacks."
        )
    return Path(found)


def _built(compiler: list[str], source: Path, program: Path) -> Path:
    """Compiles, unless the program exists from the same source and compiler."""
    stamp = hashlib.sha256(source.read_bytes() + " ".join(compiler).encode()).hexdigest()
    stamp_file = program.with_suffix(".stamp")
    if program.exists() and stamp_file.exists() and stamp_file.read_text() == stamp:
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    command = [*compiler, str(source), "-o", str(program)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(
            f"{source.name} does not build ({' '.join(command)}):\n{done.stderr}"
            "Check that the MPI's development files are installed."
        )
    stamp_file.write_text(stamp)
    return program


def _unpacked(mpi: MpiSource, cache: Path) -> Path:
    try:
        return wheels.unpacked(mpi.wheel or "", cache)
    except wheels.WheelError as error:
        raise BenchError(f"{error} Or leave its stacks out with --stacks.") from error
