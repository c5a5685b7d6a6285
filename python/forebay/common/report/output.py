"""Output that all subcommands share: the values of --format, and JSON."""

import dataclasses
import json
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """The value with dataclasses, enums and paths converted to types that JSON has."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def json_line(value: Any) -> str:
    """The value as one line of JSON."""
    return _shown(json.dumps(plain(value), ensure_ascii=False))


def json_pretty(value: Any) -> str:
    """The value as indented JSON, for a file or a screen."""
    return _shown(json.dumps(plain(value), ensure_ascii=False, indent=2))


def _shown(text: str) -> str:
    """JSON text with all non-printable characters escaped: json.dumps escapes ASCII control
    characters only, and not DEL."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text
    )
