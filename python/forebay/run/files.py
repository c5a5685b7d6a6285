"""The folders of `forebay run --compare`: each run begins with the same files, leaves its own in a
place of its own, and at the end everything is as it was before."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from forebay.common.files.own_folders import make_folder, stale_folders
from forebay.common.model.errors import ForebayError, StoppedError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.units import human_bytes
from forebay.run.model import Contrast, FileDifference, WrittenFiles

PREFIX = ".forebay-compare-"
_OURS = ".forebay-"
"""The prefix of all folders that Forebay makes beside users' files; they are not compared."""
COPIED_BYTES_MAX = 8 << 30
COPIED_ENTRIES_MAX = 100_000
_COPIES = 3
"""Copies of the folder that are there at a time, at most: of a pair and of the first run."""
_CHUNK = 1 << 20
_KEPT, _WHOSE, _RUN, _UNFINISHED = "kept", "belongs-to", "run", "unfinished"
_MARK = "in-use"
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


@frozen
class _Entry:
    """An entry of a folder. Programs cannot set the time of its last change of status. The kernel's
    clock for it is coarse, but a copy has the old time of modification until it is written to."""

    kind: int
    bytes: int
    inode: int
    changed_ns: int
    modified_ns: int


class RunCopies:
    """The port RunFolders: the program runs in copies of the working folder, and the folder itself
    is left alone. All runs have the same path, since a program may write it into its files."""

    def __init__(self, folder: Path) -> None:
        self._source = folder
        self._folder = folder
        self._before: Mapping[str, _Entry] = {}
        self._listed: dict[str, Mapping[str, _Entry]] = {}
        self._touched: dict[str, frozenset[str]] = {}
        self._room = Path()
        self._is_kept = False
        self._input = _input_offset()

    def __enter__(self) -> RunCopies:
        _check_size(self._source)
        self._room = _new_room(self._source)
        return self

    def __exit__(self, *_: object) -> None:
        with _undisturbed():
            self._put_back()
            os.chdir(self._folder)
            if self._is_kept:
                (self._room / _MARK).unlink(missing_ok=True)  # no later run takes it for stale
            else:
                shutil.rmtree(self._room, ignore_errors=True)

    @property
    def run_folder(self) -> Path:
        """The working directory of each run."""
        return self._room / _RUN

    @property
    def _output(self) -> Path:
        return self.run_folder

    def begin_run(self) -> None:
        """Puts a fresh copy in place and enters the working directory of the run. Raises
        ForebayError if that fails."""
        try:
            shutil.copytree(
                self._source, self._output, symlinks=True, ignore=_not_copied, dirs_exist_ok=True
            )
            self._before = _listed(self._output)
            os.chdir(self.run_folder)
            if self._input is not None:
                os.lseek(0, self._input, os.SEEK_SET)
        except OSError as error:
            raise _failed("copy", self._source, error) from error

    def end_run(self, name: str) -> WrittenFiles:
        """Moves what the run has left to the place `name`, and says what it wrote. Everything is
        with the file system then, so that the next run does not wait for it."""
        try:
            listed = _listed(self._output)
            names = {*listed, *self._before}
            touched = frozenset(one for one in names if listed.get(one) != self._before.get(one))
            files = [one for one in touched if one in listed and stat.S_ISREG(listed[one].kind)]
            for one in files:
                _sync(self._output / one)
            self._move(self._room / name)
        except OSError as error:
            raise _failed("look at the files in", self._output, error) from error
        self._listed[name], self._touched[name] = listed, touched
        return WrittenFiles(files=len(files), bytes=sum(listed[one].bytes for one in files))

    def _move(self, to: Path) -> None:
        os.chdir(self._folder)
        self._output.rename(to)

    def _put_back(self) -> None:
        """Nothing was moved."""

    def differences(self, first: str, other: str) -> Sequence[FileDifference]:
        """The differences between what two runs have left, in the order of names."""
        names = self._touched[first] | self._touched[other]
        found = (self._difference(name, first, other) for name in sorted(names))
        return tuple(one for one in found if one is not None)

    def _difference(self, name: str, first: str, other: str) -> FileDifference | None:
        a, b = self._listed[first].get(name), self._listed[other].get(name)
        if a is None or b is None:
            if a is b:
                return None
            return FileDifference(
                name=name,
                contrast=Contrast.ADDED if a is None else Contrast.MISSING,
                first_bytes=a.bytes if a else None,
                other_bytes=b.bytes if b else None,
            )
        paths = (self._room / first / name, self._room / other / name)
        try:
            if a.kind != b.kind or (
                stat.S_ISLNK(a.kind) and len({one.readlink() for one in paths}) > 1
            ):
                return FileDifference(name=name, contrast=Contrast.KIND)
            if not stat.S_ISREG(a.kind):
                return None
            at = first_offset(*paths)
        except OSError:
            return FileDifference(name=name, contrast=Contrast.UNREADABLE)
        if at is None:
            return None
        return FileDifference(
            name=name,
            contrast=Contrast.BYTES,
            offset=at,
            first_bytes=a.bytes,
            other_bytes=b.bytes,
        )

    def discard(self, name: str) -> None:
        """Removes what a run has left."""
        shutil.rmtree(self._room / name, ignore_errors=True)

    def keep(self) -> Path:
        """Lets what the runs have left stay at the end, and returns the folder in which it is."""
        self._is_kept = True
        return self._room


