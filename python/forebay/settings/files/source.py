"""The port SettingsSource, over real files. What reads them is imported when they are read: most
runs need none, and a program waits for what is imported before it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.settings.model.given import Override
    from forebay.settings.model.table import SettingsTable


class SettingsFiles:
    """The port SettingsSource, over real files."""

    def __init__(self, *, folders: Sequence[Path] | None = None) -> None:
        """`folders` are where the schema may be; None for those of this installation."""
        self._folders = folders
        self._table: SettingsTable | None = None

    def table(self) -> SettingsTable:
        """All settings; the schema is read once."""
        from forebay.settings.files.toml_settings import installed_table

        if self._table is None:
            folders = self._folders
            self._table = installed_table() if folders is None else installed_table(folders)
        return self._table

    def read_file(self, path: Path) -> Sequence[Override]:
        """The keys of a settings file with their lines."""
        from forebay.settings.files.toml_settings import read_settings_file

        return read_settings_file(path)
