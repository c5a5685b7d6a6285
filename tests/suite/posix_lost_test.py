"""Tests what a process is told of files whose deposits the daemon took along when it was killed."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.conversation import Conversation, conversation, opened
from suite.file_systems import until
from suite.pool import Pool
from suite.pooled import EAGER, pool
from suite.verdict import ensure

BYTES = 5000
STATX = (
    "(lambda libc, found: [libc.statx({fd}, b'', 0x1000, 0x7ff, found),"
    " int.from_bytes(found.raw[40:48], 'little')])"
    "(__import__('ctypes').CDLL(None), __import__('ctypes').create_string_buffer(256))"
)
IN_CHILD = (
    "(lambda child, libc: os._exit(libc.open({path!r}, 0) < 0 and "
    "__import__('ctypes').get_errno()) if child == 0 else "
    "os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    "(os.fork(), __import__('ctypes').CDLL(None, use_errno=True))"
)
SYNCFS = "__import__('ctypes').CDLL(None).syncfs({fd})"
SWITCH = "__import__('fcntl').ioctl({fd}, 0x4010fb01, ({mode}).to_bytes(16, 'little'))"


@contextlib.contextmanager
def killed(folder: Path) -> Iterator[tuple[Path, Conversation, Conversation]]:
    """A daemon that was killed with the deposits of two files, which two processes have written;
    the second one has closed its own. A third file was drained."""
    with pool(folder) as one, conversation(one) as writer, conversation(one) as other:
        fd = opened(writer, one.folder / "open")
        _writes(writer, fd)
        _leaves(other, one.folder / "closed")
        drained = opened(other, one.folder / "drained")
        _writes(other, drained)
        ensure(other.ask(f"os.fsync({drained})") == "None", "fsync failed")
        ensure(other.ask(f"os.close({drained})") == "None", "close failed")
        path = one.folder.resolve() / "drained"
        ensure(until(lambda: not one.has_open(path), 100), "the daemon does not let it go")
        ensure(_size(writer, one.folder / "closed") == str(BYTES), "it is not seen")
        one.kill()
        yield one.folder, writer, other


def _writes(program: Conversation, fd: int) -> None:
    ensure(program.ask(f"os.write({fd}, b'x' * {BYTES})") == str(BYTES), "write fell short")


def _leaves(program: Conversation, path: Path) -> None:
    fd = opened(program, path)
    _writes(program, fd)
    ensure(program.ask(f"os.close({fd})") == "None", "close failed")


def _size(program: Conversation, path: Path) -> str:
    return program.ask(f"os.stat({str(path)!r}).st_size")


def _opens(program: Conversation, path: Path, flags: int) -> str:
    """Its length as the descriptor says it, or the error."""
    opening = f"os.open({str(path)!r}, {flags})"
    return program.ask(
        f"(lambda fd: (os.fsync(fd), os.fstat(fd).st_size, os.close(fd))[1])({opening})"
    )


def test_a_name_does_not_say_the_length_below(folder: Path) -> None:
    """It had said that the file is empty, by a name, and by statx of an open file."""
    with killed(folder) as (files, writer, other):
        fd = 3
        said = writer.ask(STATX.format(fd=fd))
        ensure(said.startswith("[-1, "), f"statx of an open file: {said}")
        for program in (writer, other):
            for name in ("open", "closed"):
                ensure(_size(program, files / name) == "EIO", f"stat of {name}")
            ensure(_size(program, files / "drained") == str(BYTES), "stat of what was drained")


def test_bytes_that_are_lost_are_not_read_from_the_file_below(folder: Path) -> None:
    """Whoever opened the file after the daemon's death read it as it was before, and synced it."""
    with killed(folder) as (files, writer, other):
        for program in (writer, other):
            for flags in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
                ensure(_opens(program, files / "closed", flags) == "EIO", f"open {flags}")
            said = _opens(program, files / "drained", os.O_RDONLY)
            ensure(said == str(BYTES), f"open of what was drained: {said}")
        (files / "closed").rename(files / "renamed")
        ensure(_opens(writer, files / "renamed", os.O_RDONLY) == "EIO", "open by another name")
        outside = folder / "outside"
        outside.hardlink_to(files / "renamed")
        ensure(_opens(other, outside, os.O_RDONLY) == "EIO", "open by a name outside of the pool")


