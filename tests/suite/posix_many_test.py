"""Processes that the pool has no room for, or that have no room for the pool: nobody reads anything
else than what was written."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

CLIENTS_MAX = 1024
"""Of one daemon, at a time (src/pool/shared/limits.hpp)."""
DESCRIPTORS = 5 * CLIENTS_MAX
"""That a daemon needs for so many."""


@pytest.mark.parametrize("processes", [150, pytest.param(1000, marks=FULL)])
def test_many_share_a_file(processes: int, folder: Path) -> None:
    """More than have their logs mapped by each other."""
    program = pooled.program("many.c", "-pthread")
    with pooled.pool(folder) as served:
        said = pooled.run([program, "shared", processes], served.folder, served.environment())
        ensure(said == "read something else: 0\n", said)
        ensure(served.taken() == 4096 * processes, f"{served.taken()} bytes were deposited")


@FULL
def test_more_than_the_pool_has_room_for(folder: Path) -> None:
    """The last ones would neither see deposits nor keep out of their way: everything leaves."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < DESCRIPTORS:
        pytest.skip(f"a daemon of {CLIENTS_MAX} processes needs {DESCRIPTORS} descriptors")
    program = pooled.program("many.c", "-pthread")
    words = [program, "shared", CLIENTS_MAX + 60]
    with pooled.pool(folder) as served:
        said = pooled.run(words, served.folder, served.environment())
        ensure("read something else: 0\n" in said, said[-500:])
        ensure("the daemon has no room for it" in said, said[-500:])
        reasons = {one.reason for one in served.status().files}
        ensure(reasons == {"full"}, f"{reasons}")


# Address space for Python, but not for a log.
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
file = os.open("shared", os.O_RDWR)
print(len(os.read(file, 1 << 20)), os.fstat(file).st_size)
os.pwrite(file, b"limited", 1000)
"""
KEEPER = f"""
import os, subprocess, sys
file = os.open("shared", os.O_RDWR | os.O_CREAT)
os.pwrite(file, b"a" * 100_000, 0)
limited = subprocess.run([sys.executable, "-c", {LIMITED!r}], capture_output=True, text=True)
print(limited.stdout.strip(), "without the pool" in limited.stderr)
os.pwrite(file, b"after", 50_000)
print(os.pread(file, 7, 1000), os.pread(file, 5, 50_000))
"""


def test_a_process_that_cannot_map_the_pool(folder: Path) -> None:
    """It reads what others have deposited, and they read what it writes."""
    with pooled.pool(folder) as served:
        said = pooled.run([sys.executable, "-c", KEEPER], served.folder, served.environment())
        ensure(said == "100000 100000 True\nb'limited' b'after'\n", said)
        ensure(served.taken() > 0, "nothing was deposited")
        reasons = {one.reason for one in served.status().files}
        ensure(reasons == {"unmapped"}, f"{reasons}")
