"""Reads Darshan logs, by PyDarshan (`pip install darshan`). It runs in a process of its own: a
damaged log can end the library that reads it."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forebay.common.model.errors import EvidenceError, SetupError
from forebay_tuning.model.program_io import FileIo, Passing, ProgramIo

_SECONDS_MAX = 120
_MISSING = 3
_BYTES_LEAST = 64
_FILES_MAX = 4096


class DarshanLogs:
    """The port Logs over files."""

    def read(self, path: Path) -> ProgramIo:
        """As read_log."""
        return read_log(path)


def read_log(path: Path, *, files_max: int = _FILES_MAX) -> ProgramIo:
    """Of more than `files_max` files, those with fewer bytes are put together by rank.
    EvidenceError: it is no log, damaged, or tells of no I/O. SetupError: no PyDarshan."""
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
    reader = Path(__file__).with_name("darshan_reader.py")
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(reader), str(path), str(files_max)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS_MAX,
            check=False,
            env={**os.environ, "MPLBACKEND": "agg"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EvidenceError(f"cannot read the log {path} ({error}). Is it damaged?") from error
    if done.returncode == _MISSING:
        raise SetupError(
            "cannot read Darshan logs (PyDarshan is not installed). Install it: pip install "
            "darshan."
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
    return _program(document, path)


def _program(document: Mapping[str, Any], path: Path) -> ProgramIo:
    return ProgramIo(
        source=f"Darshan log {path}",
        command=str(document["command"]),
        ranks=int(document["ranks"]),
        nodes=document["nodes"],
        seconds=float(document["seconds"]),
        started=str(document["started"]),
        files=tuple(_file(one) for one in document["files"]),
        gaps=tuple(str(one) for one in document["gaps"]),
        targets_known=bool(document["targets_known"]),
    )


def _file(line: Mapping[str, Any]) -> FileIo:
    return FileIo(
        **{
            **line,
            "write": Passing(**line["write"]),
            "read": Passing(**line["read"]),
            "targets": tuple(line["targets"]),
        }
    )
