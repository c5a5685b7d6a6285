"""Whether files can be written that are written only when a run is over: hours later, maybe. And
what its program has written meanwhile, as far as a look at the likely places tells."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from forebay.common.files.safe_files import planted

_ENTRIES_MAX = 500
"""How many entries of a folder are looked at: a run is not to wait for a look at many."""
_CLOCK_NS = 20_000_000
"""The kernel's stamps are those of its last tick."""


class OutputFiles:
    """The port Outputs over real files."""

    def obstacle(self, path: Path) -> str | None:
        """Why `path` cannot be written; nothing is made or changed to find out."""
        if (why := planted(path)) is not None:
            return why
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            return _obstacle_of_new(path)
        except OSError as error:
            return error.strerror
        if S_ISDIR(mode):
            return "it is a directory"
        return None if os.access(path, os.W_OK) else "it may not be written"

    def moment(self) -> int:
        """Nanoseconds since the epoch."""
        return time.time_ns()

    def changed(self, folder: Path, words: Sequence[str], *, since: int) -> Sequence[Path]:
        """By the times of last modification. A file that our own output goes to is no output of the
        program."""
        ours = {(facts.st_dev, facts.st_ino) for facts in _our_output()}
        found = []
        for path in _likely(folder, words):
            facts = _facts(path)
            if facts is None or not S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
                continue
            is_late = facts.st_size > 0 and facts.st_mtime_ns >= since - _CLOCK_NS
            if is_late and (facts.st_dev, facts.st_ino) not in ours:
                found.append(path.resolve())
        return list(dict.fromkeys(found))


def _likely(folder: Path, words: Sequence[str]) -> Iterator[Path]:
    """Files that words name, also as in `of=FILE`, and files in the folders that they name."""
    folders = [folder]
    values = [word.partition("=")[2] for word in words]
    for name in filter(None, dict.fromkeys([*words, *values])):
        path = folder / name
        facts = _facts(path)
        if facts and S_ISDIR(facts.st_mode):
            folders.append(path)
        elif facts:
            yield path
    for one in folders:
        try:
            with os.scandir(one) as entries:
                yield from (Path(entry.path) for entry in islice(entries, _ENTRIES_MAX))
        except OSError:
            continue


def _facts(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _our_output() -> Iterator[os.stat_result]:
    for number in (1, 2):
        with suppress(OSError):
            yield os.fstat(number)


def _obstacle_of_new(path: Path) -> str | None:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    may = os.access(folder, os.W_OK | os.X_OK)
    return None if may else f"nothing can be made in the folder {folder}"
