"""Processes that the pool has no room for, or that have no room for the pool: nobody reads anything
else than what was written."""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

CLIENTS_MAX = 1024
"""Clients of one daemon, at a time (src/pool/protocol/limits.hpp)."""
DESCRIPTORS = 5 * CLIENTS_MAX
"""That a daemon needs for so many."""
ROOM: Mapping[str, str] = {**pooled.KEPT, "pool_cap": "4 GiB"}


@pytest.mark.parametrize("processes", [150, pytest.param(1000, marks=FULL)])
def test_many_share_a_file(processes: int, folder: Path) -> None:
    """More than have their logs mapped by each other."""
    words = [pooled.program("many.c", "-pthread"), "shared", processes, processes // 2]
    with pooled.pool(folder, ROOM) as served:
        said = pooled.run(words, served.folder, served.environment())
        ensure(said == "read something else: 0\n", said)
        ensure(served.taken() > 0, "nothing was deposited")


@FULL
def test_more_than_the_pool_has_room_for(folder: Path) -> None:
    """The last ones would neither see deposits nor keep out of their way: everything leaves."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < DESCRIPTORS:
        pytest.skip(f"a daemon of {CLIENTS_MAX} processes needs {DESCRIPTORS} descriptors")
    program = pooled.program("many.c", "-pthread")
    words = [program, "shared", CLIENTS_MAX + 60, CLIENTS_MAX - 10]
    with pooled.pool(folder, ROOM) as served:
        said = pooled.run(words, served.folder, served.environment())
        ensure("read something else: 0\n" in said, said[-500:])
        ensure("the daemon has no room for it" in said, said[-500:])
        ensure(served.taken() > 0, "nothing was deposited before")
        # On few processors somebody may have waited too long for memory before.
        reasons = {one.reason for one in served.status().files}
        ensure(reasons <= {"full", "no_memory"}, f"{reasons}")


@FULL
def test_a_daemon_without_descriptors(folder: Path) -> None:
    """It has room for a few processes only, by its limit."""
    words = [pooled.program("many.c", "-pthread"), "shared", 60, 10]
    with pooled.pool(folder, ROOM) as served:
        hard = resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE, (120, hard))
        said = pooled.run(words, served.folder, served.environment())
        resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE, (hard, hard))
        ensure("read something else: 0\n" in said, said[-500:])
        ensure("does without the pool" in said, said[-500:])
        reasons = {one.reason for one in served.status().files}
        ensure(reasons and reasons <= {"full", "unmapped"}, f"{reasons}")


KEEPER = """
import os, shlex, subprocess, sys

def limited(script):
    script = "import os, sys\\n" + script
    words = ["bash", "-c", f"ulimit -v 2000000; exec {sys.executable} -c {shlex.quote(script)}"]
    ended = subprocess.run(words, capture_output=True, text=True)
    complaints = [one for one in ended.stderr.splitlines() if "without the pool" not in one]
    print(ended.stdout.strip(), *complaints)

def file(name, size=100_000):
    made = os.open(name, os.O_RDWR | os.O_CREAT)
    os.pwrite(made, b"a" * size, 0)
    return made
"""
LIMITED_CASES = {
    "reads_and_writes": (
        """
f = file("x")
limited('f = os.open("x", os.O_RDWR); print(len(os.read(f, 1 << 20)), os.fstat(f).st_size)'
        '; os.pwrite(f, b"limited", 1000)')
os.pwrite(f, b"after", 50_000)
print(os.pread(f, 7, 1000), os.pread(f, 5, 50_000))
""",
        "100000 100000\nb'limited' b'after'\n",
    ),
    "looks_by_name": (
        """
f = file("x")
limited('print(os.stat("x").st_size, os.path.getsize("x"))')
""",
        "100000 100000\n",
    ),
    "begins_anew": (
        """
f = file("x")
limited('open("x", "wb").write(b"short")')
print(os.pread(f, 10, 0), os.fstat(f).st_size)
f = file("y")
os.environ["LC_ALL"] = "C"
limited('from ctypes import CDLL, c_void_p; c = CDLL(None); c.fopen.restype = c_void_p\\n'
        's = c_void_p(c.fopen(b"y", b"wm")); c.fputs(b"short", s); c.fclose(s)')
print(os.pread(f, 10, 0), os.fstat(f).st_size)
""",
        "\nb'short' 5\n\nb'short' 5\n",
    ),
    "forks_and_goes": (
        """
f = file("x")
limited('f = os.open("x", os.O_RDWR)\\nif os.fork() > 0: os._exit(0)\\n'
        'os.close(1); os.close(2); import time\\n'
        'while not os.path.exists("go"): time.sleep(0.01)\\n'
        'g = os.open("said", os.O_CREAT | os.O_WRONLY)\\n'
        'os.write(g, os.pread(f, 5, 0)); os.rename("said", "done")')
os.close(f)
again = os.open("x", os.O_RDWR)
os.pwrite(again, b"later", 0)
os.close(os.open("go", os.O_CREAT))
import time
while not os.path.exists("done"): time.sleep(0.01)
print(open("done", "rb").read())
""",
        "\nb'later'\n",
    ),
    "opens_very_many": (
        """
for i in range(300): os.close(file(f"f{i}", 10))
limited('print(sum(len(open(f"f{i}").read()) for i in range(300) for _ in range(3)))')
""",
        "9000\n",
    ),
}


SENT_AWAY = """
import resource
f = file("y")
daemon = int(sys.argv[1])
most, hard = resource.prlimit(daemon, resource.RLIMIT_NOFILE)
taken = max(int(one) for one in os.listdir(f"/proc/{daemon}/fd")) + 1
resource.prlimit(daemon, resource.RLIMIT_NOFILE, (taken, hard))
script = '''from ctypes import CDLL, c_void_p; c = CDLL(None); c.fopen.restype = c_void_p
s = c_void_p(c.fopen(sys.argv[1].encode(), b"wm")); c.fputs(b"short", s); c.fclose(s)'''
words = [sys.executable, "-I", "-c", "import sys\\n" + script, os.path.abspath("y")]
ended = subprocess.run(words, cwd="/", capture_output=True, text=True)  # meets the pool there
resource.prlimit(daemon, resource.RLIMIT_NOFILE, (most, hard))
print("without the pool" in ended.stderr, os.pread(f, 10, 0), os.fstat(f).st_size)
"""


@FULL
def test_what_a_process_that_is_sent_away_begins_anew(folder: Path) -> None:
    """Its libc has emptied the file before the deposits of others were drained to it."""
    with pooled.pool(folder, ROOM) as served:
        words = [sys.executable, "-c", KEEPER + SENT_AWAY, served.process.pid]
        said = pooled.run(words, served.folder, served.environment())
        ensure(said == "True b'short' 5\n", said)


@pytest.mark.parametrize("case", LIMITED_CASES)
def test_a_process_that_cannot_map_the_pool(case: str, folder: Path) -> None:
    """It reads what others have deposited, and they read what it writes."""
    script, expected = LIMITED_CASES[case]
    with pooled.pool(folder) as served:
        if case == "opens_very_many":
            hard = resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE)[1]
            resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE, (200, hard))
        words = [sys.executable, "-c", KEEPER + script]
        said = pooled.run(words, served.folder, served.environment())
        ensure(said == expected, said)
        ensure(served.taken() > 0, "nothing was deposited")
        reasons = {one.reason for one in served.status().files}
        ensure(case == "looks_by_name" or "unmapped" in reasons, f"{reasons}")
        ensure("full" not in reasons, "its files stay open in the daemon")
