"""Tests that the tables of docs/performance/io-ranks-at-scale.md have a row for every run, and how
the best number of I/O ranks is found."""

from __future__ import annotations

import pytest

from evaluation.io_ranks_at_scale import (
    COUNTS,
    EXPOSED,
    GAINS,
    INTERVALS,
    OURS,
    RANKS,
    SIZES,
    Get,
    Settings,
    best_count,
    exposed,
    gain,
    programs,
    ratio,
)
from evaluation.model import BenchError
from forebay.simulate.model.io_ranks import OutputSimulation


def imagined(variant: str, settings: Settings) -> Get:
    """A result in which collecting takes 2 s and writing 9 s, divided by the I/O ranks."""
    interval, steps = float(settings.get("interval", 10)), int(settings.get("steps", 3))
    count = int(settings.get("io_ranks", 0))
    each = {"gather": 11.0, "io-ranks": 2.0 / max(count, 1)}.get(variant, 0.01)
    return lambda: OutputSimulation(
        platform="", variant=variant, ranks=int(settings["ranks"]), io_ranks=count,
        spread=int(settings.get("spread", 0)), nodes=1, targets=1, files=3, steps=steps,
        interval=interval, seed=1, bytes=1, seconds=steps * (interval + each),
        exposed=steps * each + 0.5, metadata=0.5, collected=each,
        written=9.0 / count if count else 0.0, waited_for_room=0.0,
        written_after=0.1, high_bytes=0, requests=1,
    )  # fmt: skip


def test_the_published_times_stand_beside_the_simulated_ones() -> None:
    (table,) = exposed(imagined)
    assert len(table.rows) == 1 + len(EXPOSED) + len(OURS)
    assert table.rows[2][:5] == ("io-ranks", "2", "1", "9.03", "1.00")
    assert table.rows[-1][:4] == ("output", "", "", "")


def test_the_best_ratio_is_one_for_all_sizes() -> None:
    (table,) = ratio(imagined)
    assert len(table.rows) == len(SIZES)
    assert all(len(row) == 1 + len(INTERVALS) for row in table.rows)
    # The root of 2 s times 6144 ranks, by 300 s of computing: 6.4 I/O ranks, 960 ranks for each.
    assert {row[0]: row[3] for row in table.rows}[str(RANKS)] == "6, 1024:1"


def test_a_best_number_needs_time_to_write() -> None:
    found = {n: imagined("io-ranks", {"ranks": RANKS, "io_ranks": n})() for n in COUNTS}
    assert best_count(found, RANKS, 30.0) == 24
    with pytest.raises(BenchError, match="write longer than 8"):
        best_count(found, RANKS, 8.0)


def test_programs_compute_as_long_as_their_gain_says() -> None:
    (table,) = programs(imagined)
    assert len(table.rows) == 2 * len(GAINS)
    assert table.rows[0][:3] == ("WRF", "100.00 s", "10 I/O ranks")
    plain = imagined("gather", {"ranks": 1})()
    dedicated = imagined("io-ranks", {"ranks": 1, "io_ranks": 10})()
    assert gain(plain, dedicated, 10.0) == pytest.approx(21 / 10.2 - 1)
    with pytest.raises(BenchError, match="longer than 0"):
        gain(plain, dedicated, 0.5)
