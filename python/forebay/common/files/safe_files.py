"""Opens files by name safely in folders where other users may have put something under that name
before (docs/internals/files.md; the native twin is src/foundation/kernel/own_files.hpp)."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

from forebay.common.model.errors import UsageError

_LINKS_MAX = 40
"""As in the kernel."""
_CAREFULLY = os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_LINK = "it is a link"
_FOREIGN = "it is another user's"
_OPEN = "others may write to it"
_NO_FILE = "it is no regular file"
_FOREIGN_LINK = "a link that is another user's leads to it"
_PLANTED = "it is another user's, in a folder where others may put files"
_EVERYBODY = "everybody may write to it"


def open_own(path: Path, flags: int, mode: int = 0o600) -> int:
    """A descriptor of a file whose name Forebay chose: a regular file of this user, not a symbolic
    link, that nobody else may write to. Raises OSError with the reason if it is anything else."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | _CAREFULLY, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, _LINK, str(path)) from error
        raise
    found = os.fstat(descriptor)
    why = None
    if not stat.S_ISREG(found.st_mode):
        why = _NO_FILE
    elif found.st_uid != os.geteuid():
        why = _FOREIGN
    elif found.st_mode & _OTHERS_WRITE:
        why = _OPEN
    if why is not None:
        os.close(descriptor)
        raise OSError(errno.EPERM, why, str(path))
    return descriptor


def read_own(path: Path) -> str:
    """The text of a file that `open_own` accepts. Raises OSError."""
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
        return file.read().decode("utf-8", "replace")


def folder_problem(folder: Path) -> str | None:
    """Why the folder can be entered by others or is no folder; None if it is private to this user,
    or does not exist."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return error.strerror
    if not stat.S_ISDIR(found.st_mode):
        return "it is no folder, or a link to one"
    if found.st_uid != os.geteuid():
        return _FOREIGN
    return "other users can enter it" if stat.S_IMODE(found.st_mode) & 0o077 else None


def make_private(folder: Path) -> None:
    """Makes the folder, for this user alone. Raises OSError with the reason if it exists and is not
    private."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    why = folder_problem(folder)
    if why is not None:
        raise OSError(errno.EACCES, why, str(folder))


def planted(path: Path) -> str | None:
    """Why a file that the user named must not be written, or None if it may be. In a folder where
    other users may create files, the file has to be this user's, and a link to it this user's or
    root's."""
    if _is_trusted_folder(path.parent, _OTHERS_WRITE):
        return None
    return _planted(path, (os.geteuid(),))


def open_named(path: Path, flags: int, mode: int = 0o666) -> BinaryIO:
    """Opens a file for writing if `planted` accepts it, and empties it unless the flags have
    O_APPEND. Raises OSError with the reason if it must not be written."""
    why = planted(path)
    if why is not None:
        raise OSError(errno.EPERM, why, str(path))
    how = os.O_WRONLY | (flags & ~os.O_TRUNC) | os.O_CLOEXEC | os.O_NOCTTY
    is_trusted = _is_trusted_folder(path.parent, _OTHERS_WRITE)
    descriptor = (os.open if is_trusted else _open_through_trusted_links)(path, how, mode)
    found = os.fstat(descriptor)
    if not is_trusted and not stat.S_ISCHR(found.st_mode) and found.st_uid != os.geteuid():
        os.close(descriptor)
        raise OSError(errno.EPERM, _PLANTED, str(path))
    if stat.S_ISREG(found.st_mode) and not flags & os.O_APPEND:
        os.ftruncate(descriptor, 0)
    return os.fdopen(descriptor, "wb")


def write_named(path: Path, text: str) -> None:
    """Replaces the file's content by `text`. Raises OSError."""
    with open_named(path, os.O_CREAT) as file:
        file.write(text.encode("utf-8", "surrogateescape"))


def replace_whole(path: Path, text: str) -> None:
    """Puts a new file with this text in the place of `path`, for everybody to read. Readers see the
    old file or the new one, never a part. A link there is replaced, not followed. Raises
    OSError."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
            os.fchmod(file.fileno(), 0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise


def read_to_apply(path: Path) -> bytes:
    """Reads a file that the user named and whose content will be acted on. Raises OSError with the
    reason if another user may have planted it or can change it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        why = None
        if stat.S_ISREG(found.st_mode) and found.st_mode & stat.S_IWOTH:
            why = _EVERYBODY
        elif not _is_trusted_folder(path.parent, stat.S_IWOTH, owned=False):
            why = _planted(path, (0, os.geteuid()))
        if why is not None:
            raise OSError(errno.EPERM, why, str(path))
        return file.read()


def refused(what: str, path: Path, error: OSError) -> UsageError:
    """The error to raise if the output `what` cannot be written to `path`."""
    return UsageError(
        f"cannot write the {what} {path} ({error.strerror}). Name a file that can be written."
    )


def _is_trusted_folder(folder: Path, writable: int, *, owned: bool = True) -> bool:
    """Whether only this user and root can create files in the folder."""
    try:
        found = folder.stat()
    except OSError:
        return False
    is_ours = found.st_uid in (0, os.geteuid()) or not owned
    return is_ours and not found.st_mode & writable


def _open_through_trusted_links(path: Path, flags: int, mode: int) -> int:
    """As os.open, but every link that leads to the file has to be this user's or root's."""
    for _ in range(_LINKS_MAX):
        try:
            return os.open(path, flags | os.O_NOFOLLOW, mode)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
        path = path.parent / _target_of_trusted_link(path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _target_of_trusted_link(path: Path) -> str:
    """The target of a symbolic link. The link is held open while its owner is checked and it is
    read, because another user may put another one in its place at any time."""
    link = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(link).st_uid not in (0, os.geteuid()):
            raise OSError(errno.EPERM, _FOREIGN_LINK, str(path))
        return os.readlink("", dir_fd=link)
    finally:
        os.close(link)


def _planted(path: Path, owners: Collection[int]) -> str | None:
    """`owners`: the users whose file it may be."""
    trusted = (0, os.geteuid())
    try:
        link = path.lstat()
        found = path.stat()
    except OSError:
        return _dangling(path, trusted)
    if stat.S_ISLNK(link.st_mode) and link.st_uid not in trusted:
        return _FOREIGN_LINK
    if not stat.S_ISCHR(found.st_mode) and found.st_uid not in owners:
        return _PLANTED
    return None


def _dangling(path: Path, trusted: tuple[int, int]) -> str | None:
    try:
        link = path.lstat()
    except OSError:
        return None
    return _FOREIGN_LINK if link.st_uid not in trusted else None
