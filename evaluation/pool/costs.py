"""Measures the costs of the pool: of a call, of a process that does not use it, of the daemon."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

from evaluation.pool.places import tmpfs
from evaluation.pool.runs import Programs, blocks_of, daemon, pairs_of, ratio_of, run
from evaluation.tables import TextTable

MIB = 1 << 20
IDLE_SECONDS = 10
CAP_BYTES = 256 * MIB
REPEATED = 20
"""Runs of a bystander per timing."""

BYSTANDER_COLUMNS = (
    "command",
    *("plain, ms", "with an empty library, ms", "with Forebay's, ms"),
    *("empty by plain", "Forebay's by plain", "Forebay's by empty"),
)


def calls(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Nanoseconds of a write and a read call."""
    rows = []
    with tmpfs() as place:
        words = ["calls", "3500"]
        runs = pairs_of(
            lambda: run(programs, words, place.folder, None),
            lambda: run(programs, words, place.folder, {}),
            chosen.pairs,
        )
        for what in ("write", "read"):
            for part in ("p50", "p99"):
                plain = [one.told[f"{what}_{part}_ns"] for one, _ in runs]
                pooled = [two.told[f"{what}_{part}_ns"] for _, two in runs]
                copied = [two.told[f"{what}_copy_{part}_ns"] for _, two in runs]
                medians = [f"{median(times):.0f}" for times in (plain, pooled, copied)]
                ratios = (ratio_of(plain, pooled), ratio_of(pooled, copied))
                rows.append((f"{what}, {part}", *medians, *ratios))
    return TextTable(
        title=f"A call of 4 KiB on tmpfs, {chosen.pairs} pairs",
        header=("call", "plain, ns", "pool, ns", "memcpy, ns", "plain by pool", "pool by memcpy"),
        rows=tuple(rows),
    )


def bystanders(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """The slowdown of programs whose files are outside the pool."""
    rows = []
    with tmpfs() as pool, tempfile.TemporaryDirectory() as text, daemon(pool.folder) as one:
        folder = Path(text)
        empty = {"LD_PRELOAD": str(_empty_library(folder))}
        for command in _everyday(folder):
            ways = [
                partial(_seconds, command, folder, environment)
                for environment in ({}, empty, one.environment)
            ]
            blocks = blocks_of(ways, chosen.pairs)
            plain, loaded, captured = ([block[way] for block in blocks] for way in range(3))
            rows.append(
                (
                    " ".join([Path(command[0]).name, *command[1:]]),
                    *(f"{median(times) * 1e3:.2f}" for times in (plain, loaded, captured)),
                    ratio_of(loaded, plain),
                    ratio_of(captured, plain),
                    ratio_of(captured, loaded),
                )
            )
    return TextTable(
        title=f"Processes that touch no pool path, {chosen.pairs} blocks of {REPEATED} runs",
        header=BYSTANDER_COLUMNS,
        rows=tuple(rows),
    )


def _empty_library(folder: Path) -> Path:
    """Builds an empty library: loading it costs what loading any preloaded library costs."""
    library = folder / "empty.so"
    words = ["cc", "-shared", "-fPIC", "-x", "c", os.devnull, "-o", str(library)]
    subprocess.run(words, check=True)
    return library


def _everyday(folder: Path) -> list[list[str]]:
    (folder / "one.c").write_text('#include <stdio.h>\nint main(void) { return puts("x") < 0; }\n')
    for number in range(300):
        (folder / f"file{number}").write_text(str(number))
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return [
        ["git", "status", "--short"],
        ["gcc", "-c", "one.c", "-o", "/dev/null"],
        [os.path.realpath(sys.executable), "-c", "pass"],  # python3 may be a script that starts it
    ]


def _seconds(command: list[str], folder: Path, environment: Mapping[str, str]) -> float:
    """The mean seconds of several runs."""
    everything = {**os.environ, **environment}
    begin = time.monotonic()
    for _ in range(REPEATED):
        subprocess.run(command, cwd=folder, env=everything, check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - begin) / REPEATED


def daemon_share(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """The daemon's share of a core and its memory, idle and while two ranks write their fastest."""
    idle, busy, most = [], [], []
    for _ in range(chosen.pairs):
        with tmpfs() as place, daemon(place.folder, pool_cap=str(CAP_BYTES)) as one:
            begin, used = time.monotonic(), _cpu_seconds(one.process)
            time.sleep(IDLE_SECONDS)
            idle.append((_cpu_seconds(one.process) - used) / (time.monotonic() - begin))
            begin, used = time.monotonic(), _cpu_seconds(one.process)
            words = ["burst", str(place.folder), "2", "20", str(64 * MIB), "0"]
            subprocess.run(
                [programs.loads, *words],
                check=True,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **one.environment},
            )
            busy.append((_cpu_seconds(one.process) - used) / (time.monotonic() - begin))
            most.append(_most_resident(one.process))
    rows = (
        ("idle", f"{median(idle):.1%} of a core ({max(idle):.1%} at most)"),
        ("busy: 2.5 GiB by two ranks", f"{median(busy):.0%} of a core ({max(busy):.0%} at most)"),
        ("most memory, cap 256 MiB", f"{max(most) / MIB:.0f} MiB ({max(most) / CAP_BYTES:.1%})"),
    )
    return TextTable(title="The daemon", header=("when", "what"), rows=rows)


def _cpu_seconds(process: int) -> float:
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _most_resident(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
