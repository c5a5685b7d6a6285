"""Tests what forebay-hpio and forebay-meta do where the system fails them or gives them more than
they asked for."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite.bench_tools_test import INPUT_OUTPUT, PATIENCE, program
from suite.file_systems import until
from suite.on import BENCHMARK
from suite.verdict import ensure

NO_WRITES = """
#include <sys/types.h>
#include <sys/uio.h>
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at) { return 0; }
ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at) { return 0; }
ssize_t write(int fd, const void *data, size_t bytes) {
    const struct iovec one = {(void *)data, bytes};
    return bytes == 4321 ? 0 : writev(fd, &one, 1);
}
"""
"""Some file systems in user space take no byte of a write, and report no error."""


@BENCHMARK
@pytest.mark.parametrize(
    "line",
    [
        "hpio -n 0001 -m 001 -O 10 -f 0 -c 1k -s 8 -v 0",
        "hpio -n 0001 -m 001 -O 01 -f 0 -c 1k -s 8 -v 0",
        "meta -n 1 -F -w 4321",
    ],
    ids=["write", "fill", "meta"],
)
def test_a_write_that_takes_nothing_is_an_error(mpi: m.Mpi, line: str, folder: Path) -> None:
    """HPIO's writes were said to have found a shorter file; the others were repeated forever."""
    shim = m.shim(mpi, folder / "none.c", NO_WRITES)
    tool, *words = line.split()
    (folder / "md").mkdir()
    ended = m.run(
        *(mpi, 1, [program(mpi, tool), *words, "-d", folder / "md"]),
        environment={"LD_PRELOAD": str(shim)},
        seconds_max=PATIENCE,
    )
    ensure(not ended.late and ended.status == INPUT_OUTPUT, f"{ended.status}: {ended.tail}")
    ensure("bytes were taken" in ended.text and "shorter" not in ended.text, ended.tail)


INHERITS = """
import fcntl, os, sys
fcntl.fcntl(os.open(sys.argv[1], os.O_RDONLY), fcntl.F_DUPFD, 1500)
os.execv(sys.argv[2], sys.argv[2:])
"""
NO_CLOSE_RANGE = """
#include <errno.h>
int close_range(unsigned first, unsigned last, int flags) { errno = ENOSYS; return -1; }
"""


@BENCHMARK
@pytest.mark.parametrize("kernel", ["new", "old"])
def test_a_janitor_keeps_nothing_open(mpi: m.Mpi, kernel: str, folder: Path) -> None:
    """It closed descriptors up to 1023 only: a launcher that waits for the end of another one
    would have waited for the janitor, too."""
    shim = m.shim(mpi, folder / "old.c", NO_CLOSE_RANGE)
    (folder / "md").mkdir()
    words = [str(program(mpi, "meta")), *"-n 1000000 -F -w 1 -d md".split()]
    start = [sys.executable, "-c", INHERITS, folder, *words]
    more = {"LD_PRELOAD": str(shim)} if kernel == "old" else {}
    with (
        (folder / "out").open("w") as out,
        m.started(start, out, environment=more, folder=folder) as process,
    ):
        begun = until(lambda: any((folder / "md").rglob("*")), 60)
        ensure(begun and Path(f"/proc/{process.pid}/fd/1500").exists(), "nothing was begun")
        alone = until(lambda: _open_in_janitor(process.pid, words) == ["pipe"], 60)
        ensure(alone, f"also open: {_open_in_janitor(process.pid, words)}")
        # By a signal that it cannot catch: its own end would first remove all that it has made.
        process.kill()
        process.wait(PATIENCE)


def _open_in_janitor(rank: int, words: Sequence[str]) -> list[str]:
    """The kinds of what it has open. A janitor has the words of the rank that is its parent."""
    wanted = "\0".join(words).encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == rank and (entry / "cmdline").read_bytes().startswith(wanted):
                links = [str(link.readlink()) for link in (entry / "fd").iterdir()]
                found += [link.partition(":")[0] for link in links]
    return found
