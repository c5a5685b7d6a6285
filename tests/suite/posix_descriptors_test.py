"""Descriptors that are few: those of the daemon, beyond which files are plain files, and the pool
goes on; and those of a program, among which the connection's may be."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pool as daemon
from suite import pooled
from suite.verdict import ensure

LIMIT = 256
FILES = 600

MANY = f"""
import os, sys
fds = []
for i in range({FILES}):
    fds.append(os.open(f"many.{{i}}", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644))
    assert os.write(fds[i], b"first %d" % i) == len(b"first %d" % i)
for i, fd in enumerate(fds):
    assert os.pwrite(fd, b"again", 20) == 5
    assert os.pread(fd, 100, 0) == (b"first %d" % i).ljust(20, bytes(1)) + b"again", i
    os.ftruncate(fd, 22)
    assert os.fstat(fd).st_size == 22, i
for fd in fds[::7]:
    os.fsync(fd)
for fd in fds:
    os.close(fd)
print("done")
"""

LATER = """
import os
fd = os.open("later", os.O_RDWR | os.O_CREAT, 0o644)
os.write(fd, bytes(4321))
os.close(fd)
"""


def test_more_files_than_descriptors_keep_their_bytes_and_the_pool(folder: Path) -> None:
    """The pool was switched off for all, and for good, and it was said to be full of processes."""
    few = ["prlimit", f"--nofile={LIMIT}:{LIMIT}"]
    with daemon.pool(folder, pooled.KEPT, rescue=folder, front=few) as served:
        said = pooled.run([sys.executable, "-c", MANY], folder, served.environment())
        ensure(said == "done\n", said)
        status = served.status()
        ensure(not status.closing, "the pool takes nothing more")
        reasons = {one.reason for one in status.files}
        ensure(reasons == {"", "no_descriptor"}, f"files are past the pool for {reasons}")
        pooled.run([sys.executable, "-c", LATER], folder, served.environment())
        later = [one for one in served.status().files if one.path.endswith("/later")]
        ensure([one.taken for one in later] == [4321], "what is opened later is not pooled")
    for i in range(FILES):
        expected = (b"first %d" % i).ljust(20, bytes(1)) + b"ag"
        got = (folder / f"many.{i}").read_bytes()
        ensure(got == expected, f"many.{i} is {got!r}")


# Holds as many files as the daemon can have open, and more, until it is told to go on.
HOLDS = f"""
import os, sys
fds = [os.open(f"held.{{i}}", os.O_RDWR | os.O_CREAT, 0o644) for i in range({FILES})]
for i, fd in enumerate(fds):
    assert os.write(fd, b"%d" % i * 100) == len(b"%d" % i * 100)
print("holds", flush=True)
sys.stdin.readline()
for i, fd in enumerate(fds):
    assert os.pread(fd, 1000, 0) == b"%d" % i * 100, i
    os.close(fd)
"""
# Comes while they are held, and stays. Several files, of which the daemon may take some.
COMES = """
import os, sys
name = sys.argv[1]
def use(which):
    path = f"{name}.{which}"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    assert os.write(fd, b"a" * 4321) == 4321
    assert os.pwrite(fd, b"b" * 100, 1000) == 100
    whole = b"a" * 1000 + b"b" * 100 + b"a" * 3221
    assert os.pread(fd, 5000, 0) == whole
    other = os.open(path, os.O_RDONLY)
    assert os.read(other, 5000) == whole and os.path.getsize(path) == 4321
    os.close(other)
    os.close(fd)
for i in range(5):
    use(f"early.{i}")
print("early", flush=True)
sys.stdin.readline()
use("late")
print("late", flush=True)
"""
COMERS = 3


def _started(served: daemon.Pool, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", *words],
        cwd=served.folder,
        env={**os.environ, **served.environment()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _said(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline() if process.stdout else ""


def _told_to_go_on(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate("\n", timeout=pooled.SECONDS_MAX)
    ensure(process.returncode == 0, f"it ended with {process.returncode}: {said}")
    return said


@pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
def test_who_comes_while_another_holds_all_descriptors_is_pooled_later(
    settings: Mapping[str, str], folder: Path
) -> None:
    """The log of a new process needs a descriptor of the daemon, too. It may have none for the
    time being, but is not without the pool for good."""
    few = ["prlimit", f"--nofile={LIMIT}:{LIMIT}"]
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(daemon.pool(folder, settings, rescue=folder, front=few))
        holder = _started(served, HOLDS)
        stack.callback(holder.kill)
        ensure(_said(holder) == "holds\n", "it holds no files")
        comers = [_started(served, COMES, f"comer.{i}") for i in range(COMERS)]
        for comer in comers:
            stack.callback(comer.kill)
        for comer in comers:
            ensure(_said(comer) == "early\n", "it could not use its files")
        ensure(not served.status().closing, "the pool takes nothing more")
        _told_to_go_on(holder)
        for comer in comers:
            ensure(_told_to_go_on(comer) == "late\n", "it could not use its last file")
        late = [one for one in served.status().files if one.path.endswith(".late")]
        states = {(one.reason, one.taken) for one in late}
        ensure(states == {("", 4321 + 100)}, f"what is opened later is not pooled: {states}")
    whole = b"a" * 1000 + b"b" * 100 + b"a" * 3221
    for i in range(COMERS):
        for which in ("late", *(f"early.{number}" for number in range(5))):
            got = (folder / f"comer.{i}.{which}").read_bytes()
            ensure(got == whole, f"comer.{i}.{which} has other bytes")
    for i in range(FILES):
        ensure((folder / f"held.{i}").read_bytes() == b"%d" % i * 100, f"held.{i} has other bytes")


# `ours` are descriptors of the connection, which the program asks for by number.
OURS = """
import errno, os, sys

