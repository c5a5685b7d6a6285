"""The pool ends, or a file leaves it, while a program is suspended; programs outlive the pool."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from suite import mpi as m
from suite import pooled
from suite.verdict import ensure

BYTES = 777_777  # no other copy has as many
WRITER = f"""
import os
fd = os.open("file", os.O_RDWR | os.O_CREAT)
os.pwrite(fd, b"before", 0)
print(os.pwrite(fd, b"x" * {BYTES}, 100))
"""
MAPPER = """
import mmap, os
fd = os.open("file", os.O_RDWR)
print(mmap.mmap(fd, 6)[:6].decode())
"""
# It is told by a file, when the pool has ended, to write by a descriptor that it inherited.
OUTLIVES = """
import os, sys, time
fd = os.open("file", os.O_RDWR | os.O_CREAT)
os.write(fd, b"parent ")
if os.fork():
    sys.exit(0)
null = os.open(os.devnull, os.O_WRONLY)
os.dup2(null, 1)
os.dup2(null, 2)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
os.write(fd, b"child")
os.fsync(fd)
open(sys.argv[2], "w").close()
"""


def _until(happened: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + pooled.SECONDS_MAX
    while not happened():
        ensure(time.monotonic() < deadline, f"waited in vain until {what}")
        time.sleep(0.01)


def _stopped(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def _suspended_writer(served: pooled.Pool) -> subprocess.Popen[str]:
    library = pooled.library("stop_in_copy.c", "-fno-builtin")
    environment = served.environment(behind=str(library))
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER],
        cwd=served.folder,
        env={**m.clean_environment(), **environment, "COPY_STOPS": str(BYTES)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    _until(lambda: _stopped(process.pid), "the writer stops in its copy")
    return process


def _goes_on(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGCONT)
    said, _ = process.communicate(timeout=pooled.SECONDS_MAX)
    ensure(said.split() == [str(BYTES)], f"it says {said!r}")


def _ensure_all(file: Path) -> None:
    found = file.read_bytes()
    ensure(found[:6] == b"before", "what was written before is not there")
    ensure(found[100:] == b"x" * BYTES, "what was acknowledged is not there")


def test_a_writer_that_is_suspended_in_its_copy_while_the_pool_stops(folder: Path) -> None:
    """Its write was not acknowledged, so the pool ends; then it writes to the file itself."""
    with pooled.pool(folder) as served:
        process = _suspended_writer(served)
        ensure(served.end() == 0, "it did not end well")
        said = served.said.read_text()
        ensure(f"process {process.pid} was in the middle of a write of {BYTES} bytes" in said, said)
        _goes_on(process)
    _ensure_all(folder / "pool" / "file")


def test_a_suspended_writer_keeps_nobody_from_mapping_its_file(folder: Path) -> None:
    with pooled.pool(folder) as served:
        process = _suspended_writer(served)
        mapped = pooled.run([sys.executable, "-c", MAPPER], served.folder, served.environment())
        ensure(mapped.split() == ["before"], mapped)
        ensure(_stopped(process.pid), "it went on")
        _goes_on(process)
    _ensure_all(folder / "pool" / "file")


def test_a_process_that_outlives_the_pool_has_plain_files(folder: Path) -> None:
    go, done = folder / "go", folder / "done"
    with pooled.pool(folder) as served:
        pooled.run([sys.executable, "-c", OUTLIVES, go, done], served.folder, served.environment())
        ensure(served.end() == 0, "it did not end well")
        go.touch()
        _until(done.exists, "the child has written")
    ensure((folder / "pool" / "file").read_bytes() == b"parent child", "the child's is lost")
