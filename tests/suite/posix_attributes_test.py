"""Attributes that a program sets after its last write are still so once the file is drained; and a
program sees the right times and disk usage of a file, beside its length."""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from suite import pooled
from suite.conversation import Conversation, conversation, opened
from suite.file_systems import until
from suite.pool import pool
from suite.verdict import ensure

HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
ROOT = os.geteuid() == 0
# Draining as root keeps set-user-ID bits: this daemon has no right to.
UNPRIVILEGED: Sequence[str] = ("setpriv", "--bounding-set=-fsetid") if ROOT else ()
CAPABILITY = struct.pack("<IIIII", 0x02000000 | 1, 1 << 13, 0, 0, 0)  # cap_net_raw, effective
BYTES = 200_000


def written(program: Conversation, path: Path, count: int = BYTES) -> int:
    fd = opened(program, path)
    ensure(program.ask(f"os.write({fd}, bytes([7]) * {count})") == str(count), "it is not written")
    return fd


@pytest.mark.skipif(not ROOT, reason="only root gives files capabilities")
@HOW
@pytest.mark.parametrize("way", ["{path!r}", "{fd}", "{path!r}, follow_symlinks=False"])
def test_draining_took_file_capabilities_away(
    way: str, settings: Mapping[str, str], folder: Path
) -> None:
    with pooled.pool(folder, settings) as one, conversation(one) as program:
        path = one.folder / "program"
        fd = written(program, path)
        target, *rest = way.format(path=str(path), fd=fd).split(", ")
        words = ", ".join([target, "'security.capability'", repr(CAPABILITY), *rest])
        ensure(program.ask(f"os.setxattr({words})") == "None", "it cannot be set")
    ensure(path.read_bytes() == bytes([7]) * BYTES, "other bytes")
    ensure(os.getxattr(path, "security.capability") == CAPABILITY, "it was taken away")


@HOW
@pytest.mark.parametrize("way", ["os.chmod({path!r}, ", "os.fchmod({fd}, ", "os.chmod('program', "])
def test_draining_took_set_id_bits_away(
    way: str, settings: Mapping[str, str], folder: Path
) -> None:
    below = folder / "pool"
    below.mkdir()
    with pool(below, settings, front=UNPRIVILEGED) as one, conversation(one) as program:
        path = one.folder / "program"
        program.ask(f"os.chdir({str(one.folder)!r})")
        fd = written(program, path)
        said = program.ask(way.format(path=str(path), fd=fd) + "0o6755)")
        ensure(said == "None", f"it cannot be set: {said}")
    ensure(path.read_bytes() == bytes([7]) * BYTES, "other bytes")
    ensure(path.stat().st_mode & 0o7777 == 0o6755, f"the mode is {path.stat().st_mode:o}")


@HOW
@pytest.mark.parametrize(
    "change",
    [
        "os.chmod({path!r}, 0o600)",
        "os.fchmod({fd}, 0o640)",
        "os.chown({path!r}, -1, os.getgid())",
        "os.setxattr({fd}, 'user.forebay', b'x')",
        "os.removexattr({path!r}, 'user.forebay')",
        "os.utime({fd}, ns=(5, 5))",
    ],
)
def test_the_time_of_a_later_change_counts(
    change: str, settings: Mapping[str, str], folder: Path
) -> None:
    """A file in the pool had the time of its last write, whatever was changed since."""
    with pooled.pool(folder, settings) as one, conversation(one) as program:
        path = one.folder / "file"
        path.touch()
        os.setxattr(path, "user.forebay", b"y")
        fd = written(program, path)
        said = program.ask(change.format(path=str(path), fd=fd))
        ensure(said == "None", f"it cannot be changed: {said}")
        own = path.stat().st_ctime_ns
        for status in (f"os.fstat({fd})", f"os.stat({str(path)!r})"):
            seen = int(program.ask(f"{status}.st_ctime_ns"))
            ensure(seen == own, f"{status} says {seen}, and it was changed at {own}")


