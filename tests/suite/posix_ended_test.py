"""Calls in whose middle a daemon ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled
from suite.conversation import conversation, opened
from suite.file_systems import until
from suite.pool import Pool
from suite.verdict import ensure

BYTES = 5000
LOOKS = """
import errno, os
os.stat({first!r})
try:
    print(os.stat("stops").st_size)
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def _is_stopped(process: int) -> bool:
    fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
    return fields[0] == "T"


def _length(folder: Path, first: str, end: Callable[[Pool], None]) -> str:
    """The length of a file with deposits, as stat says it if the daemon ends after the kernel was
    asked. The program looks at `first` before."""
    library = pooled.library("stops_in_stat.c")
    with pooled.pool(folder) as one:
        with conversation(one) as writer:
            for name in ("other", "stops"):
                fd = opened(writer, one.folder / name)
                ensure(writer.ask(f"os.write({fd}, b'x' * {BYTES})") == str(BYTES), "fell short")
        with subprocess.Popen(
            [sys.executable, "-c", LOOKS.format(first=first)],
            cwd=one.folder,
            env={**m.clean_environment(), **one.environment(behind=str(library))},
            stdout=subprocess.PIPE,
            text=True,
        ) as program:
            try:
                ensure(until(lambda: _is_stopped(program.pid), 100), "it does not stop")
                end(one)
            finally:
                os.kill(program.pid, signal.SIGCONT)
            said, _ = program.communicate(timeout=pooled.SECONDS_MAX)
    return said.strip()


@pytest.mark.parametrize("first", ["other", "/"], ids=["connected", "not-connected"])
def test_stat_does_not_say_the_length_from_before_the_end(first: str, folder: Path) -> None:
    """The file system had been asked before the file was drained, and nobody asked it again."""
    said = _length(folder, first, Pool.stop)
    ensure(said == str(BYTES), f"its length is {said}")


def test_stat_does_not_say_the_length_below_if_the_daemon_dies_in_its_middle(folder: Path) -> None:
    said = _length(folder, "other", Pool.kill)
    ensure(said == "EIO", f"its length is {said}")
