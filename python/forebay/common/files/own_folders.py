"""Temporary folders that a run removes at its end, or, if it was killed, the next run of the same
user. A run holds an flock(2) on a file in its folder: the kernel releases the lock when the process
dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_MARK = "in-use"
_NEW_MARK = "in-use.new"
_DAEMON_LOCKS = ".lock"
_ENTRIES_MAX = 20_000
"""Entries of a parent folder that are looked at, so that a run does not wait for a huge folder."""
_WORDS_MAX = 512
"""Bytes of the node's name in a mark."""


def make_folder(prefix: str, parent: Path | None = None) -> Path:
    """A new folder that only the user can enter, marked as in use while this process lives. On a
    file system without locks it has no mark, so that no other run will remove it. Raises OSError
    if it cannot be made."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    with contextlib.suppress(OSError):
        _mark(folder)
    return folder


def _mark(folder: Path) -> None:
    """Locks the mark before it gets its name, so that nobody sees an unlocked one. The descriptor
    stays open until the process ends."""
    new = folder / _NEW_MARK
    descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, _here())
        new.rename(folder / _MARK)
    except OSError:
        os.close(descriptor)
        new.unlink()
        raise


def _here() -> bytes:
    """This node's name: on some file systems, locks are not seen by other nodes."""
    return os.fsencode(os.uname().nodename)[:_WORDS_MAX]


def stale_folders(prefix: str, parent: Path) -> Iterator[Path]:
    """Folders whose run has ended, and all daemons that listened in them. Each folder's locks are
    held by this process until the iterator is advanced."""
    try:
        with os.scandir(parent) as entries:
            found = [
                Path(entry.path)
                for entry in islice(entries, _ENTRIES_MAX)
                if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return
    for folder in found:
        with contextlib.ExitStack() as stack:
            try:
                is_stale = _is_stale(folder, stack)
            except OSError:
                continue
            if is_stale:
                yield folder


def remove_stale(prefix: str, parent: Path) -> None:
    """Removes the folders with that prefix whose runs have ended."""
    for folder in stale_folders(prefix, parent):
        shutil.rmtree(folder, ignore_errors=True)


def _is_stale(folder: Path, stack: contextlib.ExitStack) -> bool:
    """Whether the folder's run and daemons have ended; `stack` then holds their locks."""
    inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    stack.callback(os.close, inside)
    found = os.fstat(inside)
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        return False
    mark = _locked(_MARK, inside, stack)
    if mark is None or os.pread(mark, _WORDS_MAX, 0) != _here():
        return False
    with os.scandir(inside) as entries:
        locks = [entry.name for entry in entries if entry.name.endswith(_DAEMON_LOCKS)]
    return all(_locked(name, inside, stack) is not None for name in locks)


def _locked(name: str, inside: int, stack: contextlib.ExitStack) -> int | None:
    """The descriptor of a file on which we got the lock. Returns None if another process holds
    the lock, or the file is not a regular file of ours."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=inside)
    stack.callback(os.close, descriptor)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return descriptor
