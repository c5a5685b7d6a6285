"""Reads TOML files that users name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from forebay.common.files.safe_files import read_to_apply
from forebay.common.model.errors import ForebayError, reason_of
from forebay.common.model.frozen import frozen
from forebay.common.model.newer_toml import tomllib

_Made = TypeVar("_Made")


def read_toml(path: Path, error: type[ForebayError], *, what: str, remedy: str) -> dict[str, Any]:
    """The file's content. Raises `error`, which calls the file `what` and advises `remedy`, if it
    cannot be read or is no TOML."""
    try:
        return tomllib.loads(read_to_apply(path).decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as cause:
        raise error(f"cannot read the {what} {path} ({reason_of(cause)}). {remedy}") from cause


@frozen
class TomlKind:
    """A kind of TOML file with a schema of Forebay. `error` is raised for a bad file; `missing`,
    `other` and `wrong` are the advice if it cannot be read, has another schema, or has content that
    makes no sense."""

    what: str
    schema: str
    error: type[ForebayError]
    missing: str
    other: str
    wrong: str


def read_kind(path: Path, kind: TomlKind, make: Callable[[Mapping[str, Any]], _Made]) -> _Made:
    """The result of `make` for the file's content. Raises the kind's error if that fails."""
    document = read_toml(path, kind.error, what=kind.what, remedy=kind.missing)
    if document.get("schema") != kind.schema:
        raise kind.error(
            f"cannot use the {kind.what} {path} (its schema is {document.get('schema')!r}, not "
            f"{kind.schema!r}). {kind.other}"
        )
    try:
        return make(document)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise kind.error(
            f"cannot use the {kind.what} {path} ({type(error).__name__}: {error}). {kind.wrong}"
        ) from error
