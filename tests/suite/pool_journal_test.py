"""Durability `node`: what was acknowledged is there after the daemon was killed; and what a journal
refuses."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from suite import mpi as m
from suite.command import FOREBAY
from suite.conversation import Conversation, conversation, opened
from suite.file_systems import fuse_file_system, mounted_tmpfs, until
from suite.pool import DAEMON, Pool, pool
from suite.pooled import KEPT
from suite.verdict import ensure

MIB = 1 << 20
SEGMENT_MIB = 32


def journaled(folder: Path, **more: str) -> Mapping[str, str]:
    """Settings of a daemon with a journal that drains nothing by itself."""
    journal = str(folder / "journal")
    return {**KEPT, "pool_durability": "node", "pool_journal": journal, **more}


def files_of(folder: Path) -> Path:
    below = folder / "files"
    below.mkdir()
    return below


def rescue_of(folder: Path) -> Path:
    kept = folder / "kept"
    kept.mkdir()
    return kept


def notes(one: Pool) -> str:
    return one.said.read_text()


@contextlib.contextmanager
def told(one: Pool) -> Iterator[Conversation]:
    """A program that outlives its daemon."""
    with conversation(one) as program:
        yield program


def writes(program: Conversation, fd: int, value: int, at: int, count: int = 1000) -> None:
    wrote = program.ask(f"os.pwrite({fd}, bytes([{value}]) * {count}, {at})")
    ensure(wrote == str(count), f"write said {wrote}")


def rescued(folder: Path) -> list[Path]:
    return [path for path in folder.glob("forebay-rescue-*/*") if path.is_file()]


def test_what_was_acknowledged_survives_the_daemon(folder: Path) -> None:
    files = files_of(folder)
    with pool(files, journaled(folder)) as one, told(one) as program:
        fd = opened(program, files / "file")
        for part in range(50):
            writes(program, fd, part, part * 1000)
        writes(program, fd, 99, 500)
        ensure((files / "file").stat().st_size == 0, "it was drained")
        one.kill()
        ensure(program.ask(f"os.pwrite({fd}, b'x', 0)") == "EIO", "the daemon lives")
    with pool(files, journaled(folder)) as one:
        ensure("50000 bytes of" in notes(one), notes(one))
        ensure(any("50000 bytes" in note for note in one.status().notes), "the status says nothing")
        expected = bytearray(b"".join(bytes([part]) * 1000 for part in range(50)))
        expected[500:1500] = bytes([99]) * 1000
        ensure((files / "file").read_bytes() == expected, "other bytes")
    ensure(not list((folder / "journal").glob("segment-*")), "the journal is not empty")


@pytest.mark.parametrize("after", [5, 40, 200])
def test_killed_while_programs_write_and_it_drains(after: int, folder: Path) -> None:
    """Everything that a write said is there; what was under way is there or not."""
    files = files_of(folder)
    settings = journaled(folder, pool_quiet="0", pool_window="1MiB")
    with pool(files, settings) as one, told(one) as program, told(one) as other:
        # Each prints how many it has written, when it cannot go on.
        code = (
            '[(n := [0]), (exec(\'try:\\n while True:\\n  os.pwrite({fd}, n[0].to_bytes(4, "big") '
            "* 5000, n[0] * 20000)\\n  n[0] += 1\\nexcept OSError: pass')), n[0]][-1]"
        )
        paths = [files / "one", files / "two"]
        # Both have met the daemon before it is killed.
        fds = [opened(writer, path) for writer, path in zip((program, other), paths, strict=True)]
        for writer, fd in zip((program, other), fds, strict=True):
            writer.tell(code.format(fd=fd))
        ensure(until(lambda: one.taken() >= after * 20000, 180), "nothing is written")
        one.kill()
        counts = [int(program.answer()), int(other.answer())]
    with pool(files, settings) as one:
        for path, count in zip(paths, counts, strict=True):
            got = path.read_bytes()
            ensure(len(got) >= count * 20000, f"{len(got)} bytes of {count} writes")
            for number in range(count):
                part = got[number * 20000 : (number + 1) * 20000]
                ensure(part == number.to_bytes(4, "big") * 5000, f"write {number} of {count}")
    ensure(not rescued(one.rescue), "something was rescued")


def test_a_file_that_was_changed_since_is_kept(folder: Path) -> None:
    files, kept = files_of(folder), rescue_of(folder)
    with pool(files, journaled(folder)) as one, told(one) as program:
        fd = opened(program, files / "file")
        writes(program, fd, 7, 0)
        one.kill()
    (files / "file").write_bytes(b"somebody else's")
    with pool(files, journaled(folder), rescue=kept) as one:
        ensure("somebody else has changed the file since" in notes(one), notes(one))
        ensure((files / "file").read_bytes() == b"somebody else's", "it was overwritten")
        (rescue,) = rescued(kept)
        command = [*FOREBAY, "pool", "rescue", str(rescue)]
        ensure(str(rescue) in notes(one), "the note does not name it")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ensure(done.returncode == 0, done.stderr)
    ensure((files / "file").read_bytes() == bytes([7]) * 1000, "the rescue did nothing")


def test_a_file_that_is_gone_is_kept_and_a_renamed_one_found(folder: Path) -> None:
    files, kept = files_of(folder), rescue_of(folder)
    with pool(files, journaled(folder)) as one, told(one) as program:
        gone = opened(program, files / "gone")
        renamed = opened(program, files / "renamed.tmp")
        writes(program, gone, 1, 0)
        writes(program, renamed, 2, 0)
        one.kill()
    (files / "gone").unlink()
    (files / "renamed.tmp").rename(files / "renamed")
    with pool(files, journaled(folder), rescue=kept) as one:
        ensure("there is no such file any more" in notes(one), notes(one))
        ensure((files / "renamed").read_bytes() == bytes([2]) * 1000, "other bytes")
        ensure(len(rescued(kept)) == 1, "not kept")


def test_fsync_may_wait_for_the_journal_alone(folder: Path) -> None:
    files = files_of(folder)
    with (
        pool(files, journaled(folder, pool_fsync="node")) as one,
        told(one) as program,
    ):
        fd = opened(program, files / "file")
        writes(program, fd, 1, 0)
        ensure(program.ask(f"os.fsync({fd})") == "None", "fsync failed")
        ensure((files / "file").stat().st_size == 0, "it was drained")
        ensure(program.ask(f"os.ftruncate({fd}, 500)") == "None", "ftruncate failed")
        one.kill()
    with pool(files, journaled(folder)):
        ensure((files / "file").read_bytes() == bytes([1]) * 500, "other bytes")


def test_what_is_written_past_the_pool_is_not_overwritten(folder: Path) -> None:
    files = files_of(folder)
    with pool(files, journaled(folder)) as one, told(one) as program:
        fd = opened(program, files / "file")
        writes(program, fd, 1, 0)
        leave = f"__import__('mmap').mmap({fd}, 1000, prot=3)[0:3]"
        ensure(program.ask(leave) == repr(b"\1\1\1"), "the map has other bytes")
        writes(program, fd, 2, 0)
        one.kill()
    with pool(files, journaled(folder)) as one:
        ensure((files / "file").read_bytes() == bytes([2]) * 1000, "it was overwritten")
        ensure("were in the journal" not in notes(one), notes(one))


def start(files: Path, settings: Mapping[str, str]) -> str:
    """The message of a daemon that does not start."""
    variables = {f"FOREBAY_{key.upper()}": value for key, value in settings.items()}
    with tempfile.TemporaryDirectory(prefix="forebay-test-", dir="/tmp") as private:
        done = subprocess.run(
            [DAEMON, "--socket", Path(private, "s")],
            capture_output=True,
            text=True,
            cwd=files,
            env={**m.clean_environment(), **variables},
            check=False,
            timeout=180,
        )
    ensure(done.returncode in (1, 2), f"it ended with {done.returncode}")
    return done.stderr


def test_a_folder_in_memory_is_refused(folder: Path) -> None:
    with mounted_tmpfs(folder / "memory", "16m") as memory:
        said = start(folder, journaled(memory))
        ensure("tmpfs" in said and "Name a folder on a local disk" in said, said)


def test_a_journal_without_a_folder_is_refused(folder: Path) -> None:
    said = start(folder, {"pool_durability": "node"})
    ensure("pool_journal names no folder" in said, said)
    said = start(folder, journaled(folder / "nowhere"))
    ensure("No such file or directory" in said, said)


def test_one_daemon_at_a_time_has_a_journal(folder: Path) -> None:
    files = files_of(folder)
    with pool(files, journaled(folder)):
        ensure("another daemon has it" in start(files, journaled(folder)), "two have it")


@contextlib.contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[Path]:
    """ext4 on a loop device."""
    image, mount = folder / "image", folder / "disk"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(mebibytes * MIB)
    made = shutil.which("mkfs.ext4") is not None and (
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=False).returncode == 0
        and subprocess.run(
            ["mount", "-o", "loop", image, mount], check=False, capture_output=True
        ).returncode
        == 0
    )
    if not made:
        pytest.skip("cannot mount a loop device. Run as root.")
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


def test_a_full_device_is_refused_at_the_start(folder: Path) -> None:
    with small_disk(folder, 40) as disk:
        said = start(folder, journaled(disk))
        ensure("No space left on device" in said and "Free space" in said, said)


def test_a_small_device_makes_writers_wait_and_loses_nothing(folder: Path) -> None:
    files = files_of(folder)
    with small_disk(folder, 4 * SEGMENT_MIB) as disk:
        settings = journaled(disk, pool_quiet="60000", pool_cap="1GiB", pool_window="512MiB")
        with pool(files, settings) as one, told(one) as program:
            fd = opened(program, files / "file")
            for part in range(200):
                writes(program, fd, part, part * MIB, MIB)
            ensure(program.ask(f"os.close({fd})") == "None", "close failed")
            ensure("cannot write the journal" not in notes(one), notes(one))
    got = (files / "file").read_bytes()
    ensure(got == b"".join(bytes([part]) * MIB for part in range(200)), "other bytes")


def test_a_device_that_fails_is_refused_at_the_start(folder: Path) -> None:
    files = files_of(folder)
    (folder / "fails").mkdir()
    with fuse_file_system(folder / "fails", "failing_fs.c", str(MIB)) as mount:
        said = start(files, journaled(mount))
        ensure(os.strerror(errno.EIO) in said, said)


def test_after_an_error_of_the_device_everything_is_written_through(folder: Path) -> None:
    files = files_of(folder)
    (folder / "fails").mkdir()
    fails = folder / "it-fails"
    with (
        fuse_file_system(folder / "fails", "failing_fs.c", "0", fails) as mount,
        pool(files, journaled(mount)) as one,
        told(one) as program,
    ):
        fd = opened(program, files / "file")
        writes(program, fd, 1, 0)
        fails.touch()
        writes(program, fd, 2, 1000)
        writes(program, fd, 3, 2000)
        (file,) = one.status().files
        ensure((file.state, file.reason) == ("through", "no_journal"), repr(file))
        got = (files / "file").read_bytes()
        ensure(got == b"".join(bytes([part]) * 1000 for part in (1, 2, 3)), "not in the file")
        ensure("cannot write the journal" in notes(one), notes(one))
        fails.unlink()
