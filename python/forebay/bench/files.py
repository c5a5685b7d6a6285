"""Reads the JSON of forebay-ior, forebay-hpio and forebay-meta (schema/bench.md), and the options
of forebay-ior (schema/ior_options.toml)."""

import json
import os
import stat
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from forebay.bench.model.command_line import Tool
from forebay.bench.model.program_words import HPIO_FLAGS, FlagLetters
from forebay.bench.model.result import (
    MIB_PER_SECOND,
    OPERATIONS_PER_SECOND,
    Bar,
    BenchResult,
    Facet,
    Latency,
    Measurement,
    merged,
)
from forebay.common.files.schema_tables import read_table
from forebay.common.model.errors import RecordError
from forebay.common.model.units import counted

_MEBIBYTE = 1024 * 1024
_NANOSECOND = 1e-9
_MDTEST = "mdtest"
_PLAIN_TESTS = ("pattern", "bandwidth_single", "check")
Json = Mapping[str, Any]


@cache
def flag_letters() -> FlagLetters:
    """For each tool with such options, the letters of options without a value. Raises SetupError
    if the table of IOR's options is missing."""
    ior = read_table("ior_options.toml", _ior_flags, what="which options forebay-ior has")
    return {Tool.IOR: ior, Tool.HPIO: HPIO_FLAGS}


def _ior_flags(table: Mapping[str, Any]) -> str:
    return "".join(
        row["letter"]
        for row in table["option"]
        if "letter" in row and row["kind"] in ("flag", "count")
    )


def decode_result(text: str) -> BenchResult:
    """A result of any of the three programs. Raises RecordError if the text is none, or has an
    unknown schema."""
    try:
        document = json.loads(text)
        schema = document["schema"]
        if schema not in _DECODERS:
            raise RecordError(
                f"cannot read a result (its schema is {schema!r}; known are "
                f"{', '.join(_DECODERS)}). Read it with the Forebay that wrote it."
            )
        return _DECODERS[schema](document)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise RecordError(
            f"cannot read a result ({type(error).__name__}: {error}). Was the run complete?"
        ) from error


