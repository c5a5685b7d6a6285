"""`forebay doctor`: parses the command line, diagnoses, prints the findings."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from rich.console import Console
from rich.text import Text

from forebay.common.model.named_path import named_path
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable
from forebay.common.options import FormatOption, option
from forebay.common.report.output import json_pretty, plain
from forebay.doctor import SHORT_HELP
from forebay.doctor.model.finding import Finding, Status, Topic, problems
from forebay.doctor.use_case.diagnose import Diagnosis, DoctorRequest, diagnose
from forebay.world import real_world

HELP = """Look at this machine, and say what works and what to do about what does not.

Finds the MPIs, Forebay's own libraries, and the file system and layout of each DIR; starts one
process by each launcher to see whether LD_PRELOAD and FOREBAY_* reach it.

\b
Examples:
  forebay doctor                              this directory
  forebay doctor /scratch/me                  the directory that your program writes to
  forebay doctor /scratch/me /home/me         several
  forebay doctor --program ./program -n 64    can Forebay reach it? are there cores for 64 ranks?
  forebay doctor --format json /scratch       for scripts

\b
Exit status:
  0  all is well (notes are no problems)
  1  at least one problem was found
  2  wrong option, or no such directory
"""

_MARKS = {
    Status.GOOD: ("ok", "green"),
    Status.NOTE: ("note", "cyan"),
    Status.PROBLEM: ("!!", "red"),
}


def doctor(
    directories: Annotated[
        Optional[list[Path]],
        typer.Argument(
            metavar="[DIR]...", help="Where the program's files are.", parser=named_path
        ),
    ] = None,
    program: Annotated[
        Optional[str], option("--program", "PATH", "Look at this executable, too.")
    ] = None,
    ranks: Annotated[
        Optional[int], option("-n", "N", "Ranks that will run on this node.", min=1)
    ] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Diagnoses, and exits with 1 if there is a problem."""
    request = DoctorRequest(
        directories=tuple(directories or [Path()]), program=program, ranks=ranks
    )
    diagnosis = diagnose(request, real_world())
    count = problems(diagnosis.findings)
    if form is Format.JSON:
        print(json_pretty(_as_json(diagnosis)))
    else:
        _print(diagnosis)
    raise typer.Exit(1 if count else 0)


def _as_json(diagnosis: Diagnosis) -> Any:
    """The diagnosis in the schema forebay.doctor/1."""
    return {
        "schema": "forebay.doctor/1",
        "problems": problems(diagnosis.findings),
        "findings": plain(diagnosis.findings),
        "launchers": plain(diagnosis.launchers),
        "libraries": plain(diagnosis.libraries),
        "directories": [
            {**plain(one.facts), "layout": plain(one.layout)} for one in diagnosis.directories
        ],
        "machine": plain(diagnosis.machine),
    }


def _print(diagnosis: Diagnosis) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for topic in Topic:
        found = [finding for finding in diagnosis.findings if finding.topic is topic]
        if found:
            console.print(Text(topic.value, style="bold"))
            for line in (line for finding in found for line in _lines(finding)):
                console.print(line)
    count = problems(diagnosis.findings)
    ending = "No problem found." if not count else f"{count} to repair (marked !!)."
    console.print(Text(ending, style="bold"))


def _lines(finding: Finding) -> Iterator[Text]:
    mark, colour = _MARKS[finding.status]
    yield Text.assemble(
        ("  " + mark.ljust(5), colour),
        f"{printable(finding.subject)}: {printable(finding.detail)}",
    )
    if finding.remedy:
        yield Text(f"       → {printable(finding.remedy)}")


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `doctor` to `app`."""
    app.command("doctor", help=HELP, short_help=SHORT_HELP)(doctor)
