"""The `forebay` command: puts the subcommands together and turns errors into exit codes."""

import sys
from typing import Annotated

import typer

from forebay import __version__
from forebay.cli import bench, doctor, layout, run, settings, simulate
from forebay.domain.errors import ForebayError

_HELP = """A pool in front of the parallel file system: runs an unmodified MPI program so that its
collective reads and writes reach the file system as few, large, aligned requests.

\b
Start here:
  forebay doctor /scratch                 what works on this machine
  forebay run -- mpiexec -n 8 ./program   run it, see where its I/O time went
  forebay settings                        what can be set, and how
  forebay layout show /scratch/f          how a file lies over storage targets
  forebay bench ior -np 4 -t 1m -b 64m    measure a file system
"""

app = typer.Typer(
    help=_HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"forebay {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options of every subcommand."""


app.command(
    "run",
    help=run.HELP,
    short_help="Run an MPI program through Forebay.",
    context_settings=run.CONTEXT,
)(run.run)
app.command("doctor", help=doctor.HELP, short_help="What works on this machine, what does not.")(
    doctor.doctor
)
app.command("settings", help=settings.HELP, short_help="List all settings.")(settings.settings)
app.command("simulate", help=simulate.HELP, short_help="Run the engine on a simulated machine.")(
    simulate.simulate_command
)
layout.attach(app)
bench.attach(app)


def main() -> None:
    """What bin/forebay and `python -m forebay` call."""
    try:
        app(prog_name="forebay")
    except ForebayError as error:
        print(f"forebay: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
