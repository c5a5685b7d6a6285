"""Records and their JSON schema: the examples, and what real runs write."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from suite import mpi as m
from suite.command import forebay
from suite.ior import program
from suite.verdict import ensure

SCHEMAS = m.ROOT / "schema"
_jsonschema: Any = importlib.import_module("jsonschema")  # it has no types
VALIDATOR: Any = _jsonschema.Draft202012Validator(
    json.loads((SCHEMAS / "record.schema.json").read_text(encoding="utf-8"))
)


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
