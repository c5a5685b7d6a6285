"""Resolves all sources of settings to one value each. A site's file comes before all that users
give, and the settings that it locks keep its values (docs/site.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forebay.common.model.errors import SettingsError
from forebay.common.model.frozen import frozen
from forebay.settings.model.given import (
    LOCKED_VARIABLE,
    Override,
    SiteFile,
)
from forebay.settings.model.table import EffectiveSetting, Origin, Setting, SettingsTable

_EXPORTED = ("pool_paths", "record")
"""Settings whose variables Forebay itself gives to programs. Inside of a run these are nobody's
attempt to change a locked value."""
_WITH_FOLDERS = ("pool_window", "pool_fsync")
_FOLDERS = "pool_folders"
"""Rules for folders replace the settings of _WITH_FOLDERS, so they are locked with these."""
_PATHS = "pool_paths"


@frozen
class ResolvedSettings:
    """All settings with their values, and warnings about what was ignored."""

    values: tuple[EffectiveSetting, ...]
    warnings: tuple[str, ...] = ()


def resolve(
    table: SettingsTable,
    *,
    site: SiteFile | None = None,
    file: Sequence[Override] = (),
    path: Path | None = None,
    environment: Mapping[str, str] | None = None,
    options: Sequence[Override] = (),
) -> ResolvedSettings:
    """The values after the site's file, the user's file (`path`), the environment and the options.
    Raises SettingsError if a value or name is wrong, or an option would change a locked setting.
    A name in the site's file that this version does not know is ignored with a warning, since one
    file serves several versions."""
    state = _Resolution(table)
    if site is not None:
        state.take_site(site)
    for override in _once(table, file):
        where = f"{path}:{override.line}" if path else f"line {override.line}"
        state.take(table.of(override), table.check(override), Origin.FILE, where)
    variables = environment or {}
    for setting in table.settings:
        named = [one for one in setting.variables if one in variables]
        if named:  # the last one is the variable with the setting's own name
            state.take_variable(setting, named[-1], variables[named[-1]])
    for override in options:
        where = f"--set {override.name}={override.text}"
        state.take(table.of(override), table.check(override), Origin.OPTION, where)
    return ResolvedSettings(values=state.values(), warnings=tuple(state.warnings))


def site_variables(values: Sequence[EffectiveSetting]) -> Mapping[str, str]:
    """The environment variables by which programs, libraries and daemons get what the site gives:
    they do not read the site's file themselves. The paths of a pool are left out, since they count
    only where a daemon serves them."""
    told = {
        one.setting.variable: one.value
        for one in values
        if (one.origin is Origin.SITE or one.lock) and one.setting.name != _PATHS
    }
    locked = ",".join(one.setting.name for one in values if one.lock)
    return {**told, LOCKED_VARIABLE: locked} if locked else told


@dataclass
class _Resolution:
    """The values so far."""

    table: SettingsTable
    given: dict[str, tuple[str, Origin, str]] = field(default_factory=dict)
    locks: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def take_site(self, site: SiteFile) -> None:
        known = [one for one in site.values if self._knows(one, site.path)]
        for override in _once(self.table, known):
            where = f"{site.path}:{override.line}"
            try:
                value = self.table.check(override)
            except SettingsError as error:
                raise SettingsError(f"{where}: {error}") from error
            self.given[self.table.of(override).name] = (value, Origin.SITE, where)
        for lock in site.locked:
            if self._knows(lock, site.path):
                self._lock(self.table.of(lock).name, f"{site.path}:{lock.line}")

    def _knows(self, override: Override, path: Path) -> bool:
        if self.table.find(override.name) is not None:
            return True
        self.warnings.append(
            f'"{override.name}" in {path}:{override.line} is ignored (this version of Forebay has '
            f"no such setting). Those who look after this machine can correct it."
        )
        return False

    def _lock(self, name: str, where: str) -> None:
        self.locks[name] = where
        if name in _WITH_FOLDERS:
            self.locks.setdefault(_FOLDERS, where)

    def take(self, setting: Setting, value: str, origin: Origin, where: str) -> None:
        """Takes a user's value, unless the setting is locked."""
        lock = self.locks.get(setting.name)
        if lock is None:
            self.given[setting.name] = (value, origin, "" if origin is Origin.OPTION else where)
            return
        kept = self.given.get(setting.name, (setting.default, Origin.DEFAULT, ""))[0]
        if value == kept:
            return
        shown = setting.shown(kept) or '""'
        if origin is Origin.OPTION:
            raise SettingsError(
                f"cannot use {where} ({lock} locks {setting.name} at {shown}). "
                "Leave it out, or ask those who look after this machine."
            )
        self.warnings.append(f"{where} is ignored ({lock} locks {setting.name} at {shown}).")

    def take_variable(self, setting: Setting, variable: str, text: str) -> None:
        """Takes the value of an environment variable."""
        if setting.name in self.locks and setting.name in _EXPORTED:
            return
        try:
            value = setting.canonical(text)
        except SettingsError as error:
            raise SettingsError(f"{variable}: {error}") from error
        self.take(setting, value, Origin.ENVIRONMENT, variable)

    def values(self) -> tuple[EffectiveSetting, ...]:
        unset = (Origin.DEFAULT, "")
        found = []
        for setting in self.table.settings:
            value, origin, place = self.given.get(setting.name, (setting.default, *unset))
            lock = self.locks.get(setting.name, "")
            found.append(
                EffectiveSetting(
                    setting=setting, value=value, origin=origin, place=place, lock=lock
                )
            )
        return tuple(found)


def _once(table: SettingsTable, file: Sequence[Override]) -> Sequence[Override]:
    """`file` itself. Raises SettingsError if two of its keys set the same setting."""
    first: dict[str, Override] = {}
    for override in file:
        before = first.setdefault(table.of(override).name, override)
        if before is not override:
            raise SettingsError(
                f'cannot use "{override.name}" in line {override.line} of the settings (it is '
                f'"{before.name}" of line {before.line} by another name). Leave one of them out.'
            )
    return file
