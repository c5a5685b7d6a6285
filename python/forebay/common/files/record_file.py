"""Reads records: JSON Lines by schema/record.md. Unknown keys and kinds are passed over."""

import contextlib
import datetime
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from forebay.common.files.decoding import decoded
from forebay.common.files.own_folders import make_folder, remove_stale
from forebay.common.files.safe_files import make_private, open_named
from forebay.common.model.errors import RecordError, UsageError
from forebay.common.model.record import (
    ErrorNote,
    FileRecord,
    JobRecord,
    PassedThrough,
    Record,
    RunRecord,
    SlowTarget,
    Traffic,
)

SCHEMA = "forebay.record/1"
_PREFIX = "forebay-run-"
_RATES = {"rate": "bytes_per_second", "usual_rate": "usual_bytes_per_second"}


def decode_line(text: str) -> JobRecord | FileRecord | RunRecord | None:
    """One line as a value; None for a kind that is not known.
    RecordError: not a line of a record, or of a newer format."""
    try:
        line = json.loads(text)
    except ValueError as error:
        raise RecordError(_undecoded(f"not JSON: {error}")) from error
    if not isinstance(line, dict):
        raise RecordError(_undecoded("not a JSON object"))
    if line.get("schema") != SCHEMA:
        raise RecordError(
            f"cannot decode a line of a record (its schema is {line.get('schema')!r}, "
            f"not {SCHEMA!r}). Read it with the Forebay that wrote it."
        )
    try:
        if line["kind"] == "job":
            return decoded(JobRecord, line)
        if line["kind"] == "run":
            return decoded(RunRecord, line)
        return _file(line) if line["kind"] == "file" else None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(_undecoded(f"{type(error).__name__}: {error}")) from error


def _undecoded(why: str) -> str:
    return f"cannot decode a line of a record ({why}). Was it written to its end, by Forebay alone?"


def read_record(path: Path, *, offset: int = 0) -> Record:
    """The lines of `path` after byte `offset`. Damaged lines are counted, not fatal.
    RecordError: the file cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError as error:
        raise RecordError(
            f"cannot read the record {path} ({error.strerror}). Give the path of a record."
        ) from error
    jobs: list[JobRecord] = []
    files: list[FileRecord] = []
    runs: list[RunRecord] = []
    damaged: list[int] = []
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            line = decode_line(text)
        except RecordError:
            damaged.append(number)
            continue
        if isinstance(line, JobRecord):
            jobs.append(line)
        elif isinstance(line, FileRecord):
            files.append(line)
        elif isinstance(line, RunRecord):
            runs.append(line)
    return Record(
        jobs=tuple(jobs), files=tuple(files), damaged_lines=tuple(damaged), runs=tuple(runs)
    )


class RecordFiles:
    """The port Records over real files. `name`: of the folder that temporary ones are in, where it
    has to be known which one that was; `temporary_folders` are those that there may be."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def temporary_folders(self) -> tuple[Path, Path]:
        """Where other nodes see it, and where they need not."""
        return Path.cwd() / f".{self._name}", Path(tempfile.gettempdir()) / self._name

    def end(self, path: Path) -> int:
        """Bytes that are there already."""
        try:
            return path.stat().st_size
        except OSError:
            return 0

    def read(self, path: Path, *, offset: int) -> Record:
        """The record from `offset` on; empty when there is no file."""
        try:
            path.stat()
        except FileNotFoundError:
            return Record()
        except OSError:
            pass  # what is wrong with it is told by reading it
        return read_record(path, offset=offset)

    def append(self, path: Path, run: RunRecord) -> None:
        """Behind the lines of the ranks, which have ended. RecordError: it cannot be written."""
        passed = run.seconds + (run.pool.drain_seconds if run.pool else 0.0)
        started = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=passed)
        stamped = replace(run, started=started.strftime("%Y-%m-%dT%H:%M:%SZ"))
        line = json.dumps({"schema": SCHEMA, "kind": "run", **asdict(stamped)})
        try:
            with open_named(path, os.O_CREAT | os.O_APPEND) as file:
                file.write(line.encode() + b"\n")
        except (OSError, UsageError) as error:
            raise RecordError(
                f"cannot write the end of the run into the record {path} ({error}). Name a file "
                "that can be written by --record."
            ) from error

    def temporary(self, *, shared: bool) -> Path:
        """In a folder of its own: under the working directory if other nodes must see it."""
        if self._name:
            shared_folder, own = self.temporary_folders()
            with contextlib.suppress(OSError):
                return _inside(shared_folder if shared else own)
            try:
                return _inside(own)
            except OSError as error:
                raise RecordError(
                    f"cannot make the folder {own} ({error.strerror}). Set TMPDIR to a folder of "
                    "your own."
                ) from error
        if shared:
            try:
                here = Path.cwd()
                remove_stale("." + _PREFIX, here)
                return make_folder("." + _PREFIX, here) / "record"
            except OSError:
                pass  # the working directory is read-only: this node's will have to do
        remove_stale(_PREFIX, Path(tempfile.gettempdir()))
        return make_folder(_PREFIX) / "record"

    def remove(self, path: Path) -> None:
        """The record and its folder."""
        shutil.rmtree(path.parent, ignore_errors=True)


def _inside(folder: Path) -> Path:
    """Its name can be guessed: somebody else may have made it. OSError then."""
    make_private(folder)
    return Path(tempfile.mkdtemp(dir=folder)) / "record"


def _file(line: Mapping[str, Any]) -> FileRecord:
    return decoded(
        FileRecord,
        line,
        write=_traffic(line["write"]),
        read=_traffic(line["read"]),
        passed_through=tuple(_passed(note) for note in line["passed_through"]),
        errors=tuple(
            decoded(ErrorNote, note, names={"error_class": "class"}) for note in line["errors"]
        ),
        slow_targets=tuple(decoded(SlowTarget, one, names=_RATES) for one in line["slow_targets"]),
    )


def _traffic(line: Mapping[str, Any]) -> Traffic:
    return decoded(Traffic, line)


def _passed(line: Mapping[str, Any]) -> PassedThrough:
    count = int(line["bytes"])
    return decoded(PassedThrough, line, bytes=count if count >= 0 else None)
