"""The record of a job (schema/record.md), and what tests ask of it: were calls taken over?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.verdict import ensure


@dataclass(frozen=True, kw_only=True)
class Left:
    call: str
    calls: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class FileLine:
    path: Path
    closed: bool
    nodes: int
    writes: int
    reads: int
    reads_alone: int  # without an exchange
    written: int
    lent: int  # bytes of windows that were put together in memory of the pool
    left: tuple[Left, ...]
    errors: tuple[dict[str, str], ...]
    found_requests_in_flight: int  # of writes


@dataclass(frozen=True, kw_only=True)
class Record:
    jobs: tuple[dict[str, Any], ...]
    files: tuple[FileLine, ...]
    ends: tuple[dict[str, Any], ...]

    @staticmethod
    def read(path: Path) -> Record:
        ensure(path.exists(), f"no record {path.name} was written: did Forebay run?")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        ensure(all(line["schema"] == "forebay.record/1" for line in lines), "unknown schema")
        jobs = tuple(line for line in lines if line["kind"] == "job")
        ensure(len(jobs) >= 1, "no job in the record")
        ends = tuple(line for line in lines if line["kind"] == "end")
        files = tuple(_file(x) for x in lines if x["kind"] == "file")
        return Record(jobs=jobs, files=files, ends=ends)

    @property
    def found_requests_in_flight(self) -> int:
        """The k found for writes, in any file; 0: none was found."""
        return max(file.found_requests_in_flight for file in self.files)

    def of(self, name: str) -> Files:
        found = tuple(file for file in self.files if file.path.name == name)
        ensure(
            found,
            f"{name} is not in the record, which has "
            f"{sorted({file.path.name for file in self.files})}",
        )
        return Files(name=name, lines=found)


@dataclass(frozen=True, kw_only=True)
class Files:
    """All lines of one file: one for each time that it was open."""

    name: str
    lines: tuple[FileLine, ...]

    @property
    def writes(self) -> int:
        return sum(line.writes for line in self.lines)

    @property
    def reads(self) -> int:
        return sum(line.reads for line in self.lines)

    @property
    def reads_alone(self) -> int:
        return sum(line.reads_alone for line in self.lines)

    @property
    def errors(self) -> tuple[dict[str, str], ...]:
        return tuple(error for line in self.lines for error in line.errors)

    def left(self) -> Iterator[Left]:
        for line in self.lines:
            yield from line.left

    def ensure_taken(self, *, writes: int, reads: int) -> None:
        ensure(
            (self.writes, self.reads) == (writes, reads),
            f"{self.name}: {self.writes} writes and {self.reads} reads were taken over, not "
            f"{writes} and {reads}; left: {list(self.left())}",
        )

    def ensure_some_taken(self) -> None:
        ensure(
            self.writes + self.reads > 0,
            f"{self.name}: nothing was taken over; left: {list(self.left())}",
        )
        collective = [one for one in self.left() if "_all" in one.call]
        ensure(not collective, f"{self.name}: collective calls were left: {collective}")

    def ensure_left(self, call: str, reason: str) -> None:
        names = {call, call + "_c"}
        ensure(
            any(one.call in names and reason in ("*", one.reason) for one in self.left()),
            f'{self.name}: {call} was not left to the MPI for "{reason}"; left: '
            f"{list(self.left())}, taken over: {self.writes} writes, {self.reads} reads",
        )

    def ensure_all_left(self, reason: str) -> None:
        ensure(self.writes + self.reads == 0, f"{self.name} was taken over")
        ensure(
            any(one.reason == reason for one in self.left()),
            f'{self.name}: nothing was left for "{reason}": {list(self.left())}',
        )


def _file(line: dict[str, Any]) -> FileLine:
    return FileLine(
        path=Path(line["path"]),
        closed=line["closed"],
        nodes=line["nodes"],
        writes=line["write"]["calls"],
        reads=line["read"]["calls"],
        reads_alone=line["read"]["bypassed_calls"],
        lent=line["write"]["lent_bytes"],
        written=line["write"]["bytes"],
        errors=tuple(line["errors"]),
        left=tuple(
            Left(call=x["call"], calls=x["calls"], reason=x["reason"])
            for x in line["passed_through"]
        ),
        found_requests_in_flight=line["write"]["found_requests_in_flight"],
    )
