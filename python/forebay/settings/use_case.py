"""Use case: all settings with their present values, and where these come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.errors import SettingsError
from forebay.ports import SettingsSource
from forebay.settings.model.given import SETTINGS_VARIABLE, Override
from forebay.settings.model.table import EffectiveSetting, SettingsTable


def effective_settings(
    source: SettingsSource,
    *,
    file: Path | None,
    environment: Mapping[str, str],
    options: Sequence[Override] = (),
) -> tuple[EffectiveSetting, ...]:
    """The values after the file (the given one, or that of FOREBAY_SETTINGS), the environment and
    the options. Raises SettingsError, which names the wrong line, variable or option."""
    table = source.table()
    path = file or environment.get(SETTINGS_VARIABLE) or None
    overrides = [] if path is None else list(source.read_file(Path(path)))
    for override in overrides:
        _check(table, override, where=f"{path}:{override.line}")
    for override in options:
        _check(table, override, where=f"--set {override.name}={override.text}")
    return table.effective(file=overrides, environment=environment, options=options)


def _check(table: SettingsTable, override: Override, *, where: str) -> None:
    try:
        table.check(override)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from error
