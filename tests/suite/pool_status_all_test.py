"""`forebay pool status` of all daemons of a user: on one node, and on all nodes of a job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from suite.command import FOREBAY, forebay
from suite.pool_job_test import ENVIRONMENT, ROOT_ONLY, two_nodes
from suite.pooled import pool, run
from suite.verdict import ensure


def statuses(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if line["schema"] == "forebay.pool/1"]


def test_all_daemons_of_a_node_are_shown(folder: Path) -> None:
    """Other tests may have some, too."""
    with pool(folder / "a") as one, pool(folder / "b") as other:
        done = forebay("pool", "status", "--all", "--format", "json", cwd=folder)
        found = {status["process"] for status in statuses(done.stdout)}
        ensure({one.process.pid, other.process.pid} <= found, f"{found}\n{done.stderr}")
        said = forebay("pool", "status", "--all", cwd=folder).stdout
        for here in (one, other):
            ensure(f"daemon {here.process.pid} at {here.socket}, up" in said, said)


def test_nodes_that_are_not_known_are_a_usage_error(folder: Path) -> None:
    done = forebay("pool", "status", "--all-nodes", cwd=folder)
    ensure(done.returncode == 2 and "pool_starter are not set" in done.stderr, done.stderr)
    nodes = {"FOREBAY_POOL_NODES": "2", "FOREBAY_POOL_STARTER": "false"}
    done = forebay("pool", "status", "--all-nodes", cwd=folder, more=nodes)
    ensure(done.returncode == 1 and "cannot ask the 2 nodes" in done.stderr, done.stderr)


@ROOT_ONLY
def test_all_daemons_of_a_job_are_shown(folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    with two_nodes(folder) as launcher:
        nodes = {"FOREBAY_POOL_NODES": "2", "FOREBAY_POOL_STARTER": str(launcher)}
        ask = [*FOREBAY, "pool", "status", "--all-nodes", "--format", "json"]
        words = [*FOREBAY, "run", "--pool", work, "--", *ask]
        text = run(words, work, {**ENVIRONMENT, **nodes})
    own = [one for one in statuses(text) if one["cap"] and one["uptime_seconds"] < 100]
    ensure(len({(one["host"], one["process"]) for one in own}) >= 2, text)
