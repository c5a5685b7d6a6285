"""Measures what it takes to start a program by `forebay run`: processor seconds, and elapsed."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from evaluation.pool.places import disk
from evaluation.pool.runs import OWN_BUILD, Programs, blocks_of, ratio_of
from evaluation.tables import TextTable
from forebay.common.model.estimate import spread
from forebay.common.model.frozen import frozen

ASKED = "≤ 0.1 s of a processor"
NOTHING = "/bin/true"


@frozen
class StartTimes:
    """Seconds of one run, of a processor and elapsed, with all processes that it waited for."""

    processor_s: float
    elapsed_s: float


def start(_: Programs, chosen: argparse.Namespace) -> TextTable:
    """`forebay run` of a program that does nothing: alone, with a pool, with the mount; and what
    Python itself takes to start and end."""
    with disk(chosen.disk) as place:
        folder = place.folder.resolve()
        front = [sys.executable, "-m", "forebay", "run"]
        pool = [*front, "--pool", str(folder)]
        commands = {
            "python -c pass (the limit)": [sys.executable, "-c", "pass"],
            "forebay run": [*front, "--", NOTHING],
            "forebay run --pool": [*pool, "--set", "pool_mount=never", "--", NOTHING],
            "the same with the mount": [*pool, "--set", "pool_mount=require", "--", NOTHING],
        }
        ways = [partial(_started, words, folder) for words in commands.values()]
        blocks_of(ways, 1)  # the first start reads files and compiles modules
        blocks = blocks_of(ways, chosen.runs)
    limit = [block[0].processor_s for block in blocks]
    rows = []
    for way, name in enumerate(commands):
        used = [block[way].processor_s for block in blocks]
        rows.append(
            (
                name,
                _milliseconds(used),
                _milliseconds([block[way].elapsed_s for block in blocks]),
                "1" if way == 0 else ratio_of(used, limit),
                "" if way == 0 else ASKED,
            )
        )
    return TextTable(
        title=f"Starting {NOTHING}: median of {len(blocks)} runs (least to most)",
        header=("command", "processor, ms", "elapsed, ms", "processor by the limit", "asked"),
        rows=tuple(rows),
    )


def _started(words: list[str], folder: Path) -> StartTimes:
    environment = {**os.environ, **OWN_BUILD}
    with tempfile.TemporaryFile() as said:
        before, begin = _children_s(), time.monotonic()
        done = subprocess.run(
            words, cwd=folder, env=environment, stdout=said, stderr=said, check=False
        )
        elapsed = time.monotonic() - begin
        used = _children_s() - before
        if done.returncode != 0:
            said.seek(0)
            text = said.read().decode(errors="replace")[-1500:]
            raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {text}")
    return StartTimes(processor_s=used, elapsed_s=elapsed)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _milliseconds(seconds: list[float]) -> str:
    one = spread(seconds)
    return f"{one.median * 1e3:.0f} ({one.least * 1e3:.0f} to {one.most * 1e3:.0f})"
