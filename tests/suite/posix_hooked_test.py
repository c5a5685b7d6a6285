"""Libraries that stand for libc's functions, and make the calls by number."""

from __future__ import annotations

import sys
from pathlib import Path

from suite import pooled
from suite.verdict import ensure

MAPS = """
import mmap, os
fd = os.open("file", os.O_RDWR | os.O_CREAT)
os.write(fd, b"before" * 1000)
with mmap.mmap(fd, 0) as memory:
    memory[:6] = b"behind"
    print(memory[:12].decode())
"""


def test_a_library_that_maps_memory_by_number(folder: Path) -> None:
    """UCX's memory hooks called our function, which called theirs, until the stack was full: every
    program of MPICH 5 and Open MPI 5 crashed in MPI_Init."""
    library = pooled.library("hooked_mapping.c")
    with pooled.pool(folder) as served:
        environment = served.environment(behind=str(library))
        said = pooled.run([sys.executable, "-c", MAPS], served.folder, environment)
        ensure(said.split() == ["behindbefore"], said)
        ensure([file.reason for file in served.status().files] == ["mapped"], "it did not leave")
    ensure((folder / "pool" / "file").read_bytes()[:12] == b"behindbefore", "other bytes")
