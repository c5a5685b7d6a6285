"""Paths on the command line."""

from pathlib import Path

from forebay.common.model.errors import UsageError


def named_path(text: str) -> Path:
    """A path on the command line. Raises UsageError if it is empty, as an unset variable is: it
    would mean the working directory."""
    if not text.strip():
        raise UsageError(
            'cannot use the path "" (it is empty: is a variable not set?). '
            "Name a file or a folder; say . for the folder that you are in."
        )
    return Path(text)
