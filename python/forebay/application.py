"""The `forebay` command with all its subcommands, as typer has it: for what is not started at once
(`forebay.main`), for its help, manual and completions."""

import contextlib
import importlib
import re
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Annotated, Any

import typer

from forebay import __version__
from forebay.common.model.errors import SetupError, UsageError

_OF_TUNING = ("probe", "advise", "apply", "verify", "report")
_OTHERS = ("job-script", "layout", "bench", "pool", "tier")
SUBCOMMANDS = ("run", "doctor", "settings", "simulate", *_OF_TUNING, *_OTHERS)
"""The subcommands in the order of the help. Each is a folder of `forebay` or `forebay_tuning` with
a SHORT_HELP, whose module `command` has a function `attach(app)`."""

_STARTING_PROGRAMS = ("forebay run", "forebay job-script")
"""Commands whose options may be mixed up with those of the program or of its launcher."""

_HELP = """A pool in front of the parallel file system, for programs that nobody has to change.
Writes return at the speed of memory, and a daemon of the node writes them out while the program
computes; MPI-IO's collective calls become few, large, aligned requests; and what a file system
likes is measured, recommended and proved.

\b
Start here:
  forebay doctor /scratch                  check what works on this machine
  forebay run --compare --pool . -- ./serial
                                           try it: does it pay, and are the files the same?
  forebay run --pool /scratch/me -- mpiexec -n 8 ./program
                                           run it; its writes return at the speed of memory
  forebay run -- mpiexec -n 8 ./program    run it; see where its I/O time went
  forebay probe /scratch/me -- srun -n 64  measure what the file system likes
  forebay report job.darshan               see what held a program's I/O back
  forebay settings                         list what can be set, and how
"""


_ITS_ERROR: Any = next(
    one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException"
)
"""The base of all errors about a command line. Some versions of typer have a click of their own."""


def perform(words: Sequence[str]) -> int:
    """Carries the words out and returns the exit status. Raises UsageError, in the form that all
    messages have, if no command can be made of them."""
    command = typer.main.get_command(application_for(words))
    try:
        status = command.main(list(words), prog_name="forebay", standalone_mode=False)
    except _ITS_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return UsageError.exit_code
        raise UsageError(_told(error, _meant(command, words))) from error
    return status if isinstance(status, int) else 0


def _meant(command: Any, words: Sequence[str]) -> str:
    """The subcommand that `words` begin with, behind the names that lead to it. Not every error has
    a context that knows it."""
    path = "forebay"
    for word in words:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        path += f" {word}"
    return path


def _told(error: Any, command: str) -> str:
    """The error as all messages are: *problem (why). What to do next.*"""
    why = str(error.format_message()).strip().rstrip(".")
    why = why.replace("Value error, ", "").replace(". Did you mean", "; did you mean")
    why = re.sub(r" \(Possible options: (.+)\)$", r"; did you mean \1?", why)
    starts = command in _STARTING_PROGRAMS
    return (
        f"cannot carry out `{command}` ({why[:1].lower()}{why[1:]}). "
        + (f"Name the program behind all options: {command} -- ./program. " if starts else "")
        + f"See what there is: {command} --help"
    )


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


def application() -> typer.Typer:
    """The command with all subcommands that are installed, ready to be called."""
    app = _empty()
    for name in SUBCOMMANDS:
        with contextlib.suppress(SetupError):
            _attach(name, app)
    return app


def application_for(words: Sequence[str]) -> typer.Typer:
    """The command as far as `words` need it: with the subcommand that they begin with, or, where no
    word is one's name, with names and one line each, which is what the help shows. The imports of
    all others are the most of its time."""
    if words and words[0] in SUBCOMMANDS:
        app = _empty()
        _attach(words[0], app)
        return app
    return application() if set(words) & set(SUBCOMMANDS) else _overview()


def _overview() -> typer.Typer:
    app = _empty()
    for name, short_help in _short_helps():
        app.command(name, short_help=short_help)(_never)
    return app


def _never() -> None:
    raise AssertionError("a subcommand whose name is no word of the command line was called")


def _short_helps() -> Iterator[tuple[str, str]]:
    for name in SUBCOMMANDS:
        with contextlib.suppress(SetupError):
            yield name, _module(name, "").SHORT_HELP


def _empty() -> typer.Typer:
    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_common)
    return app


def _attach(name: str, app: typer.Typer) -> None:
    """Adds subcommand `name` to `app`. Raises SetupError if it is not installed."""
    _module(name, ".command").attach(app)


def _module(name: str, inside: str) -> ModuleType:
    """The package of subcommand `name`, or a module `inside` of it. Raises SetupError if it is not
    installed."""
    package = "forebay_tuning" if name in _OF_TUNING else "forebay"
    try:
        return importlib.import_module(f"{package}.{name.replace('-', '_')}{inside}")
    except ModuleNotFoundError as error:
        if error.name != "forebay_tuning":
            raise
        raise SetupError(
            f"`forebay {name}` is not installed (the package forebay_tuning is missing). Install "
            "it, from a checkout of Forebay: pip install '.[tuning]'."
        ) from error