def test_a_new_name_counts_as_a_change(folder: Path) -> None:
    """Nobody captures rename()."""
    with pooled.pool(folder) as one, conversation(one) as program:
        path, other = one.folder / "file", one.folder / "other"
        fd = written(program, path)
        first = int(program.ask(f"os.fstat({fd}).st_ctime_ns"))
        ensure(program.ask(f"os.rename({str(path)!r}, {str(other)!r})") == "None", "no new name")
        ensure(
            until(lambda: renamed_again(program, path, other) > first, 180), "its time stays behind"
        )
        renamed = int(program.ask(f"os.fstat({fd}).st_ctime_ns"))
        program.ask("os.sync()")
        drained = int(program.ask(f"os.stat({str(other)!r}).st_ctime_ns"))
        ensure(drained == renamed, f"draining moved it from {renamed} to {drained}")


def renamed_again(program: Conversation, path: Path, other: Path) -> int:
    """The file system's clock goes on in steps."""
    program.ask(f"os.rename({str(other)!r}, {str(path)!r})")
    program.ask(f"os.rename({str(path)!r}, {str(other)!r})")
    return int(program.ask(f"os.stat({str(other)!r}).st_ctime_ns"))


def drained_later(program: Conversation, path: Path, fd: int) -> str:
    """Has the file drained at another time of the file system's clock than that of its last write.
    That clock goes on in steps, and a write and its draining may fall into one of them. Returns the
    time that the program saw before, in nanoseconds."""
    before = 0
    for _ in range(100):
        ensure(program.ask(f"os.pwrite({fd}, b'x', 0)") == "1", "it is not written")
        before = int(program.ask(f"os.fstat({fd}).st_ctime_ns"))
        time.sleep(0.02)
        program.ask("os.sync()")
        ensure(path.stat().st_size == BYTES, "it was not drained")
        if path.stat().st_ctime_ns != before:
            return str(before)
    pytest.fail("draining never took a time of its own: this test cannot fail")


def test_draining_is_no_change(folder: Path) -> None:
    """tar said that the file had changed as it read it, and git that it was another one."""
    with pooled.pool(folder) as one, conversation(one) as program, conversation(one) as other:
        path = one.folder / "file"
        fd = written(program, path)
        first = drained_later(program, path, fd)
        seen = [first]
        seen.append(program.ask(f"os.fstat({fd}).st_ctime_ns"))
        seen.append(other.ask(f"os.stat({str(path)!r}).st_ctime_ns"))
        program.ask(f"os.close({fd})")
        ensure(until(lambda: not one.has_open(path), 180), "the pool keeps the file")
        seen.append(other.ask(f"os.stat({str(path)!r}).st_ctime_ns"))
        fd = int(other.ask(f"os.open({str(path)!r}, os.O_RDONLY)"))
        seen.append(other.ask(f"os.fstat({fd}).st_ctime_ns"))
        # It leaves the pool.
        other.ask(f"len(__import__('mmap').mmap({fd}, 0, access=1))")
        seen.append(other.ask(f"os.fstat({fd}).st_ctime_ns"))
        seen.append(other.ask(f"os.stat({str(path)!r}).st_ctime_ns"))
        ensure(set(seen) == {first}, f"it changed: {seen}")


# Each line: what was done, the length, and the blocks.
BLOCKS = """
import os
def said(what):
    status = os.stat("file")
    assert os.stat(file).st_size == status.st_size
    print(what, status.st_size, status.st_blocks)
file = os.open("file", os.O_RDWR | os.O_CREAT)
said("empty")
os.write(file, bytes([1]) * 320000)
said("written")
os.pwrite(file, bytes([2]) * 100000, 50000)
said("overwritten")
os.sync()
os.pwrite(file, bytes([3]) * 100000, 60000)
said("drained-and-overwritten")
os.pwrite(file, b"x", 10 << 20)
said("hole")
for at in range(100):
    os.pwrite(file, b"y", (20 << 20) + at * 20000)
said("holes")
os.pwrite(file, bytes([4]) * 4096, 40000000 // 4096 * 4096)
os.pwrite(file, bytes([5]) * 2, 40000000 // 4096 * 4096 + 4095)
said("neighbours-and-holes")
os.sync()
said("drained-holes")
os.ftruncate(file, 200000)
said("shorter")
os.ftruncate(file, 1 << 30)
said("longer")
os.sync()
said("drained")
"""


def blocks_of(said: str) -> dict[str, tuple[int, int]]:
    lines = (line.split() for line in said.splitlines())
    return {what: (int(size), int(blocks)) for what, size, blocks in lines}


