"""The `forebay` command: starts what the words ask for, and turns errors into exit codes. A program
that is run waits for all that is imported before it, so `forebay run` is parsed and carried out
without typer (`forebay.run.command_line`), which comes for help, for mistakes, and for all else.
`forebay report` is, too (`forebay_tuning.report.command_line`): typer was most of its imports."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from forebay import __version__
from forebay.common.model.errors import ForebayError, UsageError
from forebay.common.model.printable import printable_lines

_INTERRUPTED = 130
"""The exit status after Ctrl-C, as a shell has it."""


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
        _carry_out(usual_words(sys.argv[1:]))
    except ForebayError as error:
        print(f"forebay: {printable_lines(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError:
        why = _why_there_is_no_folder()
        if why is None:
            raise
        print(f"forebay: {why}", file=sys.stderr)
        sys.exit(UsageError.exit_code)


def _carry_out(words: Sequence[str]) -> None:
    """Carries the words out, and exits."""
    if words == ["--version"]:
        print(f"forebay {__version__}")
        sys.exit()
    if words[:1] == ["run"]:
        from forebay.run.command_line import options_of, perform

        options = options_of(words[1:])
        if options is not None:
            sys.exit(perform(options))
    if words[:1] == ["report"]:
        _report(words[1:])
    from forebay.application import perform as perform_any

    sys.exit(perform_any(words))


def _report(words: Sequence[str]) -> None:
    """Carries `forebay report` out and exits, if the words are all well-formed and it is there."""
    try:
        module = importlib.import_module("forebay_tuning.report.command_line")
    except ModuleNotFoundError:
        return  # typer says what is missing
    options = module.options_of(words)
    if options is not None:
        sys.exit(module.perform(options))


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
