"""A file system whose files have been closed can be unmounted, and made read-only, at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled
from suite.file_systems import until
from suite.on import FULL
from suite.verdict import ensure

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts. Run as root.")
WRITES = "import sys; open(sys.argv[1], 'wb').write(b'x' * 100_000)"
TURNS = 5
SOON_SECONDS = 0.5
"""docs/internals/posix.md says a tenth; the tests have two cores for themselves and others."""


@needs_root
def test_a_file_system_is_not_busy_behind_the_last_close(folder: Path) -> None:
    """The daemon had files open that it was still to drain: EBUSY."""
    pooled.Twice(command=[pooled.program("mounts.c")]).ensure_same(folder)


@FULL  # by a clock
@needs_root
def test_another_program_unmounts_it_soon_behind_the_last_byte(folder: Path) -> None:
    """A `umount` that nobody captures has no one to wait for it: the daemon lets go by itself."""
    seconds = []
    with pooled.pool(folder, {}) as served:
        there = served.folder / "there"
        there.mkdir()
        for turn in range(TURNS):
            subprocess.run(["mount", "-t", "tmpfs", "forebay-test", there], check=True)
            try:
                words = [sys.executable, "-c", WRITES, there / "file"]
                pooled.run(words, folder, served.environment())
                begin = time.monotonic()
            finally:
                ensure(until(lambda: _unmounts(there), 30 * m.SLOWER), "it stays busy")
            seconds.append(time.monotonic() - begin)
            ensure(served.taken() == (turn + 1) * 100_000, "it was not deposited")
    # Another process may have had the processor meanwhile.
    ensure(min(seconds) < SOON_SECONDS * m.SLOWER, f"seconds: {seconds}")


def _unmounts(folder: Path) -> bool:
    return subprocess.run(["umount", folder], capture_output=True, check=False).returncode == 0
