"""Time that a program spends in output."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from bench.pool.places import Place, drop_caches, places
from bench.pool.runs import Programs, Run, pairs_of, ratio_of, run, run_in
from bench.tables import TextTable

KIB, MIB = 1 << 10, 1 << 20
RANKS, STEPS, STEP_BYTES = 2, 10, 64 * MIB


def burst(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Exposed output: with time to drain while computing, and without."""
    rows = []
    for name in chosen.on:
        with places(programs.slow_fs, chosen.ceph)[name]() as place:
            for compute in (chosen.compute, 0):
                rows.append((name, *_burst(programs, chosen, place, compute)))
    return TextTable(
        title=f"2 ranks × 10 steps × 64 MiB, {chosen.pairs} pairs",
        header=(
            "file system", "computing between steps", "output, plain, s", "output, pool, s",
            "plain by pool", "pool by memcpy", "until all is written, pool by plain",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _burst(
    programs: Programs, chosen: argparse.Namespace, place: Place, compute: int
) -> tuple[str, ...]:
    words = ["burst", str(RANKS), str(STEPS), str(STEP_BYTES), str(compute)]
    runs = pairs_of(
        lambda: run(programs, words, place.folder, None),
        lambda: run(programs, words, place.folder, {}),
        chosen.pairs,
    )
    plain = [one.told["output_s"] for one, _ in runs]
    pooled = [two.told["output_s"] for _, two in runs]
    copies = [two.told["memcpy_s"] for _, two in runs]
    whole = ratio_of([two.whole_s for _, two in runs], [one.whole_s for one, _ in runs])
    return (
        f"{compute / 1000:g} s",
        f"{median(plain):.2f}",
        f"{median(pooled):.3f}",
        ratio_of(plain, pooled),
        ratio_of(pooled, copies),
        whole,
    )


PROCESSES = (1, 4, 16)
TOTAL_BYTES = 512 * MIB
TRANSFERS = (("sequential", 128 * KIB), ("random", 8 * KIB))
SETTINGS: Mapping[str, Mapping[str, str] | None] = {
    "plain": None,
    "pool, 16 MiB": {"pool_window": "16MiB"},
    "pool, 1 GiB": {"pool_window": "1GiB", "pool_cap": "4GiB"},
}


def transfers(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Rates with a small and a large window, and their gain over plain."""
    rows: list[tuple[str, ...]] = []
    for name in chosen.on:
        with places(programs.slow_fs, chosen.ceph)[name]() as place:
            for order, size in TRANSFERS:
                for direction in ("write", "read"):
                    rows += _transfer_rows(programs, chosen, place, (name, order, size, direction))
    return TextTable(
        title=f"512 MiB of all processes, MB/s (median of {chosen.pairs}; gain over plain)",
        header=("file system", "transfers", "processes", *SETTINGS),
        rows=tuple(rows),
    )


def _transfer_rows(
    programs: Programs,
    chosen: argparse.Namespace,
    place: Place,
    case: tuple[str, str, int, str],
) -> Iterator[tuple[str, ...]]:
    name, order, size, direction = case
    gains: dict[str, list[float]] = {way: [] for way in SETTINGS}
    what = f"{order} {size // KIB} KiB {direction}"
    for processes in PROCESSES:
        words = ["transfers", str(processes), str(TOTAL_BYTES // processes), str(size), order]
        rates: dict[str, list[float]] = {way: [] for way in SETTINGS}
        for _ in range(chosen.pairs):
            for way, settings in SETTINGS.items():
                told = _transfers(programs, words, direction, place, settings).told
                rates[way].append(told["bytes_per_s"] / 1e6)
        cells = []
        for way, found in rates.items():
            gain = median(found) / median(rates["plain"])
            gains[way].append(gain)
            cells.append(f"{median(found):.0f}" + ("" if way == "plain" else f" ({gain - 1:+.0%})"))
        yield name, what, str(processes), *cells
    means = [f"{sum(gains[way]) / len(gains[way]) - 1:+.0%}" for way in SETTINGS]
    yield name, what, "mean", "", *means[1:]


def _transfers(
    programs: Programs,
    words: list[str],
    direction: str,
    place: Place,
    settings: Mapping[str, str] | None,
) -> Run:
    with tempfile.TemporaryDirectory(dir=place.folder) as name:
        folder = Path(name).resolve()
        if direction == "read":
            run_in(programs, [*words, "write"], folder, None)
            drop_caches()
        return run_in(programs, [*words, direction], folder, settings)
