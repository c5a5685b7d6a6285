"""Faults around a mount: stopped servers, several on one path, what is below is gone."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.on import FULL
from suite.verdict import ensure

pytestmark = mo.needs_mount
PYTHON = sys.executable
LARGE = 20 << 20
SERVERS = 6
SOON = ("--timeout", "1")
ROUNDS = [pytest.param(2, id="few"), pytest.param(50, id="many", marks=FULL)]
TOLD = {"EIO", "ENOTCONN", "ECONNABORTED"}

# Writes records one after the other, each with its number, and syncs some; reads some back. Prints
# what is acknowledged. At an error it says which, and then, when the path is back, that it can
# write there.
WORKER = """
import errno, os, random, sys, time
folder, seed = sys.argv[1], int(sys.argv[2])
chance = random.Random(seed)
RECORD = 100_000
def record(number):
    return number.to_bytes(4, "big") * (RECORD // 4)
def work():
    fd = os.open(folder + "/records", os.O_RDWR | os.O_CREAT)
    number = 0
    while True:
        assert os.pwrite(fd, record(number), number * RECORD) == RECORD
        number += 1
        print("written", number, flush=True)
        if chance.random() < 0.2:
            os.fsync(fd)
            print("synced", number, flush=True)
        at = chance.randrange(number)
        assert os.pread(fd, RECORD, at * RECORD) == record(at), "other bytes"
        with open(folder + "/small", "a") as small:
            small.write("line\\n")
        if number == 400:
            number = 0
try:
    work()
except OSError as error:
    print("error", errno.errorcode[error.errno], flush=True)
while True:
    try:
        with open(folder + "/behind", "w") as behind:
            behind.write("all is well")
        break
    except OSError as error:
        assert error.errno in (errno.ENOTCONN, errno.ECONNABORTED), error
        time.sleep(0.001)
"""


class _Later:
    """Does something after so many seconds, or when it is closed."""

    def __init__(self, seconds: float, what: Callable[[], object]) -> None:
        self._what = what
        self._timer = threading.Timer(seconds, what)
        self._timer.start()

    def close(self) -> None:
        self._timer.cancel()
        self._what()


def _writes_on(folder: Path) -> subprocess.Popen[bytes]:
    """A program that writes until it is told an error; it has begun."""
    script = "with open('f', 'wb', 0) as f:\n f.write(b'x'); print(1, flush=True)\n"
    script += " while 1: f.write(b'x' * 99999); f.seek(0)"
    program = subprocess.Popen(
        [PYTHON, "-c", script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    ensure(program.stdout is not None and program.stdout.readline() == b"1\n", "it does not begin")
    return program


@pytest.mark.parametrize("before_pool", [False, True])
def test_a_server_that_is_stopped_for_too_long_is_ended(before_pool: bool) -> None:
    with mo.mounted(before_pool=before_pool, options=SOON) as mount:
        (mount.folder / "file").write_text("text")
        with _writes_on(mount.folder) as program, _writes_on(mount.folder) as killed:
            mount.process.send_signal(signal.SIGSTOP)
            killed.kill()
            ensure(program.wait(mo.SECONDS_MAX) == 1, "the program was not told")
            killed.wait(mo.SECONDS_MAX)
        ensure(mount.has_ended() == -signal.SIGKILL, "the server goes on")
        mo.until_unmounted(mount.folder)
        said = mount.process.stderr.read() if mount.process.stderr else ""
        ensure("did not run for 1 s" in said and "pool_mount_timeout" in said, said)
        ensure((mount.folder / "file").read_text() == "text", "the directory below is not back")


def test_a_server_that_is_stopped_for_a_while_is_waited_for() -> None:
    with mo.mounted(before_pool=True) as mount:
        with subprocess.Popen(
            [PYTHON, "-c", f"open('f', 'wb').write(bytes({LARGE}))"], cwd=mount.folder
        ) as program:
            for _ in range(20):
                mount.process.send_signal(signal.SIGSTOP)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.wait(0.01)
                mount.process.send_signal(signal.SIGCONT)
            ensure(program.wait(mo.SECONDS_MAX) == 0, "the program was told an error")
        ensure((mount.folder / "f").stat().st_size == LARGE, "not all is there")


def test_programs_that_are_killed_in_their_calls_hold_up_nobody() -> None:
    script = "import fcntl, os\nf = open('f', 'wb', 0); fcntl.lockf(f, fcntl.LOCK_EX)\n"
    script += "print(1, flush=True)\nwhile 1: os.pwrite(f.fileno(), b'x' * 999999, 0); os.fsync(f)"
    with mo.mounted(before_pool=True) as mount:
        for _ in range(20):
            with subprocess.Popen(
                [PYTHON, "-c", script], cwd=mount.folder, stdout=subprocess.PIPE
            ) as program:
                ensure(
                    program.stdout is not None and program.stdout.readline() == b"1\n", "no lock"
                )
                program.kill()
                program.wait(mo.SECONDS_MAX)
        (mount.folder / "others").write_text("are served")


def test_what_was_written_is_there_when_the_path_is_back() -> None:
    with mo.mounted(before_pool=True) as mount:
        data = random.Random(1).randbytes(LARGE)
        file = os.open(mount.folder / "large", os.O_CREAT | os.O_WRONLY)
        ensure(os.write(file, data) == LARGE, "not all was written")
        mount.process.kill()
        mo.until_unmounted(mount.folder)
        ensure((mount.folder / "large").read_bytes() == data, "the file has old bytes")
        with pytest.raises(OSError, match="Errno 107"):
            os.close(file)


def _start_all(words: Sequence[str], count: int) -> list[subprocess.Popen[bytes]]:
    return [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(count)
    ]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_of_servers_that_start_in_one_moment_one_serves(below: Path, rounds: int) -> None:
    for _ in range(rounds):
        all_of_them = _start_all([str(mo.PROGRAM), str(below)], SERVERS)
        ready = [one.stdout.readline() if one.stdout else b"" for one in all_of_them]
        ensure(sum(bool(line) for line in ready) == 1, f"they serve: {ready}")
        (below / "file").write_text("text")
        for one, line in zip(all_of_them, ready, strict=True):
            if line:
                one.terminate()
            _, said = one.communicate(timeout=mo.SECONDS_MAX)
            ensure(one.returncode == (0 if line else 1), said.decode())
            ensure(bool(line) or b"there is a mount of Forebay already" in said, said.decode())
        mo.until_unmounted(below)
        ensure((below / "file").read_text() == "text", "it is not below")


def test_a_server_whose_files_are_still_open_keeps_others_away(below: Path) -> None:
    with mo.served(below) as first:
        with (below / "open").open("w") as file:
            mo.unmount(below)
            done = subprocess.run(
                [str(mo.PROGRAM), str(below)], capture_output=True, text=True, check=False
            )
            ensure(done.returncode == 1 and "another forebay-mount" in done.stderr, done.stderr)
            file.write("text")
        ensure(first.has_ended() == 0, "the first does not end")
        with mo.served(below):
            ensure((below / "open").read_text() == "text", "it is not there")


def test_programs_may_lock_the_directory_that_is_mounted_over(below: Path) -> None:
    with mo.served(below) as mount:
        mount.run("flock", "--nonblock", str(below), "true")


def _mount_memory(folder: Path) -> None:
    """The fixture unmounts it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=10m", "forebay-test", folder], check=True)


def test_what_is_mounted_may_be_mounted_over(below: Path) -> None:
    _mount_memory(below)
    device = below.stat().st_dev
    with mo.served(below) as mount:
        (below / "file").write_text("text")
        mount.process.terminate()
        ensure(mount.has_ended() == 0, "it does not end")
        ensure((below / "file").read_text() == "text", "it is not on the file system below")
        ensure(below.stat().st_dev == device, "the file system below is unmounted")


def test_a_server_ends_with_the_file_system_below(below: Path) -> None:
    _mount_memory(below)
    inside = below / "inside"
    inside.mkdir()
    with mo.served(inside) as mount:
        with (inside / "open").open("w+b", buffering=0) as file:
            file.write(b"text")
            subprocess.run(["umount", "-l", below], check=True)
            ensure(not inside.exists(), "it is still there")
            ensure(os.pread(file.fileno(), 9, 0) == b"text", "an open file is not served")
        ensure(mount.has_ended() == 0, "it does not end")


def test_a_server_ends_when_its_directory_is_removed_elsewhere(below: Path) -> None:
    with mo.served(below) as mount:
        script = 'umount -l "$1" && rmdir "$1"'
        words = ["unshare", "--mount", "--propagation=private", "sh", "-c", script, "sh"]
        subprocess.run([*words, str(below)], check=True, timeout=mo.SECONDS_MAX)
        ensure(mount.has_ended() == 0, "it does not end")
    ensure(not below.exists(), "the directory is still there")
    below.mkdir()


def _ends(worker: subprocess.Popen[str], mount: mo.Mounted, victim: int, lines: int) -> list[str]:
    """Kills the victim when the worker has said so many lines; all that the worker says."""
    said: list[str] = []
    assert worker.stdout is not None
    for _ in range(lines):
        said.append(worker.stdout.readline())
    os.kill(victim, signal.SIGKILL)
    rest, _ = worker.communicate(timeout=mo.SECONDS_MAX)
    ensure(worker.returncode == 0, f"the program ended with {worker.returncode}: {rest[-300:]}")
    mo.until_unmounted(mount.folder)
    return [*said, *rest.splitlines()]


def _check_records(path: Path, said: Sequence[str], word: str) -> None:
    """All records are there that were told `word`, and none is a mixture."""
    numbers = [int(line.split()[1]) for line in said if line.startswith(word)]
    found, size = path.read_bytes() if path.exists() else b"", 100_000
    for number in range(max(numbers, default=0)):
        one = found[number * size : (number + 1) * size]
        ensure(one == number.to_bytes(4, "big") * (size // 4), f"record {number} is not there")


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("victim", ["server", "daemon"])
def test_nobody_hangs_and_nothing_is_lost_when_one_is_killed(rounds: int, victim: str) -> None:
    chance = random.Random(rounds)
    for number in range(rounds):
        with mo.mounted(before_pool=True) as mount:
            ensure(mount.pool is not None, "no pool")
            assert mount.pool is not None
            with subprocess.Popen(
                [PYTHON, "-c", WORKER, str(mount.folder), str(number)],
                stdout=subprocess.PIPE,
                text=True,
            ) as worker:
                process = mount.process if victim == "server" else mount.pool.process
                said = _ends(worker, mount, process.pid, chance.randrange(1, 300))
            errors = [line.split()[1] for line in said if line.startswith("error")]
            ensure(len(errors) == 1 and errors[0] in TOLD, f"the program was told {errors}")
            if victim == "server":
                mount.pool.stop()
            word = "written" if victim == "server" else "synced"
            _check_records(mount.folder / "records", said, word)
            ensure((mount.folder / "behind").read_text() == "all is well", "it is not back")


LAST_DEPOSIT = """
import errno, os, sys
fd = os.open("file", os.O_RDWR | os.O_CREAT)
for at in (0, 1 << 20):
    assert os.pwrite(fd, b"x" * (400 << 10), at) == 400 << 10
print("captured", flush=True)
sys.stdin.readline()
assert os.pwrite(fd, b"y" * 4096, 4 << 20) == 4096
print("deposited", flush=True)
sys.stdin.readline()
for look in (lambda: os.fstat(fd).st_size, lambda: os.stat("file").st_size):
    try:
        print(look(), end=" ", flush=True)
    except OSError as error:
        print(errno.errorcode[error.errno], end=" ", flush=True)
"""


def test_a_file_is_not_said_to_be_shorter_when_the_daemon_died_with_deposits() -> None:
    """Which the mount had not seen: its answer was the length of the file below."""
    with mo.mounted(before_pool=True, options=[mo.CAPTURES]) as mount:
        assert mount.pool is not None
        # A write that needs the daemon waits for one that is stopped.
        with (
            contextlib.closing(_Later(60, mount.pool.kill)),
            subprocess.Popen(
                [PYTHON, "-c", LAST_DEPOSIT],
                cwd=mount.folder,
                env={**os.environ, **mount.captured()},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ) as program,
        ):
            assert program.stdin is not None
            assert program.stdout is not None
            ensure(program.stdout.readline() == "captured\n", "it does not begin")
            mount.pool.process.send_signal(signal.SIGSTOP)
            program.stdin.write("\n")
            program.stdin.flush()
            ensure(program.stdout.readline() == "deposited\n", "it is not captured")
            mount.pool.kill()
            said, _ = program.communicate("\n", timeout=mo.SECONDS_MAX)
            ensure(said.split() == ["EIO", "EIO"], said)


def test_more_files_are_seen_than_the_server_may_have_open(below: Path) -> None:
    few, files = 1000, 4000
    for number in range(files):
        (below / f"{number}.txt").write_text(str(number))
    words = ["prlimit", f"--nofile={few}:{few}", str(mo.PROGRAM)]
    with mo.served(below, program=words) as mount:
        script = "cat *.txt > all; ls -l > list; for i in 1 2 3; do cp $i.txt new$i; done"
        mount.run("sh", "-ec", script)
        for number in range(files):
            (below / f"{number}.new").write_text("text")
    text = "".join((below / one).read_text() for one in sorted(f"{i}.txt" for i in range(files)))
    ensure((below / "all").read_text() == text, "files are missing")
    ensure(len((below / "list").read_text().splitlines()) > files, "names are missing")


@pytest.mark.skipif(
    tuple(map(int, os.uname().release.split(".")[:2])) < (6, 18),
    reason="before Linux 6.18 the kernel forgets no file of a folder while it is in use",
)
def test_files_of_a_folder_that_many_list_are_forgotten(below: Path) -> None:
    """Some request about the folder is in flight at nearly every time."""
    few, files = 300, 4000
    for number in range(files):
        (below / f"{number}.txt").write_text(str(number))
    words = ["prlimit", f"--nofile={few}:{few}", str(mo.PROGRAM)]
    with mo.served(below, program=words) as mount:
        script = "list() { for i in 1 2 3; do ls -l > /dev/null; cat *.txt > /dev/null; done; }\n"
        script += 'for i in 1 2 3 4; do list & all="$all $!"; done; '
        script += "for one in $all; do wait $one; done"
        mount.run("sh", "-ec", script)


@pytest.mark.parametrize("rounds", [pytest.param(3, id="few"), pytest.param(30, marks=FULL)])
def test_a_server_that_is_killed_while_it_forgets_files_hangs_nobody(
    below: Path, rounds: int
) -> None:
    """The thread that has the kernel forget a name waits for the directory, whoever lists the
    directory for the server, and the thread keeps /dev/fuse open: nobody ended the connection."""
    few, files = 200, 2000
    for number in range(files):
        (below / f"{number}.txt").write_text("")
    chance = random.Random(rounds)
    words = ["prlimit", f"--nofile={few}:{few}", str(mo.PROGRAM)]
    for _ in range(rounds):
        with mo.served(below, program=words) as mount:
            listing = [
                subprocess.Popen(
                    ["sh", "-c", "while ls -l; do :; done"],
                    cwd=below,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                for _ in range(4)
            ]
            with contextlib.suppress(subprocess.TimeoutExpired):
                listing[0].wait(chance.uniform(0.05, 0.6))
            mount.process.kill()
            for one in listing:
                one.wait(mo.SECONDS_MAX)
            mo.until_unmounted(below)