class ResultFiles:
    """The port BenchResults, over files."""

    def stamp(self, path: Path) -> str:
        """A text that changes whenever the file is written; empty if there is no regular file. The
        programs replace the file, so the inode is part of it. The file is opened, because an NFS
        client may serve old attributes to stat(2)."""
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return ""
        try:
            facts = os.fstat(file)
        finally:
            os.close(file)
        if not stat.S_ISREG(facts.st_mode):
            return ""  # a result that went to /dev/stdout cannot be read again
        return f"{facts.st_dev} {facts.st_ino} {facts.st_size} {facts.st_mtime_ns}"

    def read(self, path: Path) -> tuple[BenchResult, str]:
        """The result in a file, and its text."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RecordError(
                f"cannot read the result {path} ({error}). Let the program write another file."
            ) from error
        return decode_result(text), text


def _ior(document: Json) -> BenchResult:
    measurements = []
    warnings: dict[str, None] = {}
    several = len(document["tests"]) > 1
    ranks, host = 0, ""
    for test in document["tests"]:
        by_access: dict[str, list[Json]] = {}
        for row in test["Results"]:
            if row.get("latency_of_transfers") is not None and row["bwMiB"] > 0:
                by_access.setdefault(str(row["access"]), []).append(row)
        for access, rows in by_access.items():
            name = f"{access} (test {test['TestID']})" if several else access
            measurements.append(_ior_measurement(name, rows))
            ranks = max(ranks, len(rows[-1]["ranks"]))
            host = str(rows[-1]["nodes"][0]["host"]) if rows[-1]["nodes"] else host
        warnings.update(dict.fromkeys(str(one) for one in test["warnings"]))
    return BenchResult(
        tool="ior",
        command=str(document["Command line"]),
        mpi=str(document["mpi_family"]),
        host=host or str(document["Machine"]),
        ranks=ranks,
        started=str(document["Began"]),
        measurements=tuple(measurements),
        warnings=tuple(warnings),
        errors=tuple(str(one) for one in document["errors"]),
        status=int(document["exit_status"]),
    )


def _ior_measurement(name: str, rows: list[Json]) -> Measurement:
    last = rows[-1]
    slowest = int(last["slowest_rank"])
    node = int(last["ranks"][slowest]["node"]) if slowest < len(last["ranks"]) else 0
    hosts = {int(one["node"]): str(one["host"]) for one in last["nodes"]}
    return Measurement(
        name=name,
        unit=MIB_PER_SECOND,
        rates=tuple(float(row["bwMiB"]) for row in rows),
        latency=merged([_ior_latency(row["latency_of_transfers"]) for row in rows]),
        rank_seconds=tuple(float(one["transfer_seconds"]) for one in last["ranks"]),
        slowest_rank=slowest,
        slowest_host=hosts.get(node, ""),
        facet=Facet(series=name),
    )


def _ior_latency(latency: Json) -> Latency:
    bars = latency["histogram_up_to_ns_count"]
    return Latency(
        bars=tuple(Bar(seconds=up_to * _NANOSECOND, count=int(count)) for up_to, count in bars),
        seconds_max=float(latency["max_ns"]) * _NANOSECOND,
    )


def _hpio(document: Json) -> BenchResult:
    points = [
        _measurement(
            _point_name(point),
            point,
            unit=MIB_PER_SECOND,
            rates=[row["bytes_per_second"] / _MEBIBYTE for row in point["repetitions"]],
            ranks=point["ranks"],
            facet=Facet(
                panel=f"{point['direction']} {point['shape']}",
                series=str(point["method"]),
                position=str(point["parameters"]),
                axis="regions, bytes of each, bytes between",
            ),
        )
        for point in document["points"]
    ]
    inner = [str(one) for point in document["points"] for one in point["warnings"]]
    return _result("hpio", document, points, inner)


def _point_name(point: Json) -> str:
    """The point's name. Sweeps of -b share a point, so the test's name is added to tell them
    apart."""
    name = f"{point['direction']} {point['shape']} {point['method']} {point['parameters']}"
    test = str(point["test"])
    return name if test in _PLAIN_TESTS else f"{name} ({test})"


def _meta(document: Json) -> BenchResult:
    rows = [
        _measurement(
            f"{row['name']} ({row['mode']}, {counted(int(row['ranks']), 'rank')})",
            row,
            unit=OPERATIONS_PER_SECOND,
            rates=[one["operations_per_second"] for one in row["repetitions"]],
            ranks=row["spread"],
            facet=_meta_facet(row),
        )
        for row in document["rows"]
    ]
    return _result("meta", document, rows, [])


def _meta_facet(row: Json) -> Facet:
    """Storms are lines over the number of ranks; mdtest's phases are of directories and files."""
    name = str(row["name"])
    if row["mode"] == _MDTEST:
        of, _, what = name.partition(" ")
        return Facet(panel=of, series=what)
    return Facet(panel=name, series=str(row["mode"]), position=str(row["ranks"]), axis="ranks")


def _measurement(
    name: str, row: Json, *, unit: str, rates: list[float], ranks: Json, facet: Facet
) -> Measurement:
    return Measurement(
        name=name,
        unit=unit,
        rates=tuple(float(one) for one in rates),
        latency=Latency(
            bars=tuple(Bar(seconds=float(at), count=int(n)) for at, n in row["latency"]["bars"]),
            seconds_max=float(row["latency"]["seconds_max"]),
        ),
        rank_seconds=tuple(float(one) for one in ranks["seconds"]),
        slowest_rank=int(ranks["slowest_rank"]),
        slowest_host=str(ranks["slowest_host"]),
        facet=facet,
    )


def _result(
    tool: str, document: Json, measurements: list[Measurement], warnings: list[str]
) -> BenchResult:
    error = document["error"]
    return BenchResult(
        tool=tool,
        command=" ".join(str(word) for word in document["command"]),
        mpi=str(document["mpi"]),
        host=str(document["host"]),
        ranks=int(document["ranks"]),
        started=str(document["started"]),
        measurements=tuple(measurements),
        warnings=tuple(dict.fromkeys([*warnings, *(str(one) for one in document["warnings"])])),
        errors=() if error is None else (str(error),),
        status=int(document["exit_status"]),
    )


_DECODERS: Mapping[str, Callable[[Json], BenchResult]] = {
    "forebay.bench.ior/1": _ior,
    "forebay.bench.hpio/1": _hpio,
    "forebay.bench.meta/1": _meta,
}
