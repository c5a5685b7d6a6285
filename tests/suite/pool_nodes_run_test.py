"""Tests `forebay run` with a daemon on each of two nodes: signals, and files that went past the
pools."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from suite import mpi as m
from suite.command import FOREBAY
from suite.file_systems import until
from suite.pool_job_test import ENVIRONMENT, MIB, ROOT_ONLY, two_nodes
from suite.pooled import run
from suite.verdict import ensure

# Both have one file open at a time, and write to it.
BOTH = """
import os, time
rank = int(os.environ["SLURM_PROCID"])
fd = os.open("both", os.O_CREAT | os.O_RDWR)
open(f"../opened-{rank}", "w").close()
while not os.path.exists(f"../opened-{1 - rank}"):
    time.sleep(0.01)
os.pwrite(fd, bytes([rank + 1]) * 1000, rank * 1000)
open(f"../wrote-{rank}", "w").close()
while not os.path.exists(f"../wrote-{1 - rank}"):
    time.sleep(0.01)
os.close(fd)
"""


@ROOT_ONLY
def test_the_summary_says_that_several_nodes_had_a_file_open(folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(BOTH)
    with two_nodes(folder) as launcher:
        words = ["run", "--pool", work, "--set", "pool_nodes=2"]
        words += ["--set", f"pool_starter={launcher}", "--set", "pool_quiet=60000", "--"]
        text = run([*FOREBAY, *words, launcher, sys.executable, folder / "program.py"], work,
                   ENVIRONMENT)  # fmt: skip
    said = " ".join(text.split())
    ensure("several nodes had it open, and one of them wrote" in said and "/both" in said, text)
    ensure((work / "both").read_bytes() == b"\1" * 1000 + b"\2" * 1000, "other bytes")


# Writes, waits until it may go on, and writes again; says each time how large the file is then.
TWICE = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
rank = os.environ["SLURM_PROCID"]
fd = os.open(f"own-{rank}", os.O_CREAT | os.O_RDWR)
for part in (1, 2):
    os.write(fd, bytes([part]) * 1048576)
    open(f"../wrote-{rank}-{part}", "w").close()
    while not os.path.exists(f"../go-{part}"):
        time.sleep(0.01)
"""


@ROOT_ONLY
def test_after_sigterm_both_daemons_drain_and_write_through(folder: Path) -> None:
    work, out = folder / "work", folder / "out"
    work.mkdir()
    (folder / "program.py").write_text(TWICE)

    def sizes() -> list[int]:
        return [(work / f"own-{rank}").stat().st_size for rank in (0, 1)]

    def have_written(part: int) -> bool:
        return all((folder / f"wrote-{rank}-{part}").exists() for rank in (0, 1))

    with two_nodes(folder) as launcher, out.open("w") as said:
        words = ["run", "--pool", work, "--set", "pool_nodes=2", "--set", "pool_quiet=60000"]
        words += ["--set", f"pool_starter={launcher}", "--set", "pool_age=3600", "--", launcher]
        process = subprocess.Popen(
            [str(word) for word in (*FOREBAY, *words, sys.executable, folder / "program.py")],
            cwd=work,
            env={**m.clean_environment(), **ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        try:
            ensure(until(lambda: have_written(1), 180), out.read_text())
            ensure(sizes() == [0, 0], "it was written at once")
            os.kill(process.pid, signal.SIGTERM)
            ensure(until(lambda: sizes() == [MIB, MIB], 120), f"not drained: {sizes()}")
            (folder / "go-1").touch()
            ensure(until(lambda: have_written(2), 120), out.read_text())
            ensure(sizes() == [2 * MIB, 2 * MIB], f"not written through: {sizes()}")
            (folder / "go-2").touch()
            status = process.wait(60)
        finally:
            for part in (1, 2):
                (folder / f"go-{part}").touch()
            process.terminate()
            process.wait(60)
    text = out.read_text()
    ensure(status == 0, text)
    ensure("the pool took nothing more, since the job was to end" in " ".join(text.split()), text)
