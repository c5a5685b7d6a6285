"""Reads the schema of settings, which comes with the package, and users' files of settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forebay.common.files.safe_files import read_to_apply
from forebay.common.files.schema_tables import SCHEMA_FOLDERS, decode_table, table_path
from forebay.common.model.errors import SettingsError
from forebay.common.model.newer_toml import tomllib
from forebay.settings.model.given import LOCKED_KEY, Override, SiteFile
from forebay.settings.model.table import Setting, SettingKind, SettingsTable

_WHAT = "which settings there are"
_IGNORED_KEYS = frozenset({"schema"})


def installed_table(folders: Sequence[Path] = SCHEMA_FOLDERS) -> SettingsTable:
    """The table in the first of the folders that has one. Raises SetupError if none has, or it does
    not fit this version."""
    return read_schema(table_path("settings.toml", what=_WHAT, folders=folders))


def read_schema(path: Path) -> SettingsTable:
    """The table in schema/settings.toml. Raises SetupError if it does not fit this version."""
    return decode_table(path, _settings, what=_WHAT)


def read_settings_file(path: Path) -> Sequence[Override]:
    """All keys with their values as text and their lines. Raises SettingsError, which names file
    and line."""
    try:
        text = read_to_apply(path).decode("utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        raise SettingsError(
            f"cannot read the settings {path} ({error.strerror}). Give the path of a TOML file."
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"cannot use the settings of {path} (not UTF-8 at byte {error.start}). "
            "Save it as UTF-8."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_syntax_message(path, text, str(error))) from error
    lines = text.splitlines()
    return [
        Override(name, _text_of(path, name, value, _line_of(lines, name)), _line_of(lines, name))
        for name, value in content.items()
        if name not in _IGNORED_KEYS
    ]


def read_site_file(path: Path) -> SiteFile:
    """A site's file: as a user's, but it has a list of locked settings, too. Raises SettingsError,
    which says whom to tell."""
    try:
        keys = read_settings_file(path)
    except SettingsError as error:
        raise SettingsError(f"{error} ({path} holds for all users of this machine.)") from error
    names = [
        Override(name.strip(), "", one.line)
        for one in keys
        if one.name == LOCKED_KEY
        for name in one.text.split(",")
        if name.strip()
    ]
    values = tuple(one for one in keys if one.name != LOCKED_KEY)
    return SiteFile(path=path, values=values, locked=tuple(names))


def _syntax_message(path: Path, text: str, problem: str) -> str:
    found = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$", problem)
    line = found[1] if found and found[1] else str(max(1, len(text.splitlines())))
    why = problem[: found.start()] if found else problem
    return (
        f"cannot use the settings of {path}:{line} (not TOML: {why}). "
        'Write lines such as `cb_buffer_size = "4 MiB"`.'
    )


def _line_of(lines: Sequence[str], key: str) -> int:
    """The line on which a top-level key, or a table of that name, begins; 1 if it is not found."""
    quoted = re.escape(key)
    pattern = re.compile(rf"""\s*\[*\s*(?:{quoted}|"{quoted}"|'{quoted}')\s*[=.\]]""")
    for number, line in enumerate(lines, start=1):
        if pattern.match(line):
            return number
    return 1


def _text_of(path: Path, name: str, value: Any, line: int) -> str:
    """A TOML value as the text that a setting takes; the native library converts it in the same
    way."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, str)):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    kind = "a table" if isinstance(value, dict) else f"of type {type(value).__name__}"
    raise SettingsError(
        f'cannot use the settings of {path}:{line} ("{name}" is {kind}, which no setting is). '
        "Give a boolean, a whole number, a string or a list of strings, in a flat table."
    )


def _settings(content: Mapping[str, Any]) -> SettingsTable:
    return SettingsTable(tuple(_setting(entry) for entry in content["setting"]))


def _setting(entry: dict[str, Any]) -> Setting:
    unbounded = Setting(
        name=entry["name"],
        kind=SettingKind(entry["kind"]),
        default="",
        doc=entry["doc"],
        hint=entry.get("hint"),
        choices=tuple(entry.get("choices", ())),
    )
    setting = replace(
        unbounded,
        minimum=_number(entry.get("minimum", unbounded.minimum)),
        maximum=_number(entry.get("maximum", unbounded.maximum)),
    )
    return replace(setting, default=setting.canonical(_plain(entry["default"])))


def _number(value: int | str) -> int:
    if isinstance(value, int):
        return value
    size = Setting(name="bound", kind=SettingKind.BYTES, default="", doc="")
    return int(size.canonical(value))


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list) else str(value)
