"""Whether files can be written that are written only when a run is over: hours later, maybe."""

import os
from pathlib import Path
from stat import S_ISDIR


class OutputFiles:
    """The port Outputs over real files."""

    def obstacle(self, path: Path) -> str | None:
        """Why `path` cannot be written; nothing is made or changed to find out."""
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            return _obstacle_of_new(path)
        except OSError as error:
            return error.strerror
        if S_ISDIR(mode):
            return "it is a directory"
        return None if os.access(path, os.W_OK) else "it may not be written"


def _obstacle_of_new(path: Path) -> str | None:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    may = os.access(folder, os.W_OK | os.X_OK)
    return None if may else f"nothing can be made in the folder {folder}"
