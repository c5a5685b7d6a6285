"""The cost of pool_durability=node: writes through a pool with a journal, beside its device."""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from evaluation.pool.places import Place, chosen_places, tmpfs
from evaluation.pool.runs import Programs, daemon, ratio_of
from evaluation.program_run import run_program
from evaluation.tables import TextTable

KIB, MIB = 1 << 10, 1 << 20
WRITE_BYTES = 128 * KIB
WRITERS = (1, 4, 16)
SELDOM, EACH, NEVER = 8 * MIB, WRITE_BYTES, 0
Told = Mapping[str, float]


def journal(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Sequential writes in four ways, in random order: plain with fdatasync every 8 MiB, plain with
    fdatasync after each write, each write durable in place, and through a pool whose journal is on
    the same device."""
    rows = []
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            rows += [_row(programs, chosen, name, place, writers) for writers in WRITERS]
    return TextTable(
        title=(
            f"Writes of 128 KiB: MB/s, and microseconds of a write (median, 99th percentile); "
            f"median of {chosen.pairs}"
        ),
        header=(
            "device of the journal", "writers", "plain, fdatasync each 8 MiB",
            "plain, fdatasync each 128 KiB", "in place, each durable", "pool, node",
            "pool by plain, each 8 MiB", "pool by plain, each 128 KiB", "pool by in place",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _row(
    programs: Programs, chosen: argparse.Namespace, name: str, place: Place, writers: int
) -> tuple[str, ...]:
    each = chosen.total * MIB // writers // SELDOM * SELDOM
    ways: dict[str, Callable[[], Told]] = {
        "seldom": lambda: _plain(programs, place, (writers, each, SELDOM)),
        "each": lambda: _plain(programs, place, (writers, each, EACH)),
        "place": lambda: _plain(programs, place, (writers, each, EACH), "in-place"),
        "pool": lambda: _pooled(programs, place, (writers, each, NEVER)),
    }
    told: dict[str, list[Told]] = {way: [] for way in ways}
    for _ in range(chosen.pairs):
        for way in random.sample(sorted(ways), len(ways)):
            told[way].append(ways[way]())
    rates = {way: [one["bytes_per_s"] for one in some] for way, some in told.items()}
    cells = [_cell(told[way]) for way in ways]
    by_plain = [ratio_of(rates["pool"], rates[way]) for way in ("seldom", "each", "place")]
    return (name, str(writers), *cells, *by_plain)


def _cell(some: list[Told]) -> str:
    rate, half, most = (
        median([one[key] for one in some]) for key in ("bytes_per_s", "p50_us", "p99_us")
    )
    return f"{rate / 1e6:.0f} ({half:.0f}, {most:.0f})"


def _plain(programs: Programs, place: Place, what: tuple[int, int, int], *how: str) -> Told:
    with tempfile.TemporaryDirectory(dir=place.folder) as folder:
        return _load(programs, Path(folder), what, {}, *how)


def _pooled(programs: Programs, place: Place, what: tuple[int, int, int]) -> Told:
    """Runs the load through a pool. The files are in memory, so that the device serves only the
    journal. The load runs twice: the first run touches memory and allocates the journal, which
    happens once per job; the second one counts."""
    with tempfile.TemporaryDirectory(dir=place.folder) as folder, tmpfs() as files:
        settings = {
            "pool_durability": "node",
            "pool_journal": str(Path(folder) / "journal"),
            "pool_cap": str(512 * MIB),
        }
        with daemon(files.folder, **settings) as one:
            _load(programs, files.folder, what, one.environment)
            return _load(programs, files.folder, what, one.environment)


def _load(
    programs: Programs,
    folder: Path,
    what: tuple[int, int, int],
    more: Mapping[str, str],
    *how: str,
) -> Told:
    writers, each, every = what
    os.sync()
    numbers = map(str, (writers, each, WRITE_BYTES, every))
    words = [str(programs.synced_writes), str(folder), *numbers, *how]
    told: Told = json.loads(run_program("synced_writes", words, more=more).output)
    return told
