"""Command-line options that several subcommands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from forebay.common.model.errors import UsageError


def option(names: str, value: str | None, text: str, **more: Any) -> Any:
    """An option with its `names`, as in "-o --output", the name of its value, and its help."""
    return typer.Option(*names.split(), metavar=value, help=text, **more)


def named_path(text: str) -> Path:
    """A path on the command line. Raises UsageError if it is empty, as an unset variable is: it
    would mean the working directory."""
    if not text.strip():
        raise UsageError(
            'cannot use the path "" (it is empty: is a variable not set?). '
            "Name a file or a folder; say . for the folder that you are in."
        )
    return Path(text)


SettingsFile = Annotated[Path | None, option("--settings", "FILE", "TOML file of settings.")]
OutputFolder = Annotated[Path | None, option("--output-dir", "DIR", "Where the program writes.")]
