"""TOML files that users name."""

import tomllib
from pathlib import Path
from typing import Any

from forebay.domain.errors import ForebayError


def read_toml(path: Path, error: type[ForebayError], *, what: str, remedy: str) -> dict[str, Any]:
    """The file's content; an `error` that calls it `what` where it cannot be read or is no TOML."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as cause:
        raise error(f"cannot read the {what} {path} ({cause}). {remedy}") from cause
