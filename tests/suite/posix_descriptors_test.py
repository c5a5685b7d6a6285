"""More files than the daemon may have open: those beyond are plain files, and the pool goes on."""

from __future__ import annotations

import sys
from pathlib import Path

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
