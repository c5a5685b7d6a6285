"""The record of a run with a daemon on each of two nodes, and the report of it: what both pools
took over time, and what the node did whose processes waited longest."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

from suite.command import FOREBAY
from suite.pool_job_test import ENVIRONMENT, MIB, ROOT_ONLY, two_nodes
from suite.pooled import run
from suite.verdict import ensure

STEPS, INTERVAL = 6, 0.3
# Each rank writes a step every INTERVAL seconds, rank 1 three times as much, and each of its steps
# waits for the file system.
PROGRAM = f"""
import os, time
rank = int(os.environ["SLURM_PROCID"])
fd = os.open(f"own-{{rank}}", os.O_CREAT | os.O_RDWR)
begin = time.monotonic()
for step in range({STEPS}):
    os.write(fd, bytes({MIB} * (1 + 2 * rank)))
    if rank == 1:
        os.fsync(fd)
    time.sleep(max(0, begin + {INTERVAL} * (step + 1) - time.monotonic()))
"""


@ROOT_ONLY
def test_the_record_has_what_the_pools_of_both_nodes_did_over_time(folder: Path) -> None:
    work, record = folder / "work", folder / "run.jsonl"
    work.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    with two_nodes(folder) as launcher:
        words = ["run", "--pool", work, "--record", record, "--set", "pool_nodes=2"]
        words += ["--set", f"pool_starter={launcher}", "--", launcher]
        run([*FOREBAY, *words, sys.executable, folder / "program.py"], work, ENVIRONMENT)
    (line,) = (json.loads(text) for text in record.read_text().splitlines())
    pool = line["pool"]
    ensure(pool["nodes"] == 2, f"{pool['nodes']} nodes")

    samples, whole = pool["samples"], 4 * STEPS * MIB
    ensure(all(a["seconds"] < b["seconds"] for a, b in pairwise(samples)), f"{samples}")
    taken = [one["taken"] for one in samples]
    ensure(taken == sorted(taken) and taken[0] == 0 and taken[-1] == whole, f"{taken}")
    ensure(len({one for one in taken if 0 < one < whole}) >= 2, f"no course: {taken}")
    ensure(samples[-1]["stored"] == whole and samples[-1]["outstanding"] == 0, f"{samples[-1]}")
    ensure(samples[-1]["seconds"] < line["seconds"] + pool["drain_seconds"] + 1, "another clock")

    node = pool["most_waited"]
    ensure(node["taken"] == 3 * STEPS * MIB, f"another node: {node}")
    ensure(node["samples"][-1]["taken"] == node["taken"], f"{node['samples'][-1]}")
    waited = sum(one["waited_seconds"] for one in pool["files"])
    ensure(0 < node["waited_seconds"] <= waited + 1e-6, f"{node['waited_seconds']} of {waited}")

    text = run([*FOREBAY, "report", record], work, ENVIRONMENT)
    ensure("24.0 MiB taken on 2 nodes" in text, text)
    ensure("through the pools of 2 nodes, in 40 columns" in text, text)
    ensure(f"through the pool of {node['host']}, the node that waited longest" in text, text)
    told = json.loads(run([*FOREBAY, "report", "--format", "json", record], work, ENVIRONMENT))
    ensure(told["pools"][0]["most_waited"] == node, f"{told['pools']}")
