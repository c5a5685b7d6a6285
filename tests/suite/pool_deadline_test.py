"""The pool takes nothing more when the batch job will end: what it has arrives, and so does what is
written then."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from suite.file_systems import until
from suite.pool_run_test import KEPT, MIB, content, run_json, started, writer
from suite.verdict import ensure

ENDED = "1000000000"  # 2001
CLOSED = "the pool took nothing more, since the job was to end"

# Writes 16 blocks of 64 KiB, waits for a line, writes 16 more.
CHECKPOINTS = """
import os, signal, sys
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
for number in range(32):
    if number == 16:
        print("written", flush=True)
        sys.stdin.readline()
    os.write(file, bytes([number % 251]) * 65536)
os.close(file)
"""


def test_a_signal_that_the_job_ends_drains_the_pool_while_the_program_goes_on(folder: Path) -> None:
    out = folder / "out"
    words: list[str | Path] = [*KEPT, "--pool", ".", "--", sys.executable, "-c", CHECKPOINTS, out]
    with started(folder, *words) as process:
        ensure(out.stat().st_size == 0, "it was drained before")
        process.send_signal(signal.SIGUSR1)
        ensure(until(lambda: out.stat().st_size == MIB, 120), "it is not drained")
        _, told = process.communicate("\n", timeout=180)
    ensure(process.returncode == 0, told)
    ensure(CLOSED in told and "through the pool: 1.00 MiB" in told, told)
    ensure(out.read_bytes() == content(32), "other bytes")


def test_what_slurm_says_of_the_jobs_end_is_heard(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_END_TIME", ENDED)
    status, _, told = run_json(folder, "--pool", ".", "--", *writer(folder / "out", 16))
    (file,) = told["pool"]["files"]
    ensure((status, file["taken"], file["reason"]) == (0, 0, "job_ends"), file)
    ensure(any("batch job will end" in text for text in told["pool"]["messages"]), told)
    ensure((folder / "out").read_bytes() == content(16), "other bytes")


def test_the_end_of_the_job_may_be_told_or_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_end = ("--set", f"pool_job_end={ENDED}")
    _, _, told = run_json(folder, *told_end, "--pool", ".", "--", *writer(folder / "out", 16))
    ensure(told["pool"]["taken"] == 0, told)
    monkeypatch.setenv("SLURM_JOB_END_TIME", ENDED)
    alone = ("--set", "pool_deadline=0")
    _, _, told = run_json(folder, *alone, "--pool", ".", "--", *writer(folder / "out", 16))
    ensure(told["pool"]["taken"] == MIB, told)
