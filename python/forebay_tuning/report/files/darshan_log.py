"""Reads Darshan logs with PyDarshan (`pip install darshan`), in a child process that runs
darshan_reader: a damaged log can crash Darshan's C library, and then ends only the child."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forebay.common.model.errors import EvidenceError, SetupError
from forebay_tuning.model.program_io import (
    FileIo,
    LayerIo,
    LibraryBytes,
    LibraryIo,
    Passing,
    ProgramIo,
    RankIo,
)
from forebay_tuning.report.model.layers import file_of

_SECONDS_MAX = 120
_MISSING = 3
_BYTES_LEAST = 64
_FILES_MAX = 4096
_NO_PASSING = Passing()


class DarshanLogs:
    """The port Logs over files."""

    def read(self, path: Path) -> ProgramIo:
        """As `read_log`."""
        return read_log(path)


def read_log(path: Path, *, files_max: int = _FILES_MAX) -> ProgramIo:
    """The log as evidence. If it has more than `files_max` files, those with fewest bytes are added
    up per rank. Raises EvidenceError if the file is no log, is damaged or shows no I/O, and
    SetupError if PyDarshan is missing."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise EvidenceError(
            f"cannot read the log {path} ({error.strerror}). Give a .darshan file."
        ) from error
    if size < _BYTES_LEAST:
        raise EvidenceError(
            f"cannot read the log {path} (it has {size} bytes: the program did not end by itself, "
            "or its MPI was not finalised). Take the log of another run."
        )
    _expect_current(path)
    reader = f"{__name__.rpartition('.')[0]}.darshan_reader"
    packages = Path(__file__).parents[reader.count(".")]
    python_path = [str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", reader, str(path), str(files_max)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS_MAX,
            check=False,
            env={**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": os.pathsep.join(python_path)},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EvidenceError(f"cannot read the log {path} ({error}). Is it damaged?") from error
    if done.returncode == _MISSING:
        raise SetupError(
            f"cannot read Darshan logs (PyDarshan is missing for {sys.executable}, which runs this "
            f"forebay). Install it there: {sys.executable} -m pip install darshan (or, where the "
            "system's Python refuses that, in a virtual environment whose python starts forebay)."
        )
    document = None
    with contextlib.suppress(ValueError, IndexError):
        document = json.loads(done.stdout.splitlines()[-1])
    if done.returncode != 0 or not isinstance(document, dict):
        said = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise EvidenceError(
            f"cannot read the log {path} ({said[:200]}). Is it a whole Darshan log? "
            "darshan-parser shows what is in it."
        )
    return program_of(document, path)


def _expect_current(path: Path) -> None:
    """Refuses a log of Darshan 2, which is compressed as a whole. Logs since 3.0 begin with their
    version."""
    try:
        with path.open("rb") as file:
            begin = file.read(8)
    except OSError as error:
        raise EvidenceError(f"cannot read the log {path} ({error.strerror}).") from error
    if begin.startswith((b"\x1f\x8b", b"BZh")) or begin.startswith(b"2."):
        raise EvidenceError(
            f"cannot read the log {path} (it is of Darshan 2, whose format this PyDarshan does not "
            "know). Convert it by the darshan-convert of a Darshan 3.0 to 3.1, or take a newer log."
        )


def program_of(document: Mapping[str, Any], path: Path) -> ProgramIo:
    """The evidence in what darshan_reader printed of the log at `path`."""
    seconds = float(document["seconds"])
    return ProgramIo(
        source=f"Darshan log {path}",
        command=str(document["command"]),
        ranks=int(document["ranks"]),
        nodes=document["nodes"],
        seconds=seconds,
        started=str(document["started"]),
        files=tuple(_file(one, seconds) for one in document["files"]),
        gaps=tuple(str(one) for one in document["gaps"]),
        targets_known=bool(document["targets_known"]),
        is_whole=bool(document["is_whole"]),
        own=tuple(_rank(one, seconds) for one in document["own"]),
        libraries=tuple(_library(one, seconds) for one in document["libraries"]),
    )


def _rank(line: Sequence[float], most: float) -> RankIo:
    """A rank's sums, which are no longer than the run (`most`; 0 is unknown): after a jump of the
    clock Darshan may have counted more."""
    rank, seconds, write, read, meta, moved, opens, files, written = line
    scale = most / seconds if 0 < most < seconds else 1.0
    return RankIo(
        rank=int(rank),
        seconds=seconds * scale,
        write_seconds=write * scale,
        read_seconds=read * scale,
        meta_seconds=meta * scale,
        bytes=int(moved),
        opens=int(opens),
        files=int(files),
        written=int(written),
    )


def _library(line: Mapping[str, Any], most: float) -> LibraryIo:
    found = LibraryIo(**line)
    return replace(found, seconds=min(found.seconds, most)) if most > 0 else found


def _file(line: Mapping[str, Any], seconds: float) -> FileIo:
    layers = tuple(_layer(one) for one in line["layers"])
    return file_of(
        layers,
        FileIo(
            path=str(line["path"]),
            ranks=1,
            stripe_count=line["stripe_count"],
            stripe_bytes=line["stripe_bytes"],
            targets=tuple(line["targets"]),
            files=int(line["files"]),
            file_system=str(line["file_system"]),
            waited=bool(line.get("waited", True)),
            library=None if not line.get("library") else LibraryBytes(**line["library"]),
        ),
        seconds,
    )


def _layer(line: dict[str, Any]) -> LayerIo:
    line["write"], line["read"] = _passing(line["write"]), _passing(line["read"])
    return LayerIo(**line)


def _passing(line: Mapping[str, Any]) -> Passing:
    """A direction without calls has an empty line: most files of most logs are only written or only
    read."""
    return Passing(**line) if line else _NO_PASSING
