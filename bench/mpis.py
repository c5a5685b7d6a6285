"""The MPIs that we measure against, made usable: Debian's from PATH, the wheels of PyPI unpacked
into a cache; and the programs built once for each of them."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from bench.model import BenchError, MpiSource

HERE = Path(__file__).resolve().parent
C_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow")


@dataclass(frozen=True, kw_only=True)
class BuiltMpi:
    """Where an MPI's launcher is, and `patterns` built with it."""

    launcher: Path
    patterns: Path


def prepare(mpi: MpiSource, *, build: Path) -> BuiltMpi:
    """Installs the MPI where it is missing and builds `patterns` where it is out of date."""
    tools = _unpacked(mpi, build / "mpis") / "bin" if mpi.wheel else None
    compiler = _program(mpi.compiler, tools)
    launcher = _program(mpi.launcher, tools)
    patterns = _built(
        [str(compiler), *C_FLAGS], HERE / "patterns.c", build / "bench" / f"patterns-{mpi.name}"
    )
    return BuiltMpi(launcher=launcher, patterns=patterns)


def prepare_limits(*, build: Path) -> Path:
    """Builds `limits`, which needs no MPI."""
    return _built(["cc", *C_FLAGS, "-pthread"], HERE / "limits.c", build / "bench" / "limits")


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
    """Compiles unless a program from the same source and compiler is there."""
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
    """The wheel's data tree, which is an ordinary, relocatable MPI installation."""
    requirement = mpi.wheel or ""
    tree = cache / requirement.replace("==", "-")
    if tree.exists():
        return tree
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        wheel = _downloaded(requirement, Path(scratch))
        unpacked = Path(scratch) / "tree"
        _extract_data(wheel, unpacked)
        unpacked.replace(tree)
    return tree


def _downloaded(requirement: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), requirement]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise BenchError(
            f"Cannot get {requirement} from PyPI ({done.stderr.strip()}). Set PIP_FIND_LINKS to a "
            "folder with the wheel, or leave its stacks out with --stacks."
        )
    return wheels[0]


def _extract_data(wheel: Path, to: Path) -> None:
    """`pip install --target` loses the data's lib/, so the archive is unpacked as it is."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            _, marker, inside = entry.filename.partition(".data/data/")
            if not marker or entry.is_dir() or ".." in Path(inside).parts:
                continue
            file = to / inside
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(entry))
            file.chmod((entry.external_attr >> 16) & 0o777 or 0o644)
