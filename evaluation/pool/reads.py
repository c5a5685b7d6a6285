"""Measures reads of one file by many processes of a node."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from evaluation.pool.places import Place, chosen_places, drop_caches
from evaluation.pool.runs import Programs, ratio_of, run_in
from evaluation.tables import TextTable

MIB = 1 << 20
READERS, FILE_BYTES = 8, 512 * MIB
WAYS: Mapping[str, tuple[str, Mapping[str, str] | None]] = {
    "plain, O_DIRECT": ("direct", None),
    "plain, page cache": ("cached", None),
    "pool": ("cached", {}),
}


def once(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """All ways in random order, with dropped caches; and the bytes that the disk delivered."""
    rows = []
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            rows += _rows(programs, chosen, name, place)
    return TextTable(
        title=f"{READERS} processes read one file of 512 MiB, {chosen.pairs} times each",
        header=("file system", "how", "s", "as fast as O_DIRECT", "MiB from the file system"),
        rows=tuple(rows),
    )


def _rows(
    programs: Programs, chosen: argparse.Namespace, name: str, place: Place
) -> list[tuple[str, ...]]:
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    delivered: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(dir=place.folder) as text:
        folder = Path(text).resolve()
        run_in(programs, ["transfers", "1", str(FILE_BYTES), str(MIB), "sequential", "write"],
               folder, None)  # fmt: skip
        words = ["once", str(READERS), str(FILE_BYTES)]
        for _ in range(chosen.pairs):
            for way, (how, settings) in random.sample(list(WAYS.items()), len(WAYS)):
                drop_caches()
                before = place.bytes_read() if place.device else 0
                told = run_in(programs, [*words, how], folder, settings).told
                after = place.bytes_read() if place.device else 0
                seconds[way].append(told["seconds"])
                delivered[way].append((after - before) / MIB)
    direct = seconds["plain, O_DIRECT"]
    return [
        (
            name,
            way,
            f"{median(seconds[way]):.2f}",
            "1" if seconds[way] is direct else ratio_of(direct, seconds[way]),
            f"{median(delivered[way]):.0f}" if place.device else "–",
        )
        for way in WAYS
    ]
