"""`forebay apply`: parses the command line, runs the program with advice, prints the effects."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable_lines, shell_words
from forebay.common.options import FormatOption, OutputFolder
from forebay.common.report.output import json_line
from forebay.world import real_world
from forebay_tuning.advise.files.advice_file import read_advice
from forebay_tuning.advise.model.ready import chosen, ready
from forebay_tuning.apply import SHORT_HELP
from forebay_tuning.apply.files import RealFolders
from forebay_tuning.apply.report import as_json, as_text
from forebay_tuning.apply.use_case import ApplyRequest, apply_advice, directory_of, placed

HELP = """Run an unmodified program with what `forebay advise -o` advised, and read back what took
effect.

The output directory gets the layout; new files in it have it from then on. Where the program's
calls are collective it runs through Forebay with the settings, and ROMIO finds its hints by
ROMIO_HINTS. What did not take effect is told on standard error when the program has ended.

\b
Examples:
  forebay apply advice.json -- srun -n 512 ./program
  forebay apply advice.json --output-dir /scratch/me/run -- mpiexec -n 8 ./program -o {out}/f

{out} in the program's words stands for the output directory: that of --output-dir, else the one
that the advice was made for.

\b
Exit status:
  the program's own
  5    the program ended with 0, but the advised layout did not take effect, or not in its new file
  1    the advice cannot be read
  2    wrong option, or no output directory is known
  125  Forebay is incomplete: its native libraries are missing
"""

AdviceFile = Annotated[
    Path, typer.Argument(metavar="ADVICE", help="The file of forebay advise -o.")
]
Command = Annotated[
    list[str], typer.Argument(metavar="-- COMMAND...", help="The program with its launcher.")
]


def apply(
    advice: AdviceFile,
    command: Command,
    directory: OutputFolder = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Runs the command and exits with its status."""
    found = read_advice(advice)
    one = chosen(found)
    request = ApplyRequest(
        advice=found, command=tuple(command), directory=directory_of(one, directory)
    )
    done = apply_advice(request, real_world(), RealFolders())
    if form is Format.JSON:
        text = json_line(as_json(done))
    else:
        where = request.directory
        words = shell_words(placed(command, where))
        batch = ready(one, directory=str(where), command=words).batch
        text = printable_lines(as_text(one, done, batch=batch))
    print(text, file=sys.stderr)
    raise typer.Exit(done.exit_status)


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `apply` to `app`."""
    app.command(
        "apply",
        help=HELP,
        short_help=SHORT_HELP,
    )(apply)
