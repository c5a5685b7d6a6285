"""Rescue files on disk (schema/rescue.md), and the files that their bytes belong to."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from forebay.common.files.decoding import decoded
from forebay.common.files.safe_files import open_own
from forebay.common.model.errors import RescueError
from forebay.common.model.units import counted
from forebay.pool.model.rescue import RUN_HEADER, SCHEMA, FoundFile, RescueHead, RunAt

_HEAD_MAX = 1 << 16
_PIECE_BYTES = 8 << 20


class RescueFiles:
    """The port Rescues, over real files."""

    def files(self, path: Path) -> Sequence[Path]:
        """`path` itself, or all rescue files in the folder `path` and below it."""
        if not path.is_dir():
            if not path.exists():
                raise RescueError(
                    f"cannot rescue {path} (there is no such file). `forebay run --pool` and "
                    "`forebay pool stop` name the file in which they have kept bytes."
                )
            _check_first_line(path)
            return (path,)
        found = sorted(one for one in path.rglob("*") if one.is_file() and _is_rescue_file(one))
        if not found:
            raise RescueError(
                f"cannot rescue {path} (no rescue file is in this folder). "
                "Name a folder forebay-rescue-…, or a file in it."
            )
        return tuple(found)

    def head(self, file: Path) -> RescueHead:
        """The head, which is the second line of the file."""
        with _opened(file) as source:
            return _read_head(file, source)

    def runs(self, file: Path) -> tuple[Sequence[RunAt], str | None]:
        """The runs whose checksums are right, and a message about the others or None. Everything is
        read before anything is written."""
        whole: list[RunAt] = []
        damaged = 0
        with _opened(file) as source:
            head = _read_head(file, source)
            for number in range(head.runs):
                run = _next_run(source)
                if run is None:
                    damaged += head.runs - number
                    break
                if _checksum(source, run) == run.checksum:
                    whole.append(run)
                else:
                    damaged += 1
        if damaged == 0:
            return whole, None
        return whole, f"{damaged} of {counted(head.runs, 'run')} of {file} are damaged"

    def look(self, target: Path) -> FoundFile | None:
        """The file that now has the name `target`, or None."""
        try:
            found = target.stat()
        except OSError:
            return None
        return FoundFile(device=found.st_dev, inode=found.st_ino, modified_ns=found.st_mtime_ns)

    def write(
        self,
        file: Path,
        runs: Sequence[RunAt],
        target: Path,
        *,
        found: FoundFile | None,
        modified_ns: int,
    ) -> None:
        """Writes the runs and syncs them. The time of last modification is set back to
        `modified_ns`, so that a second attempt after an error does not take this one for a change
        by somebody else."""
        try:
            descriptor = _target(target, found)
            try:
                with _opened(file) as source:
                    for run in runs:
                        _copy(source, run, descriptor)
                os.fsync(descriptor)
            finally:
                with contextlib.suppress(OSError):  # only the file's owner may set its times
                    os.utime(descriptor, ns=(os.fstat(descriptor).st_atime_ns, modified_ns))
                os.close(descriptor)
        except OSError as error:
            raise RescueError(
                f"cannot write {target} ({error.strerror}). The bytes are still in {file}: "
                "run the command again when that is mended."
            ) from error

    def remove(self, file: Path) -> None:
        """Removes the rescue file, and its folder if that is empty then."""
        file.unlink()
        if file.parent.name.startswith("forebay-rescue-"):
            with contextlib.suppress(OSError):
                file.parent.rmdir()


def _target(target: Path, found: FoundFile | None) -> int:
    """Opens the very file that was looked at, or creates a new one: the name may be another file's
    or a link by now. Raises OSError (ESTALE) then."""
    if found is None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(target, flags, 0o666)
    descriptor = os.open(target, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY)
    now = os.fstat(descriptor)
    if (now.st_dev, now.st_ino) != (found.device, found.inode):
        os.close(descriptor)
        raise OSError(errno.ESTALE, "another file has got its name meanwhile", str(target))
    return descriptor


def _is_rescue_file(path: Path) -> bool:
    """Whether the file begins like a rescue file. Its owner is checked when it is opened to be
    used."""
    first = f"{SCHEMA}\n".encode()
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(len(first)) == first
    except OSError:
        return False


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """Opens a rescue file of this user. It names the file that is written to, so another user who
    could write it could write to any file of the one who rescues it."""
    try:
        source = os.fdopen(open_own(file, os.O_RDONLY), "rb")
    except OSError as error:
        hint = " Rescue it as its owner." if error.errno in (errno.EPERM, errno.ELOOP) else ""
        raise RescueError(f"cannot rescue {file} ({error.strerror}).{hint}") from error
    with source:
        yield source


def _check_first_line(file: Path) -> None:
    with _opened(file) as source:
        if source.readline(_HEAD_MAX) != f"{SCHEMA}\n".encode():
            raise RescueError(
                f"{file} is no rescue file (it does not begin with {SCHEMA}). Nothing was done "
                "with it: name a file of a folder forebay-rescue-…, or that folder."
            )


def _read_head(file: Path, source: BinaryIO) -> RescueHead:
    source.readline(_HEAD_MAX)  # the first line, checked by _check_first_line or _is_rescue_file
    try:
        return decoded(RescueHead, json.loads(source.readline(_HEAD_MAX)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RescueError(
            f"cannot rescue {file} (its second line is damaged: {type(error).__name__}). "
            "Is there a copy of it?"
        ) from error


def _next_run(source: BinaryIO) -> RunAt | None:
    header = source.read(RUN_HEADER.size)
    if len(header) != RUN_HEADER.size:
        return None
    offset, length, checksum, _zero = RUN_HEADER.unpack(header)
    return RunAt(at=source.tell(), offset=offset, length=length, checksum=checksum)


def _pieces(source: BinaryIO, run: RunAt) -> Iterator[bytes]:
    source.seek(run.at)
    left = run.length
    while left > 0:
        piece = source.read(min(left, _PIECE_BYTES))
        if not piece:
            return
        left -= len(piece)
        yield piece


def _checksum(source: BinaryIO, run: RunAt) -> int | None:
    """The checksum of the run's bytes, or None if the file is too short."""
    checksum, length = 0, 0
    for piece in _pieces(source, run):
        checksum = zlib.crc32(piece, checksum)
        length += len(piece)
    return checksum if length == run.length else None


def _copy(source: BinaryIO, run: RunAt, descriptor: int) -> None:
    offset = run.offset
    for piece in _pieces(source, run):
        rest = memoryview(piece)
        while rest:
            count = os.pwrite(descriptor, rest, offset)
            offset += count
            rest = rest[count:]
