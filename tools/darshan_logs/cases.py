"""Darshan logs from the counters of real programs that a specialist has judged (cases.toml). Where
they come from, and what was left out, stands at the top of that file.

    .venv/bin/python -m tools.darshan_logs.cases FOLDER"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.darshan_logs.logfile import Item, Run, write_log

CASES = Path(__file__).with_name("cases.toml")


def cases() -> dict[str, Run]:
    """For each log's name, the run."""
    document = tomllib.loads(CASES.read_text(encoding="utf-8"))
    return {f"case-{name}": _run(case) for name, case in document.items()}


def _run(case: Mapping[str, Any]) -> Run:
    stripes: Mapping[str, int] = case.get("stripes", {})
    return Run(
        command="/apps/model",
        ranks=case["ranks"],
        seconds=float(case["seconds"]),
        items=[item for one in case["records"] for item in _items(one)],
        file_system="lustre" if stripes else "ext4",
        striping={path: range(count) for path, count in stripes.items()},
        partial=case.get("partial", ()),
    )


def _items(record: Mapping[str, Any]) -> Iterator[Item]:
    """The records of a file in a module: one of each rank, or a shared one (rank -1)."""
    columns = _columns(record["values"])
    for at, rank in enumerate(_ranks(record.get("ranks", ""))):
        row = {name: column[at % len(column)] for name, column in columns.items()}
        yield Item(
            module=record["module"],
            path=record["path"],
            rank=rank,
            counters={name: int(text) for name, text in row.items() if not _is_time(name)},
            times={name: float(text) for name, text in row.items() if _is_time(name)},
        )


def _columns(text: str) -> dict[str, list[str]]:
    """Parses `NAME=VALUE`, or `NAME=VALUE, VALUE …` with a value for each rank."""
    pairs = (word.partition("=") for word in text.replace(", ", ",").replace(",\n", ",").split())
    return {name: values.split(",") for name, _, values in pairs}


def _ranks(text: str) -> list[int]:
    """Parses `0-6,64`; a text without ranks stands for the record that all ranks share."""
    if not text:
        return [-1]
    spans = (one.partition("-") for one in text.split(","))
    return [rank for a, _, b in spans for rank in range(int(a), int(b or a) + 1)]


def _is_time(name: str) -> bool:
    return name.startswith("F_")


def main(words: Sequence[str]) -> int:
    """Writes all logs into the folder words[0]."""
    into = Path(words[0])
    into.mkdir(parents=True, exist_ok=True)
    for name, run in cases().items():
        write_log(run, into / f"{name}.darshan")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
