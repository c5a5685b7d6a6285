"""`forebay apply`: parse → run with advice → render."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from forebay.common.model.errors import UsageError
from forebay.common.model.printable import printable_lines
from forebay.common.options import OutputFolder
from forebay.common.report.output import Format, FormatOption, json_line, plain
from forebay.world import real_world
from forebay_tuning.advise.files.advice_file import read_advice
from forebay_tuning.advise.model.advice import Advice
from forebay_tuning.advise.model.ready import chosen
from forebay_tuning.apply.files import RealFolders
from forebay_tuning.apply.use_case import Applied, ApplyRequest, Effect, apply_advice

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
  1    the advice cannot be read
  2    wrong option, or no output directory is known
  125  Forebay is incomplete: its native libraries are missing
"""

AdviceFile = Annotated[Path, typer.Argument(metavar="ADVICE", help="Of forebay advise -o.")]
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
    text = json_line(as_json(done)) if form is Format.JSON else printable_lines(as_text(one, done))
    print(text, file=sys.stderr)
    raise typer.Exit(done.run.status)


def directory_of(advice: Advice, given: Path | None) -> Path:
    """UsageError: nobody says where."""
    if given is not None:
        return given
    if advice.workload.directory:
        return Path(advice.workload.directory)
    raise UsageError(
        "it is not known where the program writes (the advice names no directory). Say it: "
        "--output-dir DIR."
    )


def as_text(advice: Advice, done: Applied) -> str:
    """What was set, and what of it took effect."""
    lines = [f"forebay apply: {done.run.seconds:.3f} s, status {done.run.status}"]
    if advice.keeps:
        lines.append("  the advice is to keep everything: nothing was set")
    lines += [f"  {effect_text(one)}" for one in done.effects]
    lines += [f"  warning: {text}" for text in done.run.warnings]
    return "\n".join(lines)


def effect_text(one: Effect) -> str:
    """Of one thing that was to be set."""
    if one.took:
        return f"{one.name}: {one.wanted}, took effect"
    if one.found is None:
        return f"{one.name}: {one.wanted}, not seen to take effect ({one.reason})"
    why = f" ({one.reason})" if one.reason else ""
    return f"{one.name}: {one.wanted} was asked for, it is {one.found}{why}"


def as_json(done: Applied) -> Any:
    """The schema forebay.apply/1."""
    return {
        "schema": "forebay.apply/1",
        "status": done.run.status,
        "seconds": done.run.seconds,
        "command": list(done.run.command),
        "effects": [{**plain(one), "took": one.took} for one in done.effects],
        "warnings": list(done.run.warnings),
    }


def attach(app: typer.Typer) -> None:
    """Puts `apply` into the command."""
    app.command(
        "apply",
        help=HELP,
        short_help="Run a program with what was advised.",
    )(apply)
