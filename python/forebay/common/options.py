"""Command-line options that several subcommands share."""

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from forebay.common.model.output_format import Format


def option(names: str, value: Optional[str], text: str, **more: Any) -> Any:
    """An option with its `names`, as in "-o --output", the name of its value, and its help."""
    return typer.Option(*names.split(), metavar=value, help=text, **more)


SettingsFile = Annotated[Optional[Path], option("--settings", "FILE", "TOML file of settings.")]
OutputFolder = Annotated[Optional[Path], option("--output-dir", "DIR", "Where the program writes.")]
FormatOption = Annotated[
    Format, typer.Option("--format", help="text for people, json for programs.")
]
