"""Records and their JSON schema: the examples, and what real runs write."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from suite import mpi as m
from suite.command import environment, forebay
from suite.ior import program
from suite.verdict import ensure

MIB = 1 << 20
SCHEMAS = m.ROOT / "schema"
_jsonschema: Any = importlib.import_module("jsonschema")  # it has no types
VALIDATOR: Any = _jsonschema.Draft202012Validator(
    json.loads((SCHEMAS / "record.schema.json").read_text(encoding="utf-8"))
)
WRITER = f"""
import sys
with open(sys.argv[1], "wb", buffering=0) as file:
    file.write(bytes({MIB}))
"""


def lines_of(record: Path) -> Sequence[dict[str, Any]]:
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def faults_of(line: object) -> list[str]:
    return [f"{list(one.absolute_path)}: {one.message}" for one in VALIDATOR.iter_errors(line)]


def ensure_valid(record: Path, *kinds: str) -> Sequence[dict[str, Any]]:
    """The lines of a record, which are of these kinds and no others."""
    lines = lines_of(record)
    for line in lines:
        ensure(not faults_of(line), f"{faults_of(line)}\n{line}")
    ensure({line["kind"] for line in lines} == {*kinds}, f"{lines}")
    return lines


def test_the_examples_are_as_the_schema_says() -> None:
    VALIDATOR.check_schema(VALIDATOR.schema)
    ensure_valid(SCHEMAS / "examples" / "record-1.jsonl", "job", "file", "end")


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("job", ("ranks",), 0),
        ("job", ("started",), "today"),
        ("file", ("write", "bytes"), -1),
        ("file", ("slow_targets", 0, "direction"), "up"),
        ("end", ("seconds",), "12"),
        ("end", ("schema",), "forebay.record/2"),
    ],
)
def test_a_wrong_line_is_refused(kind: str, path: tuple[str | int, ...], value: object) -> None:
    lines = lines_of(SCHEMAS / "examples" / "record-1.jsonl")
    line = next(one for one in lines if one["kind"] == kind)
    place: Any = line
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    ensure(faults_of(line), "it was taken")
    del place[path[-1]]
    ensure(faults_of(line), "it was taken without the key")


def test_the_schema_has_the_keys_of_the_document() -> None:
    """Each key of the schema stands in record.md."""
    document = (SCHEMAS / "record.md").read_text(encoding="utf-8")
    parts = VALIDATOR.schema["$defs"].items()
    keys = {(name, key) for name, part in parts for key in part.get("properties", ())}
    known = {"bytes_per_second", "usual_bytes_per_second", "direction"}  # said in words there
    missing = {one for one in keys if f"`{one[1]}`" not in document and one[1] not in known}
    ensure(not missing, f"record.md does not say what these are: {missing}")


def test_a_record_of_collective_calls_through_a_pool(folder: Path) -> None:
    ior = [*m.MPICH.start(2, {}), str(program(m.MPICH)), "-a", "MPIIO", "-c", "-w"]
    ior += ["-b", "64k", "-t", "64k", "-o", "out"]
    done = forebay("run", "--record", "run.jsonl", "--pool", ".", "--", *ior, cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    *_, run = ensure_valid(folder / "run.jsonl", "job", "file", "end", "run")
    ensure(run["kind"] == "run" and run["pool"]["files"], f"{run}")


@pytest.fixture
def socket() -> Iterator[Path]:
    """A place whose name is short enough."""
    with tempfile.TemporaryDirectory() as room:
        yield Path(room) / "socket"


def test_a_pool_for_several_steps_is_in_the_record(folder: Path, socket: Path) -> None:
    record = folder / "run.jsonl"
    start = ("pool", "start", "--format", "json", "--socket", socket, ".")
    done = forebay(*start, cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    more = json.loads(done.stdout)["variables"]
    try:
        for name in ("first", "second"):
            step = (sys.executable, "-c", WRITER, folder / name)
            subprocess.run(step, env=environment(**more), check=True, timeout=100)
    finally:
        stopped = forebay("pool", "stop", "--record", record, cwd=folder, more=more)
    ensure(stopped.returncode == 0, stopped.stderr)
    (run,) = ensure_valid(record, "run")
    pool = run["pool"]
    ensure(pool["taken"] == 2 * MIB and pool["arrived"] and run["status"] == 0, f"{run}")
    ensure(pool["paths"] == [str(folder)] and len(pool["files"]) == 2, f"{run}")
    ensure(pool["samples"][-1]["stored"] == 2 * MIB, f"{pool['samples']}")
    ensure(0 < pool["samples"][-1]["seconds"] <= run["seconds"] + pool["drain_seconds"], f"{run}")
    report = forebay("report", record, cwd=folder)
    ensure(report.returncode == 0, report.stderr)
    ensure("pool: 2.00 MiB taken" in report.stdout, report.stdout)


def test_a_record_that_cannot_be_written_does_not_hide_how_the_pool_ended(
    folder: Path, socket: Path
) -> None:
    done = forebay("pool", "start", "--socket", socket, ".", cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    stop = ("pool", "stop", "--socket", socket, "--record", "none/run.jsonl")
    stopped = forebay(*stop, cwd=folder)
    ensure(stopped.returncode == 0, stopped.stderr)
    ensure("cannot write the end of the run into the record none/run.jsonl" in stopped.stderr,
           stopped.stderr)  # fmt: skip
