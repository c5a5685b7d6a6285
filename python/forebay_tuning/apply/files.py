"""The directories of a program's output, and small temporary files for its ranks."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from forebay.common.files.own_folders import make_folder, remove_stale
from forebay.common.model.errors import UsageError

PREFIX = ".forebay-apply-"


class RealFolders:
    """The port Folders, over real directories."""

    def largest_new(self, folder: Path, *, but: frozenset[Path]) -> Path | None:
        """The largest new file, so that a log beside the data is not taken for the output."""
        new = [one for one in self.names(folder) - but if one.is_file()]
        return max(new, key=lambda one: one.stat().st_size, default=None)

    def names(self, folder: Path) -> frozenset[Path]:
        """All files and directories below `folder`. Raises UsageError if it cannot be listed."""
        try:
            return frozenset(folder.rglob("*")) if folder.is_dir() else frozenset()
        except OSError as error:
            raise _refused(f"look into {folder}", error) from error

    def make(self, folder: Path) -> None:
        """Creates the folder and its parents. Raises UsageError if that fails."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _refused(f"make the output directory {folder}", error) from error

    def remove(self, folder: Path) -> None:
        """Removes a file, or a directory with everything in it."""
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)
        else:
            folder.unlink(missing_ok=True)

    def write(self, name: str, text: str) -> Path:
        """Writes a file below the working directory, which other nodes see, too; if that fails, in
        /tmp."""
        try:
            here = Path.cwd()
            remove_stale(PREFIX, here)
            folder = make_folder(PREFIX, here)
        except OSError:
            remove_stale(PREFIX, Path(tempfile.gettempdir()))
            folder = make_folder(PREFIX)
        path = folder / name
        path.write_text(text, encoding="utf-8")
        return path


def _refused(what: str, error: OSError) -> UsageError:
    return UsageError(f"cannot {what} ({error.strerror}). Name another directory by --output-dir.")
