"""Use case: all settings with their present values, and where these come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from forebay.common.model.errors import SettingsError
from forebay.common.model.frozen import frozen
from forebay.ports import SettingsSource
from forebay.settings.model.given import SETTINGS_VARIABLE, Override
from forebay.settings.model.resolution import ResolvedSettings, resolve
from forebay.settings.model.table import EffectiveSetting, SettingsTable

FOLDERS_SETTING = "pool_folders"
_KEYS = {"window": "pool_window", "fsync": "pool_fsync"}
_PAST = "past"


@frozen
class FolderSetting:
    """A setting that holds for the files below `folder`, as a rule of pool_folders says. `name` is
    "past" for a folder whose files go past the pool."""

    folder: str
    name: str
    value: str
    place: str


def resolved_settings(
    source: SettingsSource,
    *,
    file: Path | None,
    environment: Mapping[str, str],
    options: Sequence[Override] = (),
) -> ResolvedSettings:
    """The values after the site's file, the user's file (the given one, or that of
    FOREBAY_SETTINGS), the environment and the options. Raises SettingsError, which names the wrong
    line, variable or option."""
    table = source.table()
    path = file or environment.get(SETTINGS_VARIABLE) or None
    overrides = [] if path is None else list(source.read_file(Path(path)))
    for override in overrides:
        _check(table, override, where=f"{path}:{override.line}")
    for override in options:
        _check(table, override, where=f"--set {override.name}={override.text}")
    found = resolve(
        table,
        site=source.site(environment),
        file=overrides,
        path=None if path is None else Path(path),
        environment=environment,
        options=options,
    )
    ignored = source.ignored_site(environment)
    if ignored is None:
        return found
    return ResolvedSettings(values=found.values, warnings=(ignored, *found.warnings))


def effective_settings(
    source: SettingsSource,
    *,
    file: Path | None,
    environment: Mapping[str, str],
    options: Sequence[Override] = (),
) -> tuple[EffectiveSetting, ...]:
    """The values of `resolved_settings`."""
    return resolved_settings(source, file=file, environment=environment, options=options).values


def folder_settings(values: Sequence[EffectiveSetting]) -> Iterator[FolderSetting]:
    """The rules of pool_folders, one setting each. The daemon says what is wrong with a rule; here,
    rules are taken as they are."""
    rules = next((one for one in values if one.setting.name == FOLDERS_SETTING), None)
    for rule in rules.value.split(",") if rules else ():
        folder = rule.strip(" ")
        words: list[str] = []
        while _is_word(folder.rpartition(" ")[2]) and " " in folder:
            folder, _, word = folder.rpartition(" ")
            words.insert(0, word)
            folder = folder.rstrip(" ")
        for word in words:
            key, _, value = word.partition("=")
            yield FolderSetting(
                folder=folder,
                name=_KEYS.get(key, _PAST),
                value=value or "true",
                place=rules.place if rules else "",
            )


def _is_word(word: str) -> bool:
    return word == _PAST or word.startswith(tuple(f"{key}=" for key in _KEYS))


def _check(table: SettingsTable, override: Override, *, where: str) -> None:
    try:
        table.check(override)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from error
