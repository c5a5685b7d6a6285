"""Command-line options that several subcommands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from forebay.common.model.output_format import Format


def option(names: str, value: str | None, text: str, **more: Any) -> Any:
    """An option with its `names`, as in "-o --output", the name of its value, and its help."""
    return typer.Option(*names.split(), metavar=value, help=text, **more)


SettingsFile = Annotated[Path | None, option("--settings", "FILE", "TOML file of settings.")]
OutputFolder = Annotated[Path | None, option("--output-dir", "DIR", "Where the program writes.")]
FormatOption = Annotated[
    Format, typer.Option("--format", help="text for people, json for programs.")
]
