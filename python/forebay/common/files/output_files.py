"""Checks at the start of a run whether its output files will be writable at its end, maybe hours
later; and finds files that the program has written, as far as a look at the likely places shows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from forebay.common.files.safe_files import planted

_ENTRIES_MAX = 500
"""Entries of a folder that are looked at, so that a run does not wait for a huge folder."""
_CLOCK_NS = 20_000_000
"""Nanoseconds by which a file's time stamp may lag behind the clock: the kernel takes it from its
last timer tick."""


class OutputFiles:
    """The port Outputs, over real files."""

    def obstacle(self, path: Path) -> str | None:
        """Why `path` cannot be written, or None. Nothing is created or changed to find out."""
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
        """Files with a recent time of last modification. Files that this process's own standard
        output or error goes to are not the program's output."""
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
    """Files that `words` name, also as in `of=FILE`, and the files in folders that they name."""
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
