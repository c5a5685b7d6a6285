"""Nodes that write to the file system for others (pool_writers): who writes which bytes, and what
happens when the writer dies, hangs, cannot open the file, or has a full disk."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from suite.conversation import Conversation, opened
from suite.file_systems import mounted_tmpfs, until
from suite.on import FULL
from suite.pool import Pool
from suite.pool_nodes_test import REFUSED, closed, nodes, nodes_that_may_die, written
from suite.pooled import KEPT
from suite.verdict import ensure

pytestmark = pytest.mark.memory  # each byte that is handed over is synced

# The tests' nodes are on one machine, so that its own file systems show all of them the same.
HANDED = {**KEPT, "pool_writers": "1", "pool_writers_anywhere": "true"}
MEBIBYTE = 1 << 20
MANY = 192 * MEBIBYTE


def handed_over(daemons: list[Pool]) -> list[tuple[int, int]]:
    """For each node: bytes that others have written for it, and that it has written for others."""
    found = [one.status() for one in daemons]
    return [(one.written_by_nodes, one.written_for_nodes) for one in found]


def synced(program: Conversation, fd: int) -> None:
    answer = program.ask(f"os.fsync({fd})")
    ensure(answer == "None", f"fsync: {answer}")


def filled(program: Conversation, fd: int, byte: bytes, count: int, at: int = 0) -> None:
    wrote = program.ask(f"os.pwrite({fd}, {byte!r} * {count}, {at})")
    ensure(wrote == str(count), f"wrote {wrote}")


def is_filled(path: Path, byte: bytes, count: int) -> bool:
    return path.stat().st_size == count and path.read_bytes() == byte * count


def test_the_last_node_of_a_group_writes_for_the_others(folder: Path) -> None:
    with nodes(folder, 5, {**HANDED, "pool_writers": "2"}) as (daemons, programs):
        paths = [folder / f"file-{number}" for number in range(5)]
        fds = [opened(*both) for both in zip(programs, paths, strict=True)]
        for number, (program, fd) in enumerate(zip(programs, fds, strict=True)):
            written(program, fd, bytes([65 + number]) * 1000)
            written(program, fd, bytes([65 + number]) * 3000, 2000)
            synced(program, fd)
        for number, path in enumerate(paths):
            letter = bytes([65 + number])
            wanted = letter * 1000 + bytes(1000) + letter * 3000
            ensure(path.read_bytes() == wanted, f"other bytes in {path}")
        counts = handed_over(daemons)
        ensure(counts == [(4000, 0), (4000, 0), (0, 8000), (4000, 0), (0, 4000)], f"{counts}")


def test_large_files_are_handed_over_whole(folder: Path) -> None:
    path = folder / "file"
    with nodes(folder, 2, HANDED) as (daemons, (one, other)):
        fd = opened(one, path)
        count = 40 * MEBIBYTE + 17
        filled(one, fd, b"a", count)
        synced(one, fd)
        ensure(is_filled(path, b"a", count), "other bytes")
        counts = handed_over(daemons)
        ensure(counts == [(count, 0), (0, count)], f"{counts}")
        ensure(one.ask(f"os.ftruncate({fd}, 10)") == "None", "it cannot be cut")
        written(one, fd, b"b" * 10, 5)
        closed(one, fd)
        there = opened(other, path)
        read = other.ask(f"os.pread({there}, 100, 0)")
        ensure(read == repr(b"a" * 5 + b"b" * 10), f"{read}")


def test_a_local_file_system_is_another_one_on_each_node(folder: Path) -> None:
    path = folder / "file"
    with nodes(folder, 2, {**KEPT, "pool_writers": "1"}) as (daemons, (one, _)):
        fd = opened(one, path)
        written(one, fd, b"x" * 1000)
        synced(one, fd)
        ensure(path.read_bytes() == b"x" * 1000, "other bytes")
        counts = handed_over(daemons)
        ensure(counts == [(0, 0), (0, 0)], f"{counts}")


def test_a_file_that_the_writer_does_not_find_is_written_by_its_node(folder: Path) -> None:
    gone, moved, another = folder / "gone", folder / "moved", folder / "another"
    with nodes(folder, 2, HANDED) as (daemons, (one, _)):
        fds = [opened(one, path) for path in (gone, moved)]
        for fd in fds:
            written(one, fd, b"x" * 1000)
        gone.unlink()
        moved.rename(another)
        moved.write_bytes(b"somebody else's")
        for fd in fds:
            synced(one, fd)
        read = one.ask(f"os.pread({fds[0]}, 2000, 0) == b'x' * 1000")
        ensure(read == "True", "other bytes where there is no name")
        ensure(another.read_bytes() == b"x" * 1000, "other bytes under the new name")
        ensure(moved.read_bytes() == b"somebody else's", "it was written to another file")
        counts = handed_over(daemons)
        ensure(counts == [(0, 0), (0, 0)], f"{counts}")


def test_a_full_disk_at_the_writer_is_an_error_of_the_file(folder: Path) -> None:
    with (
        mounted_tmpfs(folder / "small", "64m") as small,
        nodes(small, 2, HANDED) as (daemons, (one, _)),
    ):
        path = small / "file"
        fd = opened(one, path)
        filled(one, fd, b"x", 2 * MEBIBYTE)
        subprocess.run(["mount", "-o", "remount,size=1m", small], check=True)
        answer = one.ask(f"os.fsync({fd})")
        ensure(answer == "ENOSPC", f"fsync: {answer}")
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        ensure(until(lambda: one.ask(f"os.fsync({fd})") == "None", 60), "it is not tried again")
        ensure(is_filled(path, b"x", 2 * MEBIBYTE), "other bytes")
        ensure(handed_over(daemons)[0][0] >= 2 * MEBIBYTE, "it was not handed over")


@contextmanager
def suspended_while_it_writes(
    daemons: list[Pool], writer: int, sender: int, program: Conversation, fd: int
) -> Iterator[None]:
    """The writer, while it has bytes of a file that the program syncs."""
    filled(program, fd, b"o", MANY)
    program.tell(f"os.fsync({fd})")
    ensure(until(lambda: daemons[sender].status().written_by_nodes > 0, 60), "nothing is handed")
    process = daemons[writer].process
    process.send_signal(signal.SIGSTOP)
    try:
        ensure(not program.has_answered(), "it was too fast: nothing is tested")
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def test_what_a_dead_writer_was_handed_is_written_by_its_node(folder: Path) -> None:
    path = folder / "file"
    with nodes_that_may_die(folder, 2, HANDED) as (daemons, (one, _)):
        fd = opened(one, path)
        with suspended_while_it_writes(daemons, 1, 0, one, fd):
            daemons[1].process.kill()
            ensure(one.answer() == "None", "fsync failed")
            ensure(is_filled(path, b"o", MANY), "other bytes")
        filled(one, fd, b"n", 1000)
        ensure(path.read_bytes()[:1001] == b"n" * 1000 + b"o", "it is not written through")


def test_a_writer_that_is_suspended_for_a_moment_goes_on(folder: Path) -> None:
    path = folder / "file"
    with nodes(folder, 2, HANDED) as (daemons, (one, _)):
        fd = opened(one, path)
        with suspended_while_it_writes(daemons, 1, 0, one, fd):
            ensure(not until(one.has_answered, 1), "nobody waits for the writer")
        ensure(one.answer() == "None", "fsync failed")
        ensure(is_filled(path, b"o", MANY), "other bytes")
        ensure(handed_over(daemons)[0][0] == MANY, f"{handed_over(daemons)}")


@FULL
def test_a_silent_writer_is_not_given_up(folder: Path) -> None:
    """It may still write what it has. Other files are written by their node meanwhile."""
    path, free = folder / "file", folder / "free"
    with nodes(folder, 3, HANDED) as (daemons, (one, two, _)):
        fd, other = opened(one, path), opened(two, free)
        with suspended_while_it_writes(daemons, 2, 0, one, fd):
            ensure(
                until(lambda: any("is silent" in note for note in daemons[0].status().notes), 60),
                "the status does not tell which node is silent",
            )
            ensure(not one.has_answered(), "nobody waits for the writer")
            written(two, other, b"f" * 1000)
            synced(two, other)
            ensure(free.read_bytes() == b"f" * 1000, "it is not written by its node")
            refused = two.ask(f"os.open({str(path)!r}, os.O_RDWR)")
            ensure(refused == REFUSED, f"another node opens it: {refused}")
        ensure(one.answer() == "None", "fsync failed")
        ensure(is_filled(path, b"o", MANY), "other bytes")


@FULL
def test_what_was_not_accepted_is_not_written_later(folder: Path) -> None:
    path = folder / "file"
    with nodes(folder, 2, HANDED) as (daemons, (one, _)):
        fd = opened(one, path)
        daemons[1].process.send_signal(signal.SIGSTOP)
        try:
            for letter in (b"o", b"n"):
                filled(one, fd, letter, MEBIBYTE)
                synced(one, fd)
        finally:
            daemons[1].process.send_signal(signal.SIGCONT)
        ensure(until(lambda: daemons[1].status().written_for_nodes == 0, 10), "it was written")
        ensure(is_filled(path, b"n", MEBIBYTE), "older bytes")


def test_no_node_opens_a_file_before_its_writer_has_ended_with_it(folder: Path) -> None:
    """The sender dies, and another node writes newer bytes: the writer does not overwrite them."""
    path = folder / "file"
    with nodes_that_may_die(folder, 3, HANDED) as (daemons, (one, two, _)):
        fd = opened(one, path)
        with suspended_while_it_writes(daemons, 2, 0, one, fd):
            daemons[0].kill()
            two.tell(f"os.open({str(path)!r}, os.O_RDWR)")
            ensure(not until(two.has_answered, 2), "it opens the file while the writer has bytes")
        there = int(two.answer())
        filled(two, there, b"n", MANY)
        ensure(is_filled(path, b"n", MANY), "older bytes")
        ensure(daemons[2].end() == 0, "the writer did not end well")
        ensure(is_filled(path, b"n", MANY), "older bytes, later")