def numbers():
    return {int(name) for name in os.listdir("/proc/self/fd")}

def kind_of(fd):
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""

before = numbers()
file = os.open("file", os.O_RDWR | os.O_CREAT)
os.write(file, b"first ")
ours = sorted(fd for fd in numbers() - before - {file} if kind_of(fd))
assert len(ours) == 3, [kind_of(fd) for fd in ours]

def failure_of(call, *numbers):
    try:
        call(*numbers)
    except OSError as error:
        return error.errno
    return 0

def use():
    at = os.lseek(file, 0, os.SEEK_CUR)
    assert os.write(file, b"x" * 100000) == 100000
    os.fsync(file)
    assert os.pread(file, 100000, at) == b"x" * 100000
"""
REFUSED = """
bad = max(ours) + 5
for number in ours:
    there = numbers()
    assert failure_of(os.dup2, bad, number) == errno.EBADF
    assert numbers() == there, (there, numbers())
    assert failure_of(os.dup2, bad, number, False) == errno.EBADF
    assert numbers() == there, (there, numbers())
use()
print("done")
"""
GIVEN = """
other = os.open("other", os.O_RDWR | os.O_CREAT)
for number in ours:
    there = numbers()
    limit = int(sys.argv[1])
    expected = 0 if number < limit else errno.EBADF
    assert failure_of(os.dup2, other, number) == expected
    assert len(numbers() - there) <= (expected == 0), (there, numbers())
    if expected == 0:
        assert kind_of(number).endswith("/other")
        os.write(number, b"of the program ")
use()
print("done")
"""
ALL_TAKEN = """
other = os.open("other", os.O_RDWR | os.O_CREAT)
more = []
while not failure_of(lambda: more.append(os.dup(1))):
    pass
refused = [failure_of(os.dup2, other, number) for number in ours]
assert set(refused) <= {0, errno.EMFILE} and errno.EMFILE in refused, refused
for fd in more:
    os.close(fd)
use()
use()
print("done", os.fstat(other).st_size)
"""


def _unprivileged(limit: int) -> list[str]:
    """A program that may not raise its limit, among whose descriptors ours are."""
    command = ["prlimit", f"--nofile={limit}:{limit}"]
    if os.geteuid() == 0:
        command += ["setpriv", "--bounding-set=-sys_resource"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("descriptors cannot be limited. Install util-linux.")
    return command


@pytest.mark.parametrize("limit", [1024, 600, 64])
def test_a_number_of_ours_that_a_program_asks_for_in_vain_stays_ours(
    limit: int, folder: Path
) -> None:
    """dup2 of a bad descriptor moved ours, and left the old number open for the program to use."""
    front = _unprivileged(limit) if limit < 1024 else []
    with pooled.pool(folder) as served:
        command = [*front, sys.executable, "-c", OURS + REFUSED]
        said = pooled.run(command, served.folder, served.environment())
        ensure(said == "done\n", said)
        ensure(served.taken() > 0, "nothing was deposited")


@pytest.mark.parametrize("limit", [1024, 600, 64])
def test_a_program_is_given_a_number_of_ours(limit: int, folder: Path) -> None:
    front = _unprivileged(limit) if limit < 1024 else ["prlimit", "--nofile=1024:1024"]
    with pooled.pool(folder) as served:
        command = [*front, sys.executable, "-c", OURS + GIVEN, limit]
        said = pooled.run(command, served.folder, served.environment())
        ensure(said == "done\n", said)


def test_a_number_of_ours_is_refused_where_no_other_is_free(folder: Path) -> None:
    """The program's file got the connection's number, and what is sent to the daemon."""
    with pooled.pool(folder) as served:
        command = [*_unprivileged(64), sys.executable, "-c", OURS + ALL_TAKEN]
        said = pooled.run(command, served.folder, served.environment())
        ensure(said == "done 0\n", said)
