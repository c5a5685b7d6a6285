"""Programs that nobody captures, through the mount: what they see is what they would see below."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

OBSERVER = m.ROOT / "tests" / "posix" / "mount_observer.py"
MIB = 1 << 20
LARGE = 20 * MIB

pytestmark = mo.needs_mount


@pytest.fixture(params=["alone", "before_pool"])
def mount(request: pytest.FixtureRequest) -> Iterator[mo.Mounted]:
    with mo.mounted(before_pool=request.param == "before_pool") as served:
        yield served


def _bytes(count: int) -> bytes:
    return random.Random(1).randbytes(count)


def test_every_call_gives_what_it_gives_below(mount: mo.Mounted, tmp_path: Path) -> None:
    words = (sys.executable, str(OBSERVER))
    plain = json.loads(mo.run_in(tmp_path, *words).stdout)
    through = json.loads(mount.run(*words).stdout)
    wrong = {
        name: (found, through[name])
        for name, found in plain.items()
        if through[name] != found and through[name] != mo.DIFFERENT.get(name)
    }
    ensure(not wrong, f"below and through the mount: {wrong}")


def test_every_call_gives_it_for_files_that_are_in_the_pool(tmp_path: Path) -> None:
    words = (sys.executable, str(OBSERVER))
    padding = {"PADDING": "300000"}
    plain = json.loads(mo.run_in(tmp_path, *words, environment=padding).stdout)
    with mo.mounted(before_pool=True, settings=pooled.KEPT) as mount:
        through = json.loads(mount.run(*words, environment=padding).stdout)
        ensure(mount.pool is not None and mount.pool.taken() > 40 * 300_000, "few were deposited")
    wrong = {
        name: (found, through[name])
        for name, found in plain.items()
        if through[name] != found and through[name] != mo.DIFFERENT.get(name)
    }
    ensure(not wrong, f"below and through the mount: {wrong}")


def test_buffers_were_as_small_as_below(mount: mo.Mounted) -> None:
    """A request for each 4 KiB of a stream, where the file system below prefers these."""
    (mount.folder / "f").touch()
    (mount.folder / "folder").mkdir()
    found, below = (mount.folder / "f").stat(), mount.below("f").stat()
    ensure(found.st_blksize == max(below.st_blksize, 128 << 10), f"{found}")
    with (mount.folder / "f").open("wb") as stream:
        ensure(os.fstat(stream.fileno()).st_blksize == found.st_blksize, "another answer")
        stream.write(b"a" * (100 << 10))
        ensure(mount.below("f").stat().st_size == 0, "it was written in small steps")
    blocks = (mount.folder / "f").stat().st_blocks
    ensure(blocks == mount.below("f").stat().st_blocks, "other blocks than below")
    folders = [(one / "folder").stat().st_blksize for one in (mount.folder, mount.below(""))]
    ensure(folders[0] == folders[1], f"{folders}")


def test_trees_are_copied_and_unpacked(mount: mo.Mounted, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for number in range(200):
        file = tree / str(number % 10) / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_bytes(number * 37))
    (tree / "large").write_bytes(_bytes(3 * MIB))
    archive = tmp_path / "tree.tar"
    with tarfile.open(archive, "w") as out:
        out.add(tree, "tree")
    mount.run("tar", "xf", str(archive))
    mount.run("cp", "-a", "tree", "copy")
    mount.run("diff", "-r", str(tree), "tree")
    mount.run("diff", "-r", "tree", "copy")
    mount.run("tar", "cSf", "sparse.tar", "tree")
    mount.run("tar", "df", "sparse.tar")
    mount.run("rm", "-r", "copy")


def test_git_commits_and_finds_nothing_wrong(mount: mo.Mounted) -> None:
    (mount.folder / "work").mkdir()
    (mount.folder / "work" / "large").write_bytes(_bytes(LARGE))
    (mount.folder / "work" / "small").write_text("text\n")
    script = (
        "git init -q . && git add . && git -c user.name=n -c user.email=e commit -qm one"
        " && git gc -q && git fsck --strict && git status --porcelain"
    )
    done = mo.run_in(mount.folder / "work", "sh", "-c", script)
    ensure(done.stdout == "", done.stdout)


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_is_whole(mount: mo.Mounted, journal: str) -> None:
    script = (
        f"pragma journal_mode={journal}; create table t(a integer, b blob);"
        + "insert into t values(1, randomblob(2000));" * 30
        + "select count(*), sum(length(b)) from t; pragma integrity_check;"
    )
    ensure("30|60000\nok" in mount.run("sqlite3", "d.db", script).stdout, "rows are missing")


def test_a_shell_redirects_and_appends(mount: mo.Mounted) -> None:
    script = "seq 100000 > out; seq 100001 200000 >> out; seq 200001 200010 >> out"
    mount.run("sh", "-c", script)
    mount.run("sh", "-c", "seq 200010 | cmp - out")


def test_two_appenders_lose_no_line(mount: mo.Mounted) -> None:
    text = "echo {} of a line that is long enough to be one of many >> log"
    script = "for i in $(seq 300); do " + text + "; done"
    head = 'head -c 400000 /dev/zero | tr "\\0" "\\n" > log; '
    both = "(" + script.format("one") + ") & (" + script.format("two") + ") & wait"
    mount.run("sh", "-c", head + both)
    found = (mount.folder / "log").read_text().split("\n")
    counts = [found.count(line) for line in sorted(set(found) - {""})]
    ensure(counts == [300, 300], "lines are lost")


def test_large_files_are_read_back(mount: mo.Mounted, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(_bytes(LARGE))
    mount.run("cp", "--reflink=never", str(source), "one")
    mount.run("dd", f"if={source}", "of=two", "bs=64k", "status=none")
    mount.run("dd", f"if={source}", "of=two", "bs=1000", "count=777", "conv=notrunc", "status=none")
    mount.run("cp", "one", "three")
    for name in ("one", "two", "three"):
        ensure((mount.folder / name).stat().st_size == LARGE, f"{name} has another size")
        mount.run("cmp", str(source), name)
    (mount.folder / "one").unlink()
    os.truncate(mount.folder / "two", 7 * MIB + 1)
    ensure((mount.folder / "two").read_bytes() == _bytes(LARGE)[: 7 * MIB + 1], "not cut")


def test_a_mapping_sees_what_was_deposited_and_is_seen(mount: mo.Mounted) -> None:
    script = """
