"""`forebay run --pool` on several nodes: a daemon on each of them, started by the launcher. Mount
namespaces stand for nodes: each has a /tmp of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import until
from suite.pooled import run
from suite.verdict import ensure

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")

# As srun does: a task on each node, standard input for all, and all their output together. Options
# are not looked at.
LAUNCHER = """#!{python}
import os, subprocess, sys, threading
nodes = {nodes}
words = [word for word in sys.argv[1:]]
while words and words[0].startswith("-"):
    words.pop(0)
tasks = [
    subprocess.Popen(
        ["nsenter", "-m", "-t", str(node), "env", "-C", os.getcwd(), f"SLURM_PROCID={{number}}", *words],
        stdin=subprocess.PIPE, start_new_session=True,
    )
    for number, node in enumerate(nodes)
]
def pass_on():
    while part := os.read(0, 1 << 16):
        for task in tasks:
            task.stdin.write(part)
            task.stdin.flush()
    for task in tasks:
        task.stdin.close()
threading.Thread(target=pass_on, daemon=True).start()
sys.exit(max(task.wait() for task in tasks))
"""

# Rank 0 writes a file and closes it, rank 1 reads it; both write one of their own.
PROGRAM = """
import os, sys, time
rank = int(os.environ["SLURM_PROCID"])
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)
with open(f"own-{rank}", "wb", buffering=0) as file:
    file.write(bytes([rank]) * 1_000_000)
if rank == 0:
    with open("shared", "wb", buffering=0) as file:
        file.write(b"from 0" * 1000)
    os.mkdir("written")
if rank == 1:
    wait_for("written")
    with open("shared", "rb", buffering=0) as file:
        read = file.read(100_000)
    with open("seen", "wb", buffering=0) as file:
        file.write(read)
"""


@contextlib.contextmanager
def two_nodes(folder: Path) -> Iterator[Path]:
    """A launcher for them."""
    hold = "mount --make-rprivate / && mount -t tmpfs none /tmp && touch /tmp/up && exec sleep 600"
    with contextlib.ExitStack() as stack:
        nodes = []
        for _ in range(2):
            node = subprocess.Popen(["unshare", "-m", "sh", "-c", hold])
            stack.callback(node.wait)
            stack.callback(node.kill)
            nodes.append(node.pid)
        up = [Path(f"/proc/{node}/root/tmp/up") for node in nodes]
        ensure(until(lambda: all(one.exists() for one in up), 20), "no namespaces")
        launcher = folder / "srun-nodes"
        launcher.write_text(LAUNCHER.format(python=sys.executable, nodes=nodes))
        launcher.chmod(0o755)
        yield launcher


def test_a_job_on_two_nodes(folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    # A virtual environment of a test may lie below /tmp, which nodes have of their own.
    with two_nodes(folder) as launcher:
        text = run(
            [
                *(
                    sys.executable,
                    m.ROOT / "python" / "forebay",
                    "run",
                    "--pool",
                    work,
                    "--format",
                    "json",
                ),
                *("--set", "pool_nodes=2", "--set", f"pool_starter={launcher}"),
                *("--set", "pool_quiet=60000"),
                *("--", launcher, sys.executable, folder / "program.py"),
            ],
            work,
            {"FOREBAY_LIBDIR": str(m.LIBRARIES), "PYTHONPATH": str(m.ROOT / "python")},
        )
        report = json.loads(text.splitlines()[-1])
    ensure((work / "seen").read_bytes() == b"from 0" * 1000, "rank 1 saw other bytes")
    for rank in (0, 1):
        ensure((work / f"own-{rank}").read_bytes() == bytes([rank]) * 1_000_000, f"rank {rank}")
    taken = {Path(file["path"]).name: file["taken"] for file in report["pool"]["files"]}
    ensure(taken.get("own-0") == taken.get("own-1") == 1_000_000, f"{taken}")
