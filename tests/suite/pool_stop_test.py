"""The pool ends, or a file leaves it, while a program is suspended; programs outlive the pool."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled
from suite.verdict import ensure

BYTES = 777_777  # no other copy has as many
WRITER = f"""
import os
fd = os.open("file", os.O_RDWR | os.O_CREAT, 0o755)
os.pwrite(fd, b"before", 0)
print(os.pwrite(fd, b"x" * {BYTES}, 100))
"""
# Code by which another process uses the file meanwhile, its output, and what it leaves behind.
MEANWHILE = {
    "maps": (
        "import mmap, os; print(mmap.mmap(os.open('file', os.O_RDWR), 6)[:6].decode())",
        "before",
        b"",
    ),
    "appends": (
        "import os; print(os.write(os.open('file', os.O_WRONLY | os.O_APPEND), b' and behind'))",
        "11",
        b" and behind",
    ),
    # As plain: it is open for writing.
    "runs": (
        "import os, sys\n"
        "try: os.execv('./file', ['file'])\n"
        "except OSError as error: print(error.strerror)",
        "Text file busy",
        b"",
    ),
}
PATIENCE_SECONDS = 10
"""It was 15 s and more."""
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


@pytest.mark.parametrize("way", MEANWHILE)
def test_a_suspended_writer_keeps_nobody_from_its_file(way: str, folder: Path) -> None:
    """Whoever maps it, appends to it, or runs it, waited until the writer went on."""
    code, expected, left = MEANWHILE[way]
    with pooled.pool(folder) as served:
        process = _suspended_writer(served)
        words = [sys.executable, "-c", code]
        environment = served.environment()
        said = pooled.run(words, served.folder, environment, seconds_max=PATIENCE_SECONDS)
        ensure(said.strip() == expected, said)
        ensure(_stopped(process.pid), "it went on")
        _goes_on(process)
    _ensure_all(folder / "pool" / "file")
    found = (folder / "pool" / "file").read_bytes()
    ensure(found[6:100].rstrip(b"\0") == left, f"what was appended is {found[6:100]!r}")


def test_a_process_that_outlives_the_pool_has_plain_files(folder: Path) -> None:
    go, done = folder / "go", folder / "done"
    with pooled.pool(folder) as served:
        pooled.run([sys.executable, "-c", OUTLIVES, go, done], served.folder, served.environment())
        ensure(served.end() == 0, "it did not end well")
        go.touch()
        _until(done.exists, "the child has written")
    ensure((folder / "pool" / "file").read_bytes() == b"parent child", "the child's is lost")