import mmap, os, random
data = random.Random(1).randbytes(4 << 20)
with open("m", "w+b", buffering=0) as file:
    for at in range(0, len(data), 1 << 20):
        file.write(data[at : at + (1 << 20)])
    seen = mmap.mmap(file.fileno(), 0)
    assert seen[:] == data, "the mapping shows other bytes"
    seen[5] = 7
    os.pwrite(file.fileno(), b"between", 100)
    assert seen[100:107] == b"between" and os.pread(file.fileno(), 1, 5) == b"\\x07"
    seen.close()
wanted = bytearray(data)
wanted[5], wanted[100:107] = 7, b"between"
assert open("m", "rb").read() == bytes(wanted), "the file has other bytes"
"""
    mount.run(sys.executable, "-c", script)


@FULL
@pytest.mark.parametrize("seed", range(4))
def test_random_calls_agree_with_a_model(mount: mo.Mounted, seed: int) -> None:
    mount.run(sys.executable, str(m.ROOT / "tests" / "posix" / "mount_random.py"), str(seed), "400")
    ensure(mount.pool is None or mount.pool.taken() > 0, "nothing was deposited")


def test_who_is_killed_while_the_server_is_stopped_ends_when_it_goes_on(mount: mo.Mounted) -> None:
    script = "while :; do echo text > file; done"
    with subprocess.Popen(["sh", "-c", script], cwd=mount.folder) as program:
        _waits(mount.folder / "file")
        mount.process.send_signal(signal.SIGSTOP)
        program.kill()
        mount.process.send_signal(signal.SIGCONT)
        ensure(program.wait(mo.SECONDS_MAX) != 0, "it was not killed")
    (mount.folder / "others").write_text("are served")


def test_set_id_bits_that_are_set_between_two_writes_are_cleared_by_the_second(
    mount: mo.Mounted,
) -> None:
    with (mount.folder / "program").open("wb", buffering=0) as file:
        for _ in range(2):
            file.write(bytes(MIB))
            os.chmod(mount.folder / "program", 0o6755)  # noqa: PTH101
            ensure(os.fstat(file.fileno()).st_mode & 0o7777 == 0o6755, "it was not set")
        file.write(bytes(MIB))
        mode = os.fstat(file.fileno()).st_mode & 0o7777
    ensure(mode == 0o755, f"the mode is {mode:o}")


POOL_SET = 0x4010FB01  # FOREBAY_POOL_SET of include/forebay_pool.h
POOL_ON, POOL_OFF = (struct.pack("IIQ", mode, 0, 0) for mode in (2, 1))


@pytest.fixture
def kept() -> Iterator[mo.Mounted]:
    """Before a pool that drains nothing until it has to."""
    with mo.mounted(before_pool=True, settings=pooled.KEPT) as served:
        yield served


def test_bytes_that_are_to_be_synced_at_once_are_below(kept: mo.Mounted) -> None:
    below = kept.below("file")
    with (kept.folder / "file").open("w+b", buffering=0) as file:
        file.write(bytes(MIB))
        ensure(below.read_bytes() == b"", "the first write is not in the pool")
        os.pwritev(file.fileno(), [b"one"], 0, os.RWF_DSYNC)
        ensure(below.read_bytes()[:4] == b"one\0", "RWF_DSYNC is not heeded")
        os.pwrite(file.fileno(), b"two", 0)
        ensure(below.read_bytes()[:4] == b"one\0", "the file has left the pool")
        fd = os.open(kept.folder / "file", os.O_WRONLY | os.O_DSYNC)
        os.pwrite(fd, b"three", 3)
        os.close(fd)
        ensure(below.read_bytes()[:9] == b"twothree\0", "O_DSYNC is not heeded")


def test_a_program_switches_the_pool_off_for_a_file(kept: mo.Mounted) -> None:
    below = kept.below("file")
    with (kept.folder / "file").open("w+b", buffering=0) as file:
        fcntl.ioctl(file, POOL_SET, POOL_ON)
        file.write(bytes(MIB))
        ensure(below.read_bytes() == b"", "the write is not in the pool")
        fcntl.ioctl(file, POOL_SET, POOL_OFF)
        ensure(below.read_bytes() == bytes(MIB), "it is not drained")
        file.write(b"more")
        ensure(below.read_bytes()[MIB:] == b"more", "it is not written through")
        with pytest.raises(OSError, match="Errno 16"):
            fcntl.ioctl(file, POOL_SET, POOL_ON)
        with pytest.raises(OSError, match="Errno 22"):
            fcntl.ioctl(file, POOL_SET, struct.pack("IIQ", 3, 0, 0))
    with (
        (kept.folder / "file").open("rb") as file,
        pytest.raises(OSError, match="Errno 9"),
    ):
        fcntl.ioctl(file, POOL_SET, POOL_OFF)
    with (kept.folder / "file").open("r+b", buffering=0) as file:
        file.write(b"x" * MIB)
        ensure(below.read_bytes()[:1] == b"\0", "opened again, it is not pooled")


def test_what_was_written_is_below_when_all_has_ended() -> None:
    with mo.mounted(before_pool=True) as mount:
        (mount.folder / "large").write_bytes(_bytes(LARGE))
        pool = mount.pool
        ensure(pool is not None and pool.taken() > LARGE // 2, "nothing was deposited")
        mo.unmount(mount.folder)
        ensure(mount.has_ended() == 0, "the mount does not end")
        if pool is not None:
            pool.stop()
        ensure((mount.folder / "large").read_bytes() == _bytes(LARGE), "not all is there")


def _waits(path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", f"import os; os.stat({str(path)!r})"],
        timeout=mo.SECONDS_MAX,
        check=False,
        capture_output=True,
    )


def _until_unmounted(folder: Path) -> None:
    for _ in range(1000):
        if not mo.is_mounted(folder):
            return
        _waits(folder / "nothing")
    ensure(False, "it is still mounted")


def test_the_path_below_is_back_when_the_mount_is_killed(mount: mo.Mounted) -> None:
    (mount.folder / "file").write_text("text")
    script = "import time\nwith open('used', 'wb', buffering=0) as f:\n while True: f.write(b'x'*9)"
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=mount.folder, stderr=subprocess.DEVNULL
    ) as busy:
        _waits(mount.folder / "used")
        mount.process.kill()
        ensure(busy.wait(mo.SECONDS_MAX) == 1, "a program was not told")
    _until_unmounted(mount.folder)
    ensure((mount.folder / "file").read_text() == "text", "the directory below is not back")


def test_the_path_below_is_back_when_the_daemon_is_killed() -> None:
    with mo.mounted(before_pool=True) as mount:
        (mount.folder / "file").write_text("text")
        lost = os.open(mount.folder / "lost", os.O_CREAT | os.O_WRONLY)
        ensure(os.write(lost, bytes(LARGE)) == LARGE, "not all was written")
        if mount.pool is not None:
            mount.pool.kill()
        with pytest.raises(OSError, match="Errno 5"):
            os.write(lost, bytes(MIB))
        with pytest.raises(OSError, match="Errno 5"):
            os.close(lost)
        _until_unmounted(mount.folder)
        ensure((mount.folder / "file").read_text() == "text", "the directory below is not back")


def test_who_has_a_file_open_goes_on_when_it_is_unmounted(mount: mo.Mounted) -> None:
    with (mount.folder / "open").open("w+b", buffering=0) as file:
        file.write(b"before ")
        mo.unmount(mount.folder)
        file.write(b"behind")
        ensure(os.pread(file.fileno(), 20, 0) == b"before behind", "it cannot be used")
        ensure(mount.process.poll() is None, "it ended")
    ensure(mount.has_ended() == 0, "the mount does not end")
    ensure((mount.folder / "open").read_bytes() == b"before behind", "it is not below")


def test_a_second_mount_over_the_same_path_is_refused(mount: mo.Mounted) -> None:
    done = subprocess.run(
        [str(mo.PROGRAM), str(mount.folder)],
        capture_output=True,
        text=True,
        timeout=mo.SECONDS_MAX,
        check=False,
    )
    ensure(done.returncode == 1 and "already" in done.stderr, done.stderr)


def test_who_waits_for_a_lock_can_be_killed(mount: mo.Mounted) -> None:
    script = "import fcntl; fcntl.flock(open('l'), fcntl.LOCK_EX)"
    with (mount.folder / "l").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with subprocess.Popen([sys.executable, "-c", script], cwd=mount.folder) as waits:
            (mount.folder / "others").write_text("are served")
            waits.kill()
            ensure(waits.wait(mo.SECONDS_MAX) != 0, "it had the lock")


def test_who_waits_for_a_lock_gets_it(mount: mo.Mounted) -> None:
    script = "import fcntl; f=open('l','r+'); fcntl.lockf(f, fcntl.LOCK_EX); print('got')"
    with (mount.folder / "l").open("w") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        with subprocess.Popen(
            [sys.executable, "-c", script], cwd=mount.folder, stdout=subprocess.PIPE, text=True
        ) as waits:
            fcntl.lockf(held, fcntl.LOCK_UN)
            ensure(waits.communicate(timeout=mo.SECONDS_MAX)[0] == "got\n", "it did not get it")
