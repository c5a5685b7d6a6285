"""`forebay report`: parse → diagnose → render."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from forebay.common.files.records import RecordFiles
from forebay.common.model.errors import EvidenceError, UsageError
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable_lines
from forebay.common.model.units import counted
from forebay.common.options import FormatOption, option
from forebay.common.report.output import json_pretty
from forebay_tuning.report import SHORT_HELP
from forebay_tuning.report.files.darshan_log import DarshanLogs
from forebay_tuning.report.model.several import compare
from forebay_tuning.report.report import several
from forebay_tuning.report.report.page import ReportPages
from forebay_tuning.report.report.text import as_json, as_text
from forebay_tuning.report.use_case import Sources, diagnose_all, diagnose_file

HELP = """Say what a program's I/O was, and what held it back.

FILE is a Darshan log (.darshan; needs `pip install darshan`), or a record of `forebay run`. The
answer is one list, the costliest first, each with the line of the log that proves it; what cost
less than a twentieth of the run is not in it. With AFTER, a log of a later run, it is what has
changed; with a folder, a table of its programs, by the hours that they lose.

\b
Examples:
  forebay report job.darshan
  forebay report run.jsonl --html run.html     with time lines and sizes
  forebay report --format json job.darshan
  forebay report before.darshan after.darshan
  forebay report logs/2026-11

What to set is for `forebay advise --darshan job.darshan --portrait scratch.toml`.

\b
Exit status:
  0    reported (whatever there is to report)
  1    the file cannot be read, or tells of no I/O
  2    wrong option
  125  PyDarshan, or what --html draws with, is missing
"""


def report(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A .darshan log, a record, or a folder of them.")
    ],
    after: Annotated[
        Path | None, typer.Argument(metavar="[AFTER]", help="A later run, to compare with.")
    ] = None,
    html: Annotated[Path | None, option("--html", "FILE", "A page with pictures.")] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Reads the file or folder and prints the report."""
    pages = ReportPages()
    if html is not None:
        pages.check(html)
        if after is not None or file.is_dir():
            raise UsageError("--html is of one log (there are several). Leave one of them out.")
    sources = Sources(logs=DarshanLogs(), records=RecordFiles())
    if file.is_dir():
        found, refused = diagnose_all(_logs_in(file), sources)
        for reason in refused:
            print(f"forebay: {printable_lines(reason)}", file=sys.stderr)
        if not found:
            raise EvidenceError(
                f"no log in {file} can be read ({counted(len(refused), 'reason')} above). Name "
                "another folder."
            )
        _give(form, several.folder_text(found), several.folder_json(found, refused))
        return
    diagnosis = diagnose_file(_existing(file), sources)
    if after is not None:
        both = compare(diagnosis, diagnose_file(_existing(after), sources))
        _give(form, several.comparison_text(both), several.comparison_json(both))
        return
    _give(form, as_text(diagnosis), as_json(diagnosis))
    if html is not None:
        pages.write(diagnosis, html)


def _give(form: Format, text: str, document: object) -> None:
    print(json_pretty(document) if form is Format.JSON else printable_lines(text))


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise EvidenceError(
            f"there is no file {file} (or it is a directory). Name a log or record."
        )
    return file


def _logs_in(folder: Path) -> list[Path]:
    found = sorted(one for one in folder.rglob("*.darshan*") if one.is_file())
    if not found:
        raise EvidenceError(f"there is no .darshan in {folder}. Name a folder with logs, or a log.")
    return found


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `report` to `app`."""
    app.command("report", help=HELP, short_help=SHORT_HELP)(report)
