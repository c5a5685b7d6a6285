"""Measures the costs of the pool: of a call, of a process that does not use it, of the daemon."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from evaluation.pool.places import tmpfs
from evaluation.pool.runs import Programs, blocks_of, daemon, pairs_of, ratio_of, run
from evaluation.tables import TextTable

MIB = 1 << 20
IDLE_SECONDS = 10
CAP_BYTES = 256 * MIB

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


@dataclass(frozen=True)
class Bystander:
    """A program that touches no pool path: its name in the table, its words, and how often it is
    started for one timing."""

    name: str
    words: Sequence[str]
    repeated: int = 20


def bystanders(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Milliseconds of everyday programs: plain, with an empty library preloaded, with Forebay's."""
    rows = []
    with tmpfs() as pool, tempfile.TemporaryDirectory() as text, daemon(pool.folder) as one:
        folder = Path(text)
        empty = {"LD_PRELOAD": str(_empty_library(folder))}
        for program in _everyday(folder):
            ways = [
                partial(_seconds, program, environment)
                for environment in ({}, empty, one.environment)
            ]
            blocks = blocks_of(ways, chosen.pairs)
            plain, loaded, captured = ([block[way] for block in blocks] for way in range(3))
            rows.append(
                (
                    program.name,
                    *(f"{median(times) * 1e3:.3f}" for times in (plain, loaded, captured)),
                    ratio_of(loaded, plain),
                    ratio_of(captured, plain),
                    ratio_of(captured, loaded),
                )
            )
    return TextTable(
        title=f"Processes that touch no pool path, {chosen.pairs} blocks of 20 runs (true: 500)",
        header=BYSTANDER_COLUMNS,
        rows=tuple(rows),
    )


def _empty_library(folder: Path) -> Path:
    """Builds an empty library: loading it costs what loading any preloaded library costs."""
    library = folder / "empty.so"
    words = ["cc", "-shared", "-fPIC", "-x", "c", os.devnull, "-o", str(library)]
    subprocess.run(words, check=True)
    return library


def _everyday(folder: Path) -> list[Bystander]:
    source = folder / "one.c"
    source.write_text('#include <stdio.h>\nint main(void) { return puts("x") < 0; }\n')
    for number in range(300):
        (folder / f"file{number}").write_text(str(number))
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    python = os.path.realpath(sys.executable)  # python3 may be a script that starts it
    return [
        Bystander("/bin/true", ["/bin/true"], repeated=500),
        Bystander("git status --short", ["git", "-C", str(folder), "status", "--short"]),
        Bystander("gcc -c one.c -o /dev/null", ["gcc", "-c", str(source), "-o", os.devnull]),
        Bystander(f"{Path(python).name} -c pass", [python, "-c", "pass"]),
    ]


def _seconds(program: Bystander, environment: Mapping[str, str]) -> float:
    """The mean seconds of several runs, from before each is started until it has ended."""
    everything = {**os.environ, **environment}
    path = shutil.which(program.words[0])
    if path is None:
        raise FileNotFoundError(program.words[0])
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    begin = time.monotonic()
    for _ in range(program.repeated):
        process = os.posix_spawn(path, list(program.words), everything, file_actions=silent)
        _, status = os.waitpid(process, 0)
        if status != 0:
            raise subprocess.CalledProcessError(status, list(program.words))
    return (time.monotonic() - begin) / program.repeated


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
