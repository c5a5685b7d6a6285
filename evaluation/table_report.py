"""The report of a benchmark without a campaign: its command line, the commit, the machine, the
load, and tables; as text for the terminal and between the markers of a document, or as JSON."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from evaluation.model import BenchError
from evaluation.report import ROOT, fill
from evaluation.results import Machine, this_commit, this_machine
from evaluation.tables import TextTable, markdown
from forebay.common.model.frozen import frozen

SCHEMA = "forebay.bench_tables/1"


@frozen
class Circumstances:
    """Everything that numbers depend on besides the code that is measured."""

    command: str
    commit: str
    modified: bool
    """Whether the work tree differed from the commit."""
    started: str
    machine: Machine
    load: float
    """The load average of the last minute, before the first run."""
    remark: str = ""

    @property
    def text(self) -> str:
        """The lines above the tables in a document."""
        remark = f"{self.remark}; " if self.remark else ""
        return (
            f"```sh\n{self.command}\n```\n\n"
            f"Commit `{self.commit}`{' (modified)' if self.modified else ''}, {self.started}. "
            f"{self.machine.processor}, {self.machine.cores} cores, Linux {self.machine.kernel}; "
            f"{remark}load before {self.load:.2f}."
        )


@frozen
class TableReport:
    """Tables, and the circumstances in which they were measured."""

    circumstances: Circumstances
    tables: tuple[TextTable, ...]

    @property
    def text(self) -> str:
        return "\n\n".join([self.circumstances.text, *map(markdown, self.tables)])

    @property
    def json(self) -> str:
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1)


def circumstances(module: str, words: Sequence[str], remark: str = "") -> Circumstances:
    """Those of `python -m MODULE WORDS`, now."""
    commit, modified = this_commit(ROOT)
    return Circumstances(
        command=shlex.join(["python", "-m", module, *words]),
        commit=commit,
        modified=modified,
        started=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        machine=this_machine({}),
        load=os.getloadavg()[0],
        remark=remark,
    )


def add_report_options(parser: argparse.ArgumentParser, of: str = "") -> None:
    """Adds --format and --docs, which `publish` and `check_document` look at. Their help begins
    with `of`."""
    add = parser.add_argument
    formats = ("text", "json")
    add("--format", choices=formats, default="text", help=f"{of}of what goes to stdout (text)")
    add("--docs", type=Path, help=f"{of}put the table between this file's markers")


def check_document(marker: str, docs: Path | None) -> None:
    """Raises BenchError if there will be no place for the report, before it takes hours to make."""
    if docs is None:
        return
    if not docs.is_file():
        raise BenchError(
            f"No document {docs}. Write it, with a place for {marker}, or leave out --docs."
        )
    fill(docs.read_text(), marker, "")


def publish(report: TableReport, marker: str, chosen: argparse.Namespace) -> None:
    """Prints the report, and puts it between the markers of the document, if one is chosen."""
    print(report.json if chosen.format == "json" else report.text)
    if chosen.docs is not None:
        chosen.docs.write_text(fill(chosen.docs.read_text(), marker, report.text))
