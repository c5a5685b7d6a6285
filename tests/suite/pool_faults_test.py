"""Faults beneath a pool: file systems that hang, fail or are full, little memory."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.conversation import conversation, opened
from suite.file_systems import fuse_file_system, served_file_system, until
from suite.on import FULL
from suite.pool import Pool, pool
from suite.pooled import EAGER, KEPT, run
from suite.verdict import ensure

MIB = 1 << 20
FAST = ("0", "1000000000")
"""Latency and bytes a second of slow_fs."""


@contextlib.contextmanager
def hanging(server: subprocess.Popen[bytes]) -> Iterator[None]:
    """A file system whose server answers nothing meanwhile."""
    server.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("seconds", [0, pytest.param(60, marks=FULL)])
def test_writes_return_while_the_file_system_hangs(seconds: int, folder: Path) -> None:
    """It may hang for longer than the bound of age."""
    with served_file_system(folder, "slow_fs.c", *FAST) as (mount, server):
        with (
            pool(mount, {**EAGER, "pool_window": "16MiB"}) as one,
            conversation(one) as program,
        ):
            fd = opened(program, mount / "file")
            with hanging(server):
                for part in range(8):
                    wrote = program.ask(f"os.pwrite({fd}, bytes([{part}]) * {MIB}, {part * MIB})")
                    ensure(wrote == str(MIB), wrote)
                read = program.ask(f"os.pread({fd}, 1, {5 * MIB + 1})")
                ensure(read == repr(b"\5"), read)
                time.sleep(seconds)
            ensure(program.ask(f"os.close({fd})") == "None", "close failed")
        ensure(
            (mount / "file").read_bytes() == b"".join(bytes([n]) * MIB for n in range(8)),
            "other bytes",
        )


def test_who_writes_more_than_the_window_waits_until_the_file_system_goes_on(folder: Path) -> None:
    with served_file_system(folder, "slow_fs.c", *FAST) as (mount, server):
        with (
            pool(mount, {**EAGER, "pool_window": "4MiB"}) as one,
            conversation(one) as program,
        ):
            fd = opened(program, mount / "file")
            with hanging(server):
                program.tell(f"os.write({fd}, b'x' * {12 * MIB})")
                ensure(until(lambda: one.taken() == 4 * MIB, 120), f"{one.taken()} bytes taken")
                ensure(not program.has_answered(), "more was taken than the window is long")
            ensure(program.answer() == str(12 * MIB), "write fell short")
            ensure(program.ask(f"os.close({fd})") == "None", "close failed")
        ensure((mount / "file").read_bytes() == b"x" * 12 * MIB, "other bytes")


def test_a_call_that_waits_for_a_daemon_that_dies_ends(folder: Path) -> None:
    """The file system takes two seconds for what is to be written first."""
    slow = ("0", str(MIB // 2))
    with (
        served_file_system(folder, "slow_fs.c", *slow) as (mount, _),
        pool(mount, KEPT) as one,
        conversation(one) as program,
    ):
        fd = opened(program, mount / "file")
        ensure(program.ask(f"os.pwrite({fd}, b'x' * {MIB}, 0)") == str(MIB), "fell short")
        program.tell(f"os.fsync({fd})")
        drains = until(lambda: any(f.storage_seconds > 0 for f in one.status().files), 120)
        ensure(drains and not program.has_answered(), "it did not wait")
        one.kill()
        answer = program.answer()
        ensure(answer == "EIO", answer)


def test_a_hanging_file_system_does_not_stop_the_daemon_in_small_pieces(folder: Path) -> None:
    """They were written by the daemon's only thread, which then answered nobody."""
    with served_file_system(folder, "slow_fs.c", *FAST) as (mount, server):
        with pool(mount, EAGER) as one, conversation(one) as program:
            fd = opened(program, mount / "file")
            with hanging(server):
                for part in range(100):
                    ensure(program.ask(f"os.pwrite({fd}, b'x', {5 * part})") == "1", "fell short")
                tries = [file.storage_seconds for file in one.status().files]
                ensure(
                    until(lambda: [f.storage_seconds for f in one.status().files] > tries, 120),
                    "nothing is drained",
                )
            ensure(program.ask(f"os.close({fd})") == "None", "close failed")
        ensure((mount / "file").read_bytes() == b"x\0\0\0\0" * 99 + b"x", "other bytes")


