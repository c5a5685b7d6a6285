"""Reads the tables that the native libraries and this package share (schema/*.toml). C++ code is
generated from them at build time."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from forebay.common.model.errors import SettingsError, SetupError
from forebay.common.model.newer_toml import tomllib

_Table = TypeVar("_Table")
_PACKAGE = Path(__file__).resolve().parents[2]
SCHEMA_FOLDERS = (
    _PACKAGE / "schema",  # a wheel, or what `cmake --install` made
    _PACKAGE.parents[1] / "schema",  # a checkout
)


def read_table(name: str, decode: Callable[[Mapping[str, Any]], _Table], *, what: str) -> _Table:
    """The decoded table in file `name`; `what` describes it in messages. Raises SetupError if the
    file is missing or does not fit this version."""
    return decode_table(table_path(name, what=what), decode, what=what)


def table_path(name: str, *, what: str, folders: Sequence[Path] = SCHEMA_FOLDERS) -> Path:
    """The path of the table `name`. Raises SetupError if it is missing."""
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    looked = ", ".join(str(folder) for folder in folders)
    raise SetupError(f"cannot tell {what} (no {name} in {looked}). Install Forebay again.")


def decode_table(path: Path, decode: Callable[[Mapping[str, Any]], _Table], *, what: str) -> _Table:
    """The decoded table at `path`. Raises SetupError if it does not fit this version."""
    try:
        return decode(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, SettingsError) as error:
        raise SetupError(f"cannot tell {what} ({path}: {error}). Install Forebay again.") from error
