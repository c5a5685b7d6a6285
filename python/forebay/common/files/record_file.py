"""Reads records, which are JSON Lines (schema/record.md), and appends runs to them. Unknown keys
and kinds are ignored."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from forebay.common.files.decoding import decoded
from forebay.common.files.safe_files import open_named
from forebay.common.model.errors import RecordError, UsageError
from forebay.common.model.record import (
    EndRecord,
    ErrorNote,
    FileRecord,
    JobRecord,
    PassedThrough,
    PoolRecord,
    Record,
    RunRecord,
    SlowTarget,
    Traffic,
)

SCHEMA = "forebay.record/1"
_RATES = {"rate": "bytes_per_second", "usual_rate": "usual_bytes_per_second"}


def decode_line(text: str) -> JobRecord | FileRecord | RunRecord | EndRecord | None:
    """One line as a value, or None if its kind is unknown. Raises RecordError if it is no line of
    a record, or has a newer format."""
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
            return _run(line)
        if line["kind"] == "end":
            return decoded(EndRecord, line)
        return _file(line) if line["kind"] == "file" else None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(_undecoded(f"{type(error).__name__}: {error}")) from error


def _undecoded(why: str) -> str:
    return f"cannot decode a line of a record ({why}). Was it written to its end, by Forebay alone?"


def read_record(path: Path, *, offset: int = 0) -> Record:
    """The lines of `path` after byte `offset`. Damaged lines are counted, not fatal. Raises
    RecordError if the file cannot be read."""
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
    ends: list[EndRecord] = []
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
        elif isinstance(line, EndRecord):
            ends.append(line)
    return Record(
        jobs=tuple(jobs),
        files=tuple(files),
        damaged_lines=tuple(damaged),
        runs=tuple(runs),
        ends=tuple(ends),
    )


def read_record_if_any(path: Path, *, offset: int) -> Record:
    """As `read_record`, but empty if there is no file."""
    try:
        path.stat()
    except FileNotFoundError:
        return Record()
    except OSError:
        pass  # read_record reports the error
    return read_record(path, offset=offset)


def append_run(path: Path, run: RunRecord) -> None:
    """Appends the line of a whole run, which has ended just now. Raises RecordError if the file
    cannot be written."""
    passed = run.seconds + (run.pool.drain_seconds if run.pool else 0.0)
    started = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=passed)
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


def _run(line: Mapping[str, Any]) -> RunRecord:
    pool = line["pool"]
    # Records before these were added lack them.
    older = {"samples": (), "storage_seconds": 0.0, "nodes": 1, "most_waited": None}
    return decoded(
        RunRecord,
        {"ranks": None, **line},
        pool=None if pool is None else decoded(PoolRecord, {**older, **pool}),
    )


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
