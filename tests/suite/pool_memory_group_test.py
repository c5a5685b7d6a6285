"""The pool in a control group that allows less memory than the pool of a whole node has."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import pooled
from suite.command import FOREBAY, environment
from suite.verdict import ensure

MIB = 1 << 20
LIMIT = 120 * MIB
WRITER = """
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for number in range(400):
    os.pwrite(file, bytes([number % 251]) * 1_000_000, number * 1_000_000)
os.close(file)
print("done")
"""


def _own_group() -> Path | None:
    """The folder of our own group, if it is one of the memory controller."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, name = line.split(":", 2)
        for root in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
            folder = Path(root + name)
            one = "memory" in controllers.split(",") and (folder / "memory.limit_in_bytes").exists()
            two = not controllers and (folder / "memory.max").exists()
            if one or two:
                return folder
    return None


@contextlib.contextmanager
def memory_group(limit: int) -> Iterator[Path]:
    """A group below our own that allows so much; who writes its process number there is in it."""
    own = _own_group()
    folder = own / f"forebay-test-{os.getpid()}" if own else None
    file = (
        "memory.limit_in_bytes"
        if own and (own / "memory.limit_in_bytes").exists()
        else "memory.max"
    )
    try:
        if folder is None:
            pytest.skip("no control group counts our memory")
        folder.mkdir()
        (folder / file).write_text(str(limit))
    except OSError as error:
        pytest.skip(f"cannot make a control group ({error}). Be root.")
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def test_a_group_of_120_mib_is_not_filled_by_the_pool(folder: Path) -> None:
    """The cap was a tenth of the node's memory, and the program was killed."""
    with memory_group(LIMIT) as group:
        below = folder / "below"
        below.mkdir()
        words = [
            *FOREBAY, "run", "--pool", below, "--format", "json", "--summary", folder / "s.json",
            "--", sys.executable, "-c", WRITER, below / "f",
        ]  # fmt: skip
        inside = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *words]
        said = pooled.run(inside, folder, environment(), status=None)
        ensure("done" in said, f"the program did not come to its end:\n{said}")
        told = json.loads((folder / "s.json").read_text())
        ensure(told["status"] == 0, said)
        pool = told["pool"]
        ensure(pool["arrived"] and pool["taken"] == 400_000_000, pool)
        ensure(0 < pool["cap"] <= LIMIT // 4, pool)
        ensure(pool["memory"] == LIMIT and str(group) in pool["memory_limit_file"], pool)
        whole = (below / "f").read_bytes()
        ensure(whole == b"".join(bytes([n % 251]) * 1_000_000 for n in range(400)), "other bytes")