def test_a_forked_child_reads_no_old_bytes_of_a_lost_file(folder: Path) -> None:
    """It finds no daemon, and took everything for plain files."""
    with killed(folder) as (files, writer, other):
        for program in (writer, other):
            for name, error in (("closed", errno.EIO), ("drained", 0)):
                said = program.ask(IN_CHILD.format(path=os.fsencode(files / name)))
                ensure(said == str(error), f"{name}: {said}")


def test_a_lost_file_that_is_written_anew_is_a_plain_file(folder: Path) -> None:
    with killed(folder) as (files, writer, other):
        anew = os.O_WRONLY | os.O_TRUNC
        ensure(_opens(other, files / "closed", anew) == "0", "it cannot be emptied")
        (files / "closed").write_bytes(b"new")
        (files / "open").unlink()
        made = _opens(writer, files / "open", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        ensure(made == "0", f"it cannot be made anew: {made}")
        for program in (writer, other):
            ensure(_size(program, files / "closed") == "3", "it is not that of the new file")
            ensure(_opens(program, files / "closed", os.O_RDWR) == "3", "it cannot be opened")
            ensure(_size(program, files / "open") == "0", "a new file is taken for the lost one")


def test_syncfs_does_not_say_that_lost_bytes_are_on_the_storage(folder: Path) -> None:
    with killed(folder) as (_files, writer, other):
        for program in (writer, other):
            ensure(program.ask(SYNCFS.format(fd=0)) == "-1", "syncfs says that all is well")


@pytest.fixture
def switched(folder: Path) -> Iterator[tuple[Pool, Conversation, int]]:
    """A file that one process has switched off, and another one on again, and written to."""
    with pool(folder) as one, conversation(one) as reader, conversation(one) as writer:
        path = one.folder / "file"
        fd = opened(reader, path)
        ensure(reader.ask(SWITCH.format(fd=fd, mode=1)) != "EBUSY", "it is not switched off")
        ensure(reader.ask(f"os.write({fd}, b'before')") == "6", "write fell short")
        other = opened(writer, path)
        ensure(writer.ask(SWITCH.format(fd=other, mode=2)) != "EBUSY", "it is not switched on")
        ensure(writer.ask(f"os.pwrite({other}, b'behind', 0)") == "6", "write fell short")
        ensure(path.read_bytes() == b"before", "it was not deposited")
        yield one, reader, fd


def test_a_file_that_was_off_and_is_on_again_is_lost_with_the_daemon(
    switched: tuple[Pool, Conversation, int],
) -> None:
    """A process that had switched it off, and made no call since, read the file below."""
    one, reader, fd = switched
    one.kill()
    ensure(reader.ask(f"os.pread({fd}, 6, 0)") == "EIO", "it reads what was there before")


def test_a_file_opened_as_a_path_keeps_its_bytes_without_a_name(folder: Path) -> None:
    """They were dropped, as nobody seemed to have it open."""
    late = {"pool_quiet": "300"}
    with pool(folder, late) as one, conversation(one) as writer, conversation(one) as reader:
        path = one.folder / "file"
        fd = opened(writer, path)
        place = int(reader.ask(f"os.open({str(path)!r}, os.O_PATH)"))
        _writes(writer, fd)
        path.unlink()
        ensure(writer.ask(f"os.close({fd})") == "None", "close failed")
        ensure(
            until(lambda: [file.outstanding for file in one.status().files] == [0], 100),
            "its bytes are neither drained nor dropped",
        )
        found = reader.ask(
            f"(lambda fd: len(os.read(fd, 9999)))(os.open('/proc/self/fd/{place}', os.O_RDONLY))"
        )
        ensure(found == str(BYTES), f"{found} bytes are left")


def test_a_write_in_whose_middle_the_daemon_dies_fails(folder: Path) -> None:
    """A short count would acknowledge what is lost with the daemon."""
    with pool(folder, EAGER) as one, conversation(one) as program:
        fd = opened(program, one.folder / "file")
        ensure(program.ask(f"os.pwrite({fd}, b'x', 0)") == "1", "it is not written")
        os.kill(one.process.pid, signal.SIGSTOP)
        program.tell(f"os.pwrite({fd}, bytes({64 << 20}), 0)")
        time.sleep(1)
        ensure(not program.has_answered(), "there was room for all: this test cannot fail")
        one.kill()
        said = program.answer()
        ensure(said == "EIO", f"the write gave {said}")