def test_a_file_system_that_hangs_at_opening_holds_up_no_other(folder: Path) -> None:
    """The daemon opens each file once more; it did so in its only thread."""
    hangs = folder / "backing" / "hang-at-open"
    with (
        served_file_system(folder, "slow_fs.c", *FAST) as (mount, _),
        pool(folder) as one,
        conversation(one) as program,
        conversation(one) as other,
    ):
        hangs.touch()
        try:
            program.tell(f"os.open({str(mount / 'file')!r}, {os.O_CREAT | os.O_RDWR}, 0o644)")
            ensure(until((folder / "backing" / "file").exists, 120), "it was not even made")
            other.tell(f"os.open({str(folder / 'good')!r}, {os.O_CREAT | os.O_RDWR}, 0o644)")
            ensure(until(other.has_answered, 120), "another file system's file cannot be opened")
            fd = int(other.answer())
            ensure(other.ask(f"os.write({fd}, b'x' * {MIB})") == str(MIB), "write fell short")
            ensure(other.ask(f"os.fsync({fd})") == "None", "fsync failed")
            ensure((folder / "good").stat().st_size == MIB, "it is not there")
            ensure(not program.has_answered(), "the file system does not hang")
        finally:
            hangs.unlink()
        fd = int(program.answer())
        ensure(program.ask(f"os.write({fd}, b'y' * {MIB})") == str(MIB), "write fell short")
        ensure(program.ask(f"os.close({fd})") == "None", "close failed")
        one.stop()
        ensure((mount / "file").read_bytes() == b"y" * MIB, "other bytes")


def test_an_error_of_one_block_is_told_and_the_others_arrive(folder: Path) -> None:
    """The file system takes eight of twelve MiB. The pool keeps the rest for a rescue."""
    # Nothing is drained, and so no error known, before the program asks.
    kept = {"pool_window": "64MiB", "pool_quiet": "60000", "pool_age": "3600"}
    with fuse_file_system(folder, "failing_fs.c", str(8 * MIB)) as mount:
        with pool(mount, kept) as one:
            with conversation(one) as program:
                fd = opened(program, mount / "file")
                for part in range(12):
                    wrote = program.ask(f"os.pwrite({fd}, bytes([{part}]) * {MIB}, {part * MIB})")
                    ensure(wrote == str(MIB), wrote)
                ensure(program.ask(f"os.fsync({fd})") == "EIO", "fsync said nothing")
                ensure(program.ask(f"os.write({fd}, b'more')") == "EIO", "write said nothing")
                ensure(program.ask(f"os.close({fd})") == "EIO", "close said nothing")
            ensure(one.end() == 1, "the daemon ended as if all had arrived")
            saved = sum(p.stat().st_size for p in one.rescue.rglob("*") if "rescue" in str(p))
            ensure(saved >= 4 * MIB, f"only {saved} bytes were kept")
        good = (folder / "backing" / "file").read_bytes()[: 8 * MIB]
        ensure(
            good == b"".join(bytes([n]) * MIB for n in range(8)), "the good blocks are not there"
        )


def test_syncfs_tells_what_did_not_arrive(folder: Path) -> None:
    syncfs = "[ctypes.CDLL(None, use_errno=True).syncfs({}), ctypes.get_errno()]"
    with (
        fuse_file_system(folder, "failing_fs.c", str(8 * MIB)) as mount,
        pool(mount) as one,
        conversation(one) as program,
    ):
        program.ask("globals().update(ctypes=__import__('ctypes'))")
        fd = opened(program, mount / "file")
        ensure(program.ask(f"os.pwrite({fd}, b'x', {7 * MIB})") == "1", "fell short")
        ensure(program.ask(syncfs.format(fd)) == "[0, 0]", "all has arrived")
        ensure(program.ask(f"os.pwrite({fd}, b'x', {9 * MIB})") == "1", "fell short")
        said = program.ask(syncfs.format(fd))
        ensure(said == f"[-1, {errno.EIO}]", f"the error was not told: {said}")
        ensure(program.ask(f"os.close({fd})") == "EIO", "close said nothing")
        ensure(one.end() == 1, "the daemon ended as if all had arrived")


