"""The `forebay` command: puts the subcommands together and turns errors into exit codes."""

import contextlib
import gc
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from forebay import __version__
from forebay.common.model.errors import ForebayError, SetupError, UsageError
from forebay.common.model.printable import printable_lines

_OWN = ("run", "doctor", "settings", "simulate", "layout", "bench", "pool")
_OF_TUNING = ("probe", "advise", "apply", "verify", "report")
SUBCOMMANDS = (*_OWN, *_OF_TUNING)
"""The subcommands in the order of the help. Each is a folder of `forebay` or `forebay_tuning` whose
module `command` has a function `attach(app)`."""

_HELP = """A pool in front of the parallel file system, for programs that nobody has to change.
Writes return at the speed of memory, and a daemon of the node writes them out while the program
computes; MPI-IO's collective calls become few, large, aligned requests; and what a file system
likes is measured, recommended and proved.

\b
Start here:
  forebay doctor /scratch                  check what works on this machine
  forebay run --pool /scratch/me -- mpiexec -n 8 ./program
                                           run it; its writes return at the speed of memory
  forebay run -- mpiexec -n 8 ./program    run it; see where its I/O time went
  forebay probe /scratch/me -- srun -n 64  measure what the file system likes
  forebay report job.darshan               see what held a program's I/O back
  forebay settings                         list what can be set, and how
"""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"forebay {__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options of every subcommand."""


def application(words: Sequence[str] = ()) -> typer.Typer:
    """The command with only the subcommand that `words` begin with, or with all of them if `words`
    begin with none: a program that is run has to wait for each import before it."""
    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_common)
    if words and words[0] in SUBCOMMANDS:
        _attach(words[0], app)
        return app
    for name in SUBCOMMANDS:
        with contextlib.suppress(SetupError):
            _attach(name, app)
    return app


def _attach(name: str, app: typer.Typer) -> None:
    """Adds subcommand `name` to `app`. Raises SetupError if it is not installed."""
    package = "forebay_tuning" if name in _OF_TUNING else "forebay"
    try:
        command = importlib.import_module(f"{package}.{name}.command")
    except ModuleNotFoundError as error:
        if error.name != "forebay_tuning":
            raise
        raise SetupError(
            f"`forebay {name}` is not installed (the package forebay_tuning is missing). Install "
            "it: pip install 'forebay[tuning]'."
        ) from error
    command.attach(app)


def usual_words(words: Sequence[str]) -> list[str]:
    """`words`, with `help pool start` and `version`, as other commands have them, made options."""
    if words[:1] == ["help"]:
        return [*words[1:], "--help"]
    return ["--version"] if words == ["version"] else list(words)


def main() -> None:
    """The entry point of bin/forebay and `python -m forebay`."""
    # The imports make many objects and hardly any garbage, so collections are made rare.
    gc.set_threshold(100_000)
    try:
        words = usual_words(sys.argv[1:])
        application(words)(words, prog_name="forebay")
    except ForebayError as error:
        print(f"forebay: {printable_lines(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError:
        why = _why_there_is_no_folder()
        if why is None:
            raise
        print(f"forebay: {why}", file=sys.stderr)
        sys.exit(UsageError.exit_code)


def _why_there_is_no_folder() -> str | None:
    """Why there is no current directory, or None if there is one. If it was removed, calls fail in
    many places, first of all in getcwd(3)."""
    try:
        Path.cwd()
    except OSError as error:
        return (
            f"cannot work in the folder that you are in ({error.strerror}: it was removed, or may "
            "not be entered any more). Go to one that is there: cd"
        )
    return None
