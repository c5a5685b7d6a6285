"""A program, the mount and the daemon in one control group that is at its limit of memory. (What is
not tried: a mapping, see docs/internals/mount.md, "Memory that is short".)"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import pooled
from suite.command import FOREBAY, environment
from suite.on import FULL
from suite.pool_memory_group_test import memory_group
from suite.verdict import ensure

MIB = 1 << 20
LIMIT = 120 * MIB
# So many MiB, again and again.
WRITER = """
import os, sys
MIB = 1 << 20
rounds, amount = int(sys.argv[1]), int(sys.argv[2])
for one in range(rounds):
    blocks = [bytes([(one + number) % 251]) * MIB for number in range(4)]
    file = os.open("f", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    for number in range(amount):
        os.write(file, blocks[number % 4])
    for number in range(amount):
        assert os.pread(file, MIB, number * MIB) == blocks[number % 4], (one, number)
    os.close(file)
print("done")
"""


@pytest.mark.skipif(
    not mo.can_mount(), reason="no forebay-mount, or no right to /dev/fuse. Build it; be root."
)
@pytest.mark.parametrize(
    ("rounds", "amount"), [(3, 128), pytest.param(100, 512, marks=FULL)], ids=["few", "many"]
)
def test_a_group_at_its_limit_writes_through_the_mount(
    rounds: int, amount: int, folder: Path
) -> None:
    below, summary = folder / "below", folder / "summary.json"
    below.mkdir()
    with memory_group(LIMIT) as group:
        words = [
            *FOREBAY, "run", "--pool", below, "--set", "pool_mount=require", "--format", "json",
            "--summary", summary, "--", sys.executable, "-c", WRITER, rounds, amount,
        ]  # fmt: skip
        inside = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && cd {below} && exec "$@"', "sh"]
        said = pooled.run(
            [*inside, *words], folder, environment(), seconds_max=300 + 30 * rounds, status=None
        )
        ensure("done" in said, f"the program did not come to its end:\n{said}")
        told = json.loads(summary.read_text())
        ensure(told["status"] == 0 and told["pool"]["arrived"], said)
        ensure(told["pool"]["taken"] >= rounds * amount * MIB, told["pool"])
    blocks = b"".join(bytes([(rounds - 1 + number) % 251]) * MIB for number in range(4))
    ensure((below / "f").read_bytes() == blocks * (amount // 4), "other bytes")
