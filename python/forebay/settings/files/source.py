"""The port SettingsSource, over real files. What reads them is imported when they are read: most
runs need none, and a program waits for what is imported before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.settings.model.given import SITE_FILE, SITE_VARIABLE

if TYPE_CHECKING:
    from forebay.settings.model.given import Override, SiteFile
    from forebay.settings.model.table import SettingsTable


class SettingsFiles:
    """The port SettingsSource, over real files."""

    def __init__(
        self, *, folders: Sequence[Path] | None = None, site_file: Path = SITE_FILE
    ) -> None:
        """`folders` are where the schema may be; None for those of this installation. `site_file`
        is the machine's own file."""
        self._folders = folders
        self._site_file = site_file
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

    def site(self, environment: Mapping[str, str]) -> SiteFile | None:
        """The machine's file, else the one that SITE_VARIABLE names: a user who sets the variable
        cannot put another file in the place of the machine's."""
        path = self._machine_file() or _named(environment)
        if path is None:
            return None
        from forebay.settings.files.toml_settings import read_site_file

        return read_site_file(path)

    def has_site(self) -> bool:
        """Whether the machine has a file. One that the environment names is no matter here."""
        return self._machine_file() is not None

    def ignored_site(self, environment: Mapping[str, str]) -> str | None:
        """A warning if SITE_VARIABLE names another file than the machine's."""
        own, named = self._machine_file(), _named(environment)
        if own is None or named in (None, own):
            return None
        return f"{SITE_VARIABLE}={named} is ignored (this machine's settings are in {own})."

    def _machine_file(self) -> Path | None:
        try:
            self._site_file.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            pass  # reading it says why it cannot be read
        return self._site_file


def _named(environment: Mapping[str, str]) -> Path | None:
    named = environment.get(SITE_VARIABLE)
    return Path(named) if named else None