@HOW
def test_the_room_that_deposits_take(settings: Mapping[str, str], folder: Path) -> None:
    """st_blocks was without them. Where a file has holes, and is written to where it has bytes
    already, or is just being drained, there may seem to be more."""
    plain = folder / "plain"
    plain.mkdir()
    command = [sys.executable, "-c", BLOCKS]
    expected = blocks_of(pooled.run(command, plain, {}))
    with pooled.pool(folder, settings) as one:
        seen = blocks_of(pooled.run(command, one.folder, one.environment()))
        ensure(one.taken() > 0, "nothing was deposited")
    for what, (size, blocks) in expected.items():
        ensure(seen[what][0] == size, f"{what}: {seen[what]}")
        most = 2 * blocks if "hole" in what and "drained" not in what else blocks
        ensure(blocks <= seen[what][1] <= most, f"{what}: {seen[what]}, and plain {blocks}")


TOOLS: Mapping[str, str] = {
    "tar": 'tar -cSf "$OUT/a.tar" data hole; tar -C "$OUT" -xf "$OUT/a.tar"; cd "$OUT"',
    "cp": 'cp --sparse=auto data hole "$OUT"; cd "$OUT"',
    "rsync": 'rsync --sparse data hole "$OUT"; cd "$OUT"',
    "du": "du -k data hole; du --apparent-size -b data hole",
}


@HOW
@pytest.mark.parametrize("tool", TOOLS)
def test_what_looks_for_holes(tool: str, settings: Mapping[str, str], folder: Path) -> None:
    """tar took a file without blocks for a hole, and archived zeros."""
    write = (
        "with open('data', 'wb') as f: f.write(b'0123456789abcdef' * 20000)\n"
        "with open('hole', 'wb') as f: f.write(b'x' * 9000); f.seek(9 << 20); f.write(b'y' * 9)"
    )
    # A block counts twice while it is drained, as a deposit and on the file system.
    drained = "sync data hole; " if settings is pooled.EAGER and tool == "du" else ""
    script = (
        f'export OUT=$(mktemp -d); python3 -c "{write}"; {drained}{TOOLS[tool]}; echo $?; '
        'sha256sum < data; sha256sum < hole; rm -r "$OUT"'
    )
    pooled.Twice(command=["bash", "-c", script]).ensure_same(folder, settings)


def test_tar_of_what_is_being_drained(folder: Path) -> None:
    """It said that the file had changed as it read it, and ended with 1."""
    write = "with open('file', 'wb') as f: [f.write(bytes([i]) * 1000000) for i in range(60)]"
    script = f'for i in 1 2 3; do python3 -c "{write}"; tar -cf - file | wc -c; echo $?; done'
    command = ["bash", "-o", "pipefail", "-c", script]
    pooled.Twice(command=command).ensure_same(folder, {"pool_quiet": "20"})


TIMES_IN_TURN = """
import os, sys
past = 0
for i in range(150):
    with open(f"a{i}", "wb", 0) as pooled:
        pooled.write(b"x" * 100)
    os.mknod(f"b{i}")  # by the kernel, later
    if os.stat(f"b{i}").st_mtime_ns < os.stat(f"a{i}").st_mtime_ns:
        past += 1
print(past)
"""


PAST_MAX = 40
"""At most so many of 150; it was about half. Where a busy processor is late with its tick, the
kernel's clock of file times stands still for longer than one, which the daemon cannot know
afterwards: 1 or 2."""


@HOW
def test_a_file_of_the_pool_looked_newer_than_one_that_was_made_after_it(
    settings: Mapping[str, str], folder: Path
) -> None:
    """Half of them did: its time was that at which the daemon took the write, in finer steps than
    the kernel's."""
    with pooled.pool(folder, settings) as one:
        said = pooled.run([sys.executable, "-c", TIMES_IN_TURN], one.folder, one.environment())
        ensure(int(said) <= PAST_MAX, f"{said} of 150 files")
    pairs = [(one.folder / f"a{i}", one.folder / f"b{i}") for i in range(150)]
    past = sum(a.stat().st_mtime_ns > b.stat().st_mtime_ns for a, b in pairs)
    ensure(past <= PAST_MAX, f"{past} of 150 files once they are drained")
