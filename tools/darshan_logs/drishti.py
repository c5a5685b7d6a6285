"""How often Drishti names the trouble of labelled logs, beside `forebay report`: the table in
docs/tuning.md. It needs `pip install drishti-io`, and takes about a second a log.

    .venv/bin/python -m tools.darshan_logs.drishti python/tests/darshan_logs

Drishti is asked as by `drishti --issues --code LOG`. It keeps what it finds in its modules, so that
each log is looked at by a process of its own."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay_tuning.report.files.darshan_log import program_of
from forebay_tuning.report.files.darshan_reader import document_of
from forebay_tuning.report.model.diagnosis import diagnose

FILES_MOST = 4096
NAMES: Mapping[str, frozenset[str]] = {
    "small-calls": frozenset({"P05", "P06", "P15", "P16", "S01"}),
    "metadata": frozenset({"P17"}),
    "opening-together": frozenset({"P17"}),
    "root-writer": frozenset({"P18", "P19", "P21", "P22"}),
    "imbalance": frozenset({"P18", "P19", "P21", "P22"}),
    "sick-target": frozenset({"P19"}),
    "same-bytes": frozenset({"P09"}),
    "data-sieving": frozenset({"P09"}),
    "read-modify-write": frozenset({"P10"}),
    "lock-contention": frozenset({"P08"}),
    "mpi-io-itself": frozenset({"M02", "M03"}),
    "few-stripes": frozenset({"M08", "M09"}),
}
"""For a kind of trouble, Drishti's codes that can be read as its name: small requests (and STDIO),
time in metadata, imbalance, redundant reads and writes, misaligned requests, independent calls,
aggregators. It has none for the others."""
_CODE = re.compile(r"^\[(red|orange1)\].*? \[([A-Z]\d\d)\]")


@dataclass(frozen=True)
class Found:
    """Drishti's verdict on a log: the codes of critical issues and of warnings."""

    critical: frozenset[str]
    warned: frozenset[str]

    def names(self, kind: str) -> bool:
        """Whether it names the trouble of that kind; `none` is named by no critical issue."""
        if kind == "none":
            return not self.critical
        return bool((self.critical | self.warned) & NAMES.get(kind, frozenset()))


def codes_in(shown: Iterable[str]) -> Found:
    """The codes in the first lines of Drishti's messages, which begin with their colour."""
    found = [one.groups() for text in shown if (one := _CODE.match(text))]
    return Found(
        critical=frozenset(code for colour, code in found if colour == "red"),
        warned=frozenset(code for colour, code in found if colour == "orange1"),
    )


def drishti_on(log: Path) -> Found | None:
    """Drishti's findings in the log; None if it fails."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        status = 1
        try:
            lines = _messages(log)
            os.write(writes, json.dumps(lines).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return codes_in(json.loads(text)) if status == 0 else None


def _messages(log: Path) -> list[str]:
    """The first line of each message. Only called in a child, whose output is thrown away."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    handler, config = _drishti(log)
    config.args.log_path = str(log)
    handler.handler()
    shown = [*config.insights_operation, *config.insights_metadata]
    return [str(one.renderables[0]) for one in shown]


def _drishti(log: Path) -> tuple[Any, Any]:
    """Drishti's modules, which read the command line when they are imported."""
    sys.argv = ["drishti", "--issues", "--code", str(log)]
    handler = importlib.import_module("drishti.handlers.handle_darshan")
    return handler, importlib.import_module("drishti.includes.config")


def first_of(log: Path) -> str:
    """The kind of the first item of `forebay report`."""
    document = json.loads(json.dumps(document_of(str(log), FILES_MOST)))
    troubles = diagnose(program_of(document, log)).troubles
    return troubles[0].kind.value if troubles else "none"


def table(rows: Sequence[tuple[str, str, Found | None]]) -> str:
    """The table of kinds, the most frequent first. A row has a label, the first item of `forebay
    report`, and what Drishti says."""
    kinds: dict[str, list[tuple[str, Found | None]]] = {}
    for label, first, found in rows:
        kinds.setdefault(label, []).append((first, found))
    lines = [
        "| first item | logs | `forebay report`, first | Drishti, anywhere |",
        "|---|---|---|---|",
    ]
    for kind in sorted(kinds, key=lambda one: (one == "none", -len(kinds[one]), one)):
        logs = kinds[kind]
        ours = sum(first == kind for first, _ in logs)
        theirs = sum(found is not None and found.names(kind) for _, found in logs)
        lines.append(f"| {kind} | {len(logs)} | {ours} | {theirs} |")
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """Prints the table of the labelled logs in the folder words[0]."""
    folder = Path(words[0])
    labels = [line.split("\t")[:2] for line in (folder / "labels.tsv").read_text().splitlines()[1:]]
    logs = [(folder / f"{name}.darshan", label) for name, label in labels]
    _drishti(logs[0][0])  # once for all children
    rows = []
    for log, label in logs:
        found = drishti_on(log)
        rows.append((label, first_of(log), found))
        said = "failed" if found is None else " ".join(sorted(found.critical | found.warned))
        print(f"{log.stem}: {label}, {rows[-1][1]}, Drishti: {said}", file=sys.stderr, flush=True)
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
