"""Settings: their names, kinds and ranges. The rules are those of the native library
(src/settings); both use the table schema/settings.toml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from forebay.common.model.errors import SettingsError
from forebay.common.model.frozen import frozen
from forebay.common.model.units import exact_bytes, parse_bytes
from forebay.settings.model.given import (
    ENVIRONMENT_PREFIX,
    LOCKED_VARIABLE,
    SETTINGS_VARIABLE,
    SITE_VARIABLE,
    Override,
)

_YES = frozenset({"true", "1", "yes", "on", "enable"})
_NO = frozenset({"false", "0", "no", "off", "disable"})
_INTEGER = re.compile(r"-?[0-9]+")
_LARGEST = (1 << 63) - 1
_NO_SETTINGS = frozenset({SETTINGS_VARIABLE, SITE_VARIABLE, LOCKED_VARIABLE, "FOREBAY_POOL_DAEMON"})
"""Variables that Forebay itself reads or sets, and that look like those of settings."""
_BYTES_LEAST = 4096
"""Smaller sizes probably lack a unit; see `missing_units`."""


class SettingKind(Enum):
    """The type of a value."""

    BOOL = "bool"
    INTEGER = "integer"
    BYTES = "bytes"
    ENUM = "enum"
    STRING = "string"
    STRINGS = "strings"


class Origin(Enum):
    """The source of an effective value; later ones win."""

    DEFAULT = "default"
    SITE = "site"
    FILE = "file"
    ENVIRONMENT = "environment"
    OPTION = "--set"


@frozen
class Setting:
    """One setting. `default` is canonical text; `minimum` and `maximum` bound numbers."""

    name: str
    kind: SettingKind
    default: str
    doc: str
    hint: str | None = None
    minimum: int = 0
    maximum: int = _LARGEST
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable with the setting's own name."""
        return ENVIRONMENT_PREFIX + self.name.upper()

    @property
    def hints(self) -> tuple[str, ...]:
        """The MPI_Info keys that set it."""
        own = f"forebay_{self.name}"
        return (self.hint, own) if self.hint else (own,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it has in a file and for --set: its own, and the MPI_Info keys."""
        return tuple(dict.fromkeys((self.name, *self.hints)))

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that set it; if several are set, the last one wins."""
        by_hint = ENVIRONMENT_PREFIX + (self.hint or self.name).upper()
        return tuple(dict.fromkeys((by_hint, self.variable)))

    def expected(self) -> str:
        """The form of a value, for messages."""
        if self.kind is SettingKind.BOOL:
            return "true or false"
        if self.kind is SettingKind.INTEGER:
            return f"a whole number from {self.minimum} to {self.maximum}"
        if self.kind is SettingKind.BYTES:
            low, high = exact_bytes(self.minimum), exact_bytes(self.maximum)
            return f'bytes from {low} to {high}, such as "4 MiB"'
        if self.kind is SettingKind.ENUM:
            return "one of " + ", ".join(self.choices)
        if self.kind is SettingKind.STRING:
            return "text"
        return "texts, separated by commas"

    def canonical(self, text: str) -> str:
        """The canonical form of `text`, as in a record. Raises SettingsError if it is no value of
        this setting."""
        value = self._parsed(text.strip(" \t"))
        if value is None:
            raise SettingsError(
                f'cannot use {self.name} = "{text}" (not a value of this setting). '
                f"Give {self.expected()}."
            )
        return value

    def _parsed(self, text: str) -> str | None:
        if self.kind is SettingKind.BOOL:
            word = text.lower()
            return "true" if word in _YES else "false" if word in _NO else None
        if self.kind is SettingKind.INTEGER:
            return self._within(int(text) if _INTEGER.fullmatch(text) else None)
        if self.kind is SettingKind.BYTES:
            return self._within(parse_bytes(text))
        if self.kind is SettingKind.ENUM:
            return text.lower() if text.lower() in self.choices else None
        if self.kind is SettingKind.STRING:
            return text
        return ",".join(part.strip(" \t") for part in text.split(",") if part.strip())

    def _within(self, number: int | None) -> str | None:
        if number is None or not self.minimum <= number <= self.maximum:
            return None
        return str(number)

    def shown(self, value: str) -> str:
        """The canonical text `value` for people: sizes get a unit."""
        if self.kind is SettingKind.BYTES:
            return exact_bytes(int(value))
        return value


@frozen
class EffectiveSetting:
    """A setting with its present value."""

    setting: Setting
    value: str
    origin: Origin
    place: str = ""
    """The file and line, the variable or the option that gave the value; empty for a default."""
    lock: str = ""
    """The file and line that lock it; empty if users may change it."""

    def as_json(self) -> dict[str, str]:
        """The value and where it is from, as documents have them."""
        return {
            "name": self.setting.name,
            "value": self.value,
            "origin": self.origin.value,
            "place": self.place,
            "lock": self.lock,
        }


def missing_units(effective: Sequence[EffectiveSetting]) -> tuple[str, ...]:
    """Warnings about sizes of a few bytes, in which a unit was probably forgotten."""
    return tuple(
        f"{one.setting.name} is {one.value} bytes (a number without a unit counts bytes). "
        f"Did you mean {one.setting.name}={one.value}GiB, or {one.value}MiB?"
        for one in effective
        if one.setting.kind is SettingKind.BYTES
        and one.origin is not Origin.DEFAULT
        and 0 < int(one.value) < _BYTES_LEAST
    )


@dataclass(frozen=True)
class SettingsTable:
    """All settings, in the order of the schema."""

    settings: tuple[Setting, ...]

    def find(self, name: str) -> Setting | None:
        """The setting with that name or MPI_Info key, or None."""
        return next((setting for setting in self.settings if name in setting.names), None)

    def nearest(self, name: str) -> str | None:
        """The name or MPI_Info key most similar to `name`; None if none is similar."""
        import difflib

        names = [one for setting in self.settings for one in setting.names]
        close = difflib.get_close_matches(name.lower(), names, n=1)
        return close[0] if close else None

    def of(self, override: Override) -> Setting:
        """The setting that `override` sets. Raises SettingsError if there is none."""
        setting = self.find(override.name)
        if setting is None:
            raise self._unknown(override.name)
        return setting

    def named(self, name: str) -> Setting:
        """The setting with that name, MPI_Info key or variable. Raises SettingsError if there is
        none."""
        own = next((one for one in self.settings if name.upper() in one.variables), None)
        setting = own or self.find(name)
        if setting is None:
            raise self._unknown(name)
        return setting

    def _unknown(self, name: str) -> SettingsError:
        near = self.nearest(name)
        why = "a typing mistake?" if near else "nor is one called something similar"
        meant = f'Did you mean "{near}"? ' if near else ""
        return SettingsError(
            f'no setting is called "{name}" ({why}). {meant}`forebay settings` lists all.'
        )

    def check(self, override: Override) -> str:
        """The canonical value of `override`. Raises SettingsError if there is no such setting, or
        it has no such value."""
        return self.of(override).canonical(override.text)

    def suspicious(self, variables: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Pairs of a variable and the setting's variable that was probably meant, for misspelt
        FOREBAY_* variables."""
        known = [variable for setting in self.settings for variable in setting.variables]
        doubtful = []
        for variable in variables:
            if not variable.startswith(ENVIRONMENT_PREFIX) or variable in known:
                continue
            import difflib  # here, since a program waits for what is imported before it

            close = difflib.get_close_matches(variable, known, n=1, cutoff=0.85)
            if close and variable not in _NO_SETTINGS:
                doubtful.append((variable, close[0]))
        return tuple(doubtful)
