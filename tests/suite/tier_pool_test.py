"""A pool before a tier: what was synced through both is in the files, whichever of the processes is
killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite.file_systems import until
from suite.on import FULL
from suite.ordinary_user import IS_ROOT
from suite.pool import pool
from suite.tiers import (
    MIB,
    Tier,
    bytes_of,
    check_ledger,
    ledger_writer,
    lines_of,
    status_of,
    stop,
)
from suite.verdict import ensure

SEEDS = 8
COPIER = """
import sys
content = open(sys.argv[1], "rb").read()
with open("x", "wb", buffering=0) as file:
    for at in range(0, len(content), 300_000):
        file.write(content[at : at + 300_000])
"""

pytestmark = mo.needs_mount


@pytest.mark.skipif(not IS_ROOT, reason="only root mounts a tmpfs")
def test_a_full_fast_place_is_no_error(tier: Tier) -> None:
    """The daemon writes to the mount, which goes on with the file itself."""
    content = bytes_of(20 * MIB)
    (tier.root / "given").write_bytes(content)
    words = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "none", str(tier.fast)]
    subprocess.run(words, check=True)
    try:
        with tier.started("write move=job") as mount, pool(tier.folder) as before:
            mount.run(sys.executable, "-c", COPIER, "../given", environment=before.environment())
            ensure(before.taken() == len(content), "it did not go through the pool")
            before.stop()
            ensure(status_of(tier.folder)["given_up"] > 0, "the fast place was not full")
            ensure((tier.folder / "x").read_bytes() == content, "its bytes meanwhile")
            stop(mount)
    finally:
        subprocess.run(["umount", "-l", tier.fast], check=True)
    ensure((tier.folder / "x").read_bytes() == content, "its bytes afterwards")


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=FULL) for one in range(1, SEEDS))])
@pytest.mark.parametrize("killed", ["writer", "daemon", "mount"])
def test_a_kill_loses_nothing_that_was_synced(tier: Tier, killed: str, seed: int) -> None:
    ledger = tier.root / "ledger"
    policy = "write" if seed % 2 else "write move=job"
    with tier.started(policy) as mount, pool(tier.folder) as before:
        through = {**m.clean_environment(), **before.environment()}
        words = (str(seed), "synced")
        with ledger_writer(tier.folder, ledger, *words, environment=through) as writer:
            lines = random.Random(seed).randrange(3, 30)
            ensure(
                until(lambda: lines_of(ledger) >= lines, mo.SECONDS_MAX),
                "the writer does not get on",
            )
            ensure(before.taken() > 0, "nothing went through the pool")
            ensure(status_of(tier.folder)["made"] > 0, "nothing came to the tier")
            victims = {
                "writer": writer.pid,
                "daemon": before.process.pid,
                "mount": mount.process.pid,
            }
            os.kill(victims[killed], signal.SIGKILL)
        if killed == "mount":
            mount.process.wait()
            mo.until_unmounted(tier.folder)
            before.end()
            tier.tool("finish", str(tier.fast), str(tier.folder))
        else:
            before.process.terminate()
            before.process.wait(mo.SECONDS_MAX)
            stop(mount)
    ensure(not tier.rescued(), "something was rescued, though nobody else wrote")
    check_ledger(ledger, tier.folder)
