"""Temporary folders that are gone when a run has ended, unless it was killed: then the next run of
the same user removes them. A lock says whether a run lives, which the kernel takes from a process
that has died, whatever it died of."""

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
"""How many entries of a parent folder are looked at: a run is not to wait for a look at many."""
_WORDS_MAX = 512


def make_folder(prefix: str, parent: Path | None = None) -> Path:
    """A new folder that only the user can enter, marked as in use while this process lives. Where
    the file system has no locks it has no mark, and nobody else removes it. OSError."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    with contextlib.suppress(OSError):
        _mark(folder)
    return folder


def _mark(folder: Path) -> None:
    """Locked before it has its name: nobody sees a mark that is not locked yet. The descriptor is
    closed by the end of the process."""
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
    """The node, since locks of some file systems hold on a node only."""
    return os.fsencode(os.uname().nodename)[:_WORDS_MAX]


def stale_folders(prefix: str, parent: Path) -> Iterator[Path]:
    """Those whose run is gone, and with it every daemon that listened there. Each is nobody else's
    until the next one is asked for."""
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
    """Removes them."""
    for folder in stale_folders(prefix, parent):
        shutil.rmtree(folder, ignore_errors=True)


def _is_stale(folder: Path, stack: contextlib.ExitStack) -> bool:
    """`stack`: what holds the locks."""
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
    """None: somebody holds it, or it is no file of ours."""
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
