"""`forebay report` as typer has it: its help, and what to say of mistakes."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from forebay.common.model.output_format import Format
from forebay.common.options import FormatOption, option
from forebay_tuning.report import SHORT_HELP
from forebay_tuning.report.command_line import ReportOptions, perform

HELP = """Say what a program's I/O was, and what held it back.

FILE is a Darshan log (.darshan; needs `pip install darshan`), or a record of `forebay run`. The
answer is one list, the costliest first, each with the line of the log that proves it; what cost
less than a twentieth of the run is not in it. With AFTER, a log of a later run, it is what has
changed; with a folder, a table of its programs, by the hours that they lose. The record of a run
with --pool becomes a time line, too: deposits, writing, memory and waits, from start to end.

\b
Examples:
  forebay report job.darshan
  forebay report run.jsonl --html run.html     with pictures
  forebay report --format json job.darshan
  forebay report --portrait scratch.toml job.darshan    with the price of its files there
  forebay report before.darshan after.darshan
  forebay report logs/2026-11

What to set is for `forebay advise --darshan job.darshan --portrait scratch.toml`.

\b
Exit status:
  0    reported (whatever there is to report)
  1    the file or the portrait cannot be read, or the file tells of no I/O
  2    wrong option
  125  PyDarshan, or what --html draws with, is missing
"""


def report(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A .darshan log, a record, or a folder of them.")
    ],
    after: Annotated[
        Optional[Path], typer.Argument(metavar="[AFTER]", help="A later run, to compare with.")
    ] = None,
    html: Annotated[Optional[Path], option("--html", "FILE", "A page with pictures.")] = None,
    portrait: Annotated[
        Optional[Path],
        option("--portrait", "FILE", "The file system's portrait: what files cost there."),
    ] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Reads the file or folder and prints the report."""
    perform(ReportOptions(file=file, after=after, html=html, portrait=portrait, form=form))


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `report` to `app`."""
    app.command("report", help=HELP, short_help=SHORT_HELP)(report)