def test_a_full_shared_memory_folder_does_no_harm(folder: Path) -> None:
    """The pool's memory is not in /dev/shm."""
    fill = 'mount -t tmpfs -o size=4k none /dev/shm && { cat /dev/zero > /dev/shm/x; exec "$@"; }'
    with (
        pool(folder, front=("unshare", "--mount", "sh", "-c", fill, "sh")) as one,
        conversation(one) as program,
    ):
        fd = opened(program, folder / "file")
        ensure(program.ask(f"os.write({fd}, b'x' * {MIB})") == str(MIB), "write")
    ensure((folder / "file").read_bytes() == b"x" * MIB, "other bytes")


def test_two_jobs_of_one_node_have_pools_of_their_own(folder: Path) -> None:
    names = ("one", "other")
    for name in names:
        (folder / name).mkdir()
    with (
        pool(folder / "one") as a,
        pool(folder / "other") as b,
        conversation(a) as first,
        conversation(b) as second,
    ):
        for program, name in ((first, "one"), (second, "other")):
            fd = opened(program, folder / name / "file")
            wrote = program.ask(f"os.write({fd}, {name.encode()!r})")
            ensure(wrote == str(len(name)), wrote)
    for name in names:
        ensure((folder / name / "file").read_bytes() == name.encode(), "other bytes")


def test_two_jobs_with_one_file(folder: Path) -> None:
    """Each brings its own bytes, and no others: one half arrives beside the other. The first
    job's last write is there once it has ended, also for the other one; a later write of the other
    one stays."""
    path, half = folder / "file", 3 * MIB + 7
    with pool(folder) as a, pool(folder) as b, conversation(b) as second:
        with conversation(a) as first:
            ours, theirs = opened(first, path), opened(second, path)
            for at in range(0, 2 * half, 2 * 4096):
                first.ask(f"os.pwrite({ours}, b'1' * 4096, {at})")
                second.ask(f"os.pwrite({theirs}, b'2' * 4096, {at + 4096})")
            first.ask(f"os.pwrite({ours}, b'last of the first', 0)")
            ensure(min(a.taken(), b.taken()) > 3 * MIB, "not deposited in both pools")
        a.stop()
        said = second.ask(f"os.pread({theirs}, 17, 0)")
        ensure(said == repr(b"last of the first"), said)
        second.ask(f"os.pwrite({theirs}, b'last of the other', 0)")
    blocks = -(-2 * half // (2 * 4096))
    expected = (b"1" * 4096 + b"2" * 4096) * blocks
    ensure(path.read_bytes() == b"last of the other" + expected[17:], "other bytes")


FORKS = """
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o644)
for number in range(400):
    child = os.fork()
    if child == 0:
        os._exit(0 if os.pwrite(fd, b"x", number) == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0, number
"""


def test_more_programs_than_have_room_wait_until_those_that_have_gone_are_drained(
    folder: Path,
) -> None:
    """The 257th was refused; its write failed with EIO. A request takes a second here."""
    with fuse_file_system(folder, "slow_fs.c", "1000000", "1000000000") as mount:
        with pool(mount, KEPT) as one:
            run([sys.executable, "-c", FORKS, mount / "file"], folder, one.environment())
        ensure((mount / "file").read_bytes() == b"x" * 400, "other bytes")


def silent_seconds(one: Pool) -> float:
    return max(file.silent_seconds for file in one.status().files)


def test_how_long_a_file_system_has_not_answered_is_known(folder: Path) -> None:
    with (
        served_file_system(folder, "slow_fs.c", *FAST) as (mount, server),
        pool(mount, EAGER) as one,
        conversation(one) as program,
    ):
        fd = opened(program, mount / "file")
        with hanging(server):
            ensure(program.ask(f"os.pwrite({fd}, b'x' * {MIB}, 0)") == str(MIB), "fell short")
            ensure(until(lambda: silent_seconds(one) > 0.5, 120), "nobody knows that it hangs")
        ensure(program.ask(f"os.fsync({fd})") == "None", "fsync failed")
        ensure(silent_seconds(one) == 0, "it has answered")
