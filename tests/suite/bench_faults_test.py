"""What forebay-hpio and forebay-meta do where the system fails them or gives them more than they
asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import mpi as m
from suite.bench_tools_test import INPUT_OUTPUT, PATIENCE, program
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
