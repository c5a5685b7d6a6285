"""Downloads distributions from PyPI with pip, for the benchmarks and for tests/suite, and unpacks
MPIs into a cache that both share. It uses only the standard library, since the tests run with
Debian's Python."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SHOWN_MAX = 500
"""Characters at the end of pip's message that are shown."""
_INTELS_PLACEHOLDER = b"I_MPI_SUBSTITUTE_INSTALLDIR"


class WheelError(Exception):
    """A distribution cannot be downloaded. The message says why, and what to do next."""


def unpacked(requirement: str, cache: Path) -> Path:
    """The unpacked data tree of a wheel, an ordinary relocatable MPI. (`pip install --target` would
    lose its lib/.) Several wheels, separated by spaces, make one tree, which the first one
    names."""
    tree = cache / requirement.split()[0].replace("==", "-")
    if tree.exists():
        return tree
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        for number, wheel in enumerate(requirement.split()):
            folder = Path(scratch) / str(number)
            _extract_data(
                downloaded(wheel, folder, "--only-binary", ":all:"), Path(scratch) / "tree"
            )
        _tell_wrappers(Path(scratch) / "tree", home=tree)
        (Path(scratch) / "tree").replace(tree)
    return tree


def downloaded(requirement: str, folder: Path, *options: str) -> Path:
    """Downloads a distribution into an empty folder, from PyPI or PIP_FIND_LINKS."""
    command = [python_with_pip(), "-m", "pip", "download", "--quiet", "--no-deps", *options]
    command += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    files = [file for file in folder.iterdir() if file.suffix in (".whl", ".gz")]
    if done.returncode != 0 or len(files) != 1:
        raise WheelError(
            f"cannot get {requirement} from PyPI ({done.stderr.strip()[-_SHOWN_MAX:]}). "
            "Set PIP_FIND_LINKS to a folder that has it."
        )
    return files[0]


def python_with_pip() -> str:
    """A Python with pip, which Debian's lacks."""
    own = ROOT / ".venv" / "bin" / "python"
    if own.exists():
        return str(own)
    if importlib.util.find_spec("pip") is not None:
        return sys.executable
    return shutil.which("python3") or sys.executable


def _extract_data(wheel: Path, to: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            _, marker, inside = entry.filename.partition(".data/data/")
            if not marker or entry.is_dir() or ".." in Path(inside).parts:
                continue
            file = to / inside
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(entry))
            file.chmod((entry.external_attr >> 16) & 0o777 or 0o644)


def _tell_wrappers(tree: Path, *, home: Path) -> None:
    """Writes where the MPI is into Intel's compiler wrappers, which Intel's own installers do."""
    for script in tree.glob("bin/mpi*"):
        text = script.read_bytes()
        if text.startswith(b"#!") and _INTELS_PLACEHOLDER in text:
            script.write_bytes(text.replace(_INTELS_PLACEHOLDER, str(home).encode()))
