"""Options that several subcommands have."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from forebay.domain.errors import UsageError
from forebay.domain.settings import Override


def option(names: str, value: str | None, text: str, **more: Any) -> Any:
    """An option: its names as in "-o --output", what its value is called, and its help."""
    return typer.Option(*names.split(), metavar=value, help=text, **more)


SettingsFile = Annotated[Path | None, option("--settings", "FILE", "TOML file of settings.")]
OutputFolder = Annotated[Path | None, option("--output-dir", "DIR", "Where the program writes.")]


def overrides_of(assignments: Sequence[str] | None) -> tuple[Override, ...]:
    """The words of --set. UsageError: one is not KEY=VALUE."""
    return tuple(_override(text) for text in assignments or ())


def _override(text: str) -> Override:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(
            f'cannot use --set "{text}" (it is not KEY=VALUE). Write --set cb_nodes=2.'
        )
    return Override(name.strip(), value)