class OutputAside(RunCopies):
    """The port RunFolders: the program runs where it is, and writes to the folder that it always
    writes to. What was there is moved aside, and back at the end; each run finds a copy of it."""

    def __init__(self, output: Path, folder: Path) -> None:
        super().__init__(folder)
        self._target = output
        self._is_new = not output.exists()
        self._is_aside = False

    @property
    def run_folder(self) -> Path:
        return self._folder

    @property
    def _output(self) -> Path:
        return self._target

    def __enter__(self) -> RunCopies:
        try:
            self._target.mkdir(exist_ok=True)
        except OSError as error:
            raise _failed("make", self._target, error) from error
        _check_size(self._target, movable=True)
        _refuse_leftovers(self._target)
        self._room = _new_room(self._target.parent, self._target)
        self._source = self._room / _KEPT
        try:
            (self._room / _WHOSE).write_bytes(os.fsencode(self._target))
            self._source.mkdir()
        except OSError as error:
            shutil.rmtree(self._room, ignore_errors=True)
            raise _failed("make a folder beside", self._target, error) from error
        try:
            with _undisturbed():
                self._move(self._source)
                self._is_aside = True
        except OSError as error:
            self.__exit__()
            raise _failed("move aside what is in", self._target, error) from error
        if any(self._source.iterdir()):
            print(
                f"forebay: what was in {self._target} is in {self._source} until the comparison "
                "has ended",
                file=sys.stderr,
            )
        return self

    def _move(self, to: Path) -> None:
        """Moves what is in the folder, and not the folder: it may be a mount point, or the working
        directory of the user's shell."""
        to.mkdir(exist_ok=True)
        for one in self._entries():
            one.rename(to / one.name)

    def _entries(self) -> Sequence[Path]:
        if not self._target.is_dir():
            return ()
        return [one for one in self._target.iterdir() if one != self._room]

    def _put_back(self) -> None:
        """Moves everything back to where it was. Raises ForebayError, which says where it lies, if
        it cannot be done."""
        try:
            self._target.mkdir(exist_ok=True)
            if self._is_aside:  # else these are the user's own
                self._move(self._room / _UNFINISHED)
            for one in list(self._source.iterdir()):
                one.rename(self._target / one.name)
            self._source.rmdir()
            (self._room / _WHOSE).unlink()
            with contextlib.suppress(OSError):
                (self._room / _UNFINISHED).rmdir()
            if self._is_new:
                with contextlib.suppress(OSError):  # the room may be in it
                    self._target.rmdir()
        except OSError as error:
            self._is_kept = True
            raise ForebayError(
                f"cannot put back what was in {self._target} ({error.strerror}). It lies in "
                f"{self._source}: move it back from there."
            ) from error


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Lets signals that end a process raise StoppedError inside, so that all is put back."""
    before = {}
    for one in _ENDING:
        if signal.getsignal(one) is signal.SIG_DFL:  # and not ignored, as SIGHUP under nohup
            before[one] = signal.signal(one, _stop)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _stop(number: int, _: FrameType | None) -> None:
    name = signal.Signals(number).name
    raise StoppedError(
        f"the comparison was stopped by {name} (everything is as it was before). Start it again.",
        exit_code=128 + number,
    )


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps signals back until it is left."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def first_offset(one: Path, other: Path) -> int | None:
    """The offset of the first byte that differs, which is the length of the shorter file if that is
    the beginning of the other one; None if they are the same. Raises OSError."""
    with one.open("rb") as a, other.open("rb") as b:
        for start in itertools.count(0, _CHUNK):
            left, right = _chunk(a), _chunk(b)
            if left != right:
                pairs = enumerate(zip(left, right))
                shorter = min(len(left), len(right))
                return start + next((at for at, (x, y) in pairs if x != y), shorter)
            if not left:
                break
    return None


def _chunk(file: BinaryIO) -> bytes:
    return file.read(_CHUNK)


def _input_offset() -> int | None:
    """Where standard input stands if it is a file, so that each run reads it from there."""
    try:
        is_file = stat.S_ISREG(os.fstat(0).st_mode)
        return os.lseek(0, 0, os.SEEK_CUR) if is_file else None
    except OSError:
        return None


def _sync(path: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _listed(folder: Path) -> Mapping[str, _Entry]:
    """Everything below the folder, by relative name."""
    return {
        str(path.relative_to(folder)): _Entry(
            kind=stat.S_IFMT(found.st_mode),
            bytes=found.st_size if stat.S_ISREG(found.st_mode) else 0,
            inode=found.st_ino,
            changed_ns=0 if stat.S_ISDIR(found.st_mode) else found.st_ctime_ns,
            modified_ns=0 if stat.S_ISDIR(found.st_mode) else found.st_mtime_ns,
        )
        for path, found in _walk(folder)
    }


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below the folder, but for what Forebay has made there."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        found = [one for one in entries if not one.name.startswith(_OURS)]
    for one in found:
        facts = one.stat(follow_symlinks=False)
        yield Path(one.path), facts
        if stat.S_ISDIR(facts.st_mode):
            yield from _walk(Path(one.path))


def _not_copied(folder: str, names: Sequence[str]) -> list[str]:
    """Our own folders, and sockets, pipes and devices."""
    return [one for one in names if one.startswith(_OURS) or not _is_ordinary(Path(folder) / one)]


def _is_ordinary(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _check_size(folder: Path, *, movable: bool = False) -> None:
    """Raises UsageError if the folder cannot be copied for each run: there is too much in it, a
    link in it leads to where all runs would write or, if it is to be `movable`, something is
    mounted in it."""
    try:
        device, total = folder.stat().st_dev, 0
        for number, (path, found) in enumerate(_walk(folder)):
            if movable and found.st_dev != device:
                raise UsageError(
                    f"cannot move aside what is in {folder} ({path} is a mount point). Name a "
                    "folder without one by --output-dir."
                )
            if stat.S_ISLNK(found.st_mode) and _leads_to_output(path, folder):
                raise UsageError(
                    f"cannot run the program in copies of {folder} (the link {path.name} leads "
                    "to a folder outside, where all runs would write). If the program writes "
                    f"there, say --output-dir {path}; else name the folder that it writes to."
                )
            total += found.st_size if stat.S_ISREG(found.st_mode) else 0
            if total > COPIED_BYTES_MAX or number >= COPIED_ENTRIES_MAX:
                raise UsageError(
                    f"cannot copy {folder} before each run (it has more than "
                    f"{human_bytes(COPIED_BYTES_MAX)} or {COPIED_ENTRIES_MAX} files). Name the "
                    "folder that the program writes to, if that has less: --output-dir DIR"
                )
        if _COPIES * total > shutil.disk_usage(folder).free:
            raise UsageError(
                f"cannot copy {folder} for each run ({_COPIES} times {human_bytes(total)} are "
                "more than is free there). Make room, or name a folder with less in it: "
                "--output-dir DIR"
            )
    except OSError as error:
        raise _failed("look into", folder, error) from error


def _leads_to_output(link: Path, folder: Path) -> bool:
    """Whether a copy of the link leads to a folder outside of the copy that may be written to."""
    there = Path(os.path.realpath(link))
    stays = not link.readlink().is_absolute() and there.is_relative_to(folder)
    return not stays and there.is_dir() and os.access(there, os.W_OK)


def _new_room(*places: Path) -> Path:
    """A new folder of ours in the last of `places`, or in one before it that is on the same file
    system and may be written: a program that removes its output folder does not meet it there."""
    inside = places[-1]
    for place in places:
        try:
            if place.stat().st_dev != inside.stat().st_dev:
                continue
            for room in stale_folders(PREFIX, place):
                if not (room / _KEPT).exists():
                    shutil.rmtree(room, ignore_errors=True)
            return make_folder(PREFIX, place)
        except OSError as error:
            if place == inside:
                raise _failed("make a folder in", inside, error) from error
    raise AssertionError("the last place is on its own file system")


def _refuse_leftovers(output: Path) -> None:
    """Raises UsageError if another comparison has moved aside what was in the folder."""
    for place in (output.parent, output):
        for room in place.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                kept = room / _KEPT
                if (room / _WHOSE).read_bytes() == os.fsencode(output) and kept.exists():
                    raise UsageError(
                        f"cannot compare (another comparison runs, or was killed: what was in "
                        f"{output} lies in {kept}). If it does not run any more, move all of it "
                        f"back from there, and remove {room}."
                    )


def _failed(what: str, folder: Path, error: OSError) -> UsageError:
    why, first = error.strerror, error.filename
    if isinstance(error, shutil.Error) and error.args and error.args[0]:
        _, first, why = error.args[0][0]
    if first is not None and Path(first) != folder:
        why = f"{first}: {why}"
    return UsageError(f"cannot {what} {folder} ({why}). Name another: --output-dir DIR")
