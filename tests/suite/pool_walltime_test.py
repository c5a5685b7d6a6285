"""A batch system ends a job while its pool is drained: SIGTERM, and SIGKILL to all of it a while
later."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from suite import mpi as m
from suite.command import FOREBAY, environment
from suite.file_systems import served_file_system, until
from suite.pool_run_test import KEPT, MIB, content, run_json, writer
from suite.verdict import ensure

SLOW = ("0", str(4 * MIB))
"""Latency and bytes a second of slow_fs."""
BLOCKS = 512


def descendants(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(below for child in children for below in descendants(int(child)))]


def test_a_journal_has_what_a_walltime_kill_left_undrained(folder: Path) -> None:
    with served_file_system(folder, "slow_fs.c", *SLOW) as (mount, _):
        out = mount / "out"
        journal = ("--set", "pool_durability=node", "--set", f"pool_journal={folder / 'journal'}")
        small = ("--set", "request_bytes_max=1MiB")  # none takes long beyond the daemon's death
        words = [*KEPT, *journal, *small, "--pool", str(mount)]
        process = subprocess.Popen(
            [*FOREBAY, "run", *words, "--", *writer(out, BLOCKS)],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        taken = process.stdout.readline() if process.stdout else ""
        ensure(taken == f"{BLOCKS << 16}\n", f"the program has not written all: {taken}")
        drains = until(lambda: out.exists() and 0 < out.stat().st_size < BLOCKS << 16, 180)
        ensure(drains, "nothing is drained")
        all_of_it = descendants(process.pid)
        ensure(any(_is_daemon(one) for one in all_of_it), "the daemon is no child")
        for sent in (signal.SIGTERM, signal.SIGKILL):
            for one in all_of_it:
                with contextlib.suppress(ProcessLookupError):  # it has ended by the first
                    os.kill(one, sent)
        process.communicate(timeout=180)
        ensure(out.read_bytes() != content(BLOCKS), "all was drained: nothing is tested")
        status, _, told = run_json(folder, *words, "--", "true")
        ensure(status == 0, f"{told}")
        ensure(out.read_bytes() == content(BLOCKS), f"bytes are missing: {told['pool']}")
        said = f"{told['pool']['messages']}"
        ensure(f"bytes of {out}" in said, said)


def _is_daemon(process: int) -> bool:
    return Path(f"/proc/{process}/exe").resolve() == (m.LIBRARIES / "forebayd").resolve()
