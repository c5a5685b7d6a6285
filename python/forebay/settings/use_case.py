"""Use case: every setting with the value that it would have now, and where that comes from."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.errors import SettingsError
from forebay.ports import SettingsSource
from forebay.settings.model import SETTINGS_VARIABLE, EffectiveSetting, Override, SettingsTable


def effective_settings(
    source: SettingsSource,
    *,
    file: Path | None,
    environment: Mapping[str, str],
    options: Sequence[Override] = (),
) -> tuple[EffectiveSetting, ...]:
    """File (given, or of FOREBAY_SETTINGS), environment, options. SettingsError says which of
    them is wrong: file and line, variable, or option."""
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
