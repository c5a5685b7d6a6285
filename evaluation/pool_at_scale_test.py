"""Tests that the tables of docs/performance/pool-at-scale.md have a row for every run, and that the
picture has every line of the grid."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from evaluation.pool_at_scale import (
    BURSTS,
    INTERVALS,
    NODES,
    OPENED,
    PROGRAMS,
    READING,
    START_READERS,
    START_STRIPES,
    Get,
    Settings,
    gain,
    grid,
    interval_for,
    opened,
    programs,
    read_once,
    start,
    window,
)
from forebay.simulate.model.pool import PoolSimulation, Way

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance" / "pool-at-scale.md"


def imagined(settings: Settings) -> Get:
    """A result in which the pool hides three quarters of the waiting."""
    interval, steps = float(settings.get("interval", 10)), int(settings.get("steps", 3))

    def way(exposed: float) -> Way:
        seconds = steps * (interval + exposed)
        return Way(
            seconds=seconds, exposed=steps * exposed, gathered=0.0, longest=exposed, requests=1,
            reading=exposed, input_bytes=1,
        )  # fmt: skip

    nodes = int(settings["nodes"])
    return lambda: PoolSimulation(
        platform="", ranks=32 * nodes, nodes=nodes, targets=96, writers=1, files=1, steps=steps,
        interval=interval, window_bytes=1, cap_bytes=1, seed=1, bytes=1, plain=way(4.0),
        pooled=way(1.0), hidden=0.75, waited_for_room=0.0, drained_after=0.0, high_bytes=1,
        file_high_bytes=1, bytes_past=0, closed_early=False, messages=3 * nodes, opened=nodes,
    )  # fmt: skip


def test_the_grid_has_a_row_and_a_line_of_the_picture_for_every_run(tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    (table,) = grid(imagined, picture)
    assert len(table.rows) == len(NODES) * len(BURSTS) * len(INTERVALS)
    drawn = ElementTree.fromstring(picture.read_text(encoding="utf-8"))
    kinds = [one.get("class") for one in drawn.iter("{http://www.w3.org/2000/svg}circle")]
    assert kinds.count("pool") == kinds.count("without") == len(table.rows) + 1  # the legend's


def test_the_interval_is_such_that_hiding_everything_would_give_the_published_gain() -> None:
    for program in PROGRAMS:
        interval = interval_for(4.0, program.gain)
        assert (interval + 4.0) / interval - 1 == pytest.approx(program.gain)


def test_what_the_pool_gives_stands_beside_what_was_published() -> None:
    (table,) = programs(imagined)
    wrf = table.rows[0]
    interval = interval_for(12.0 / 3, 0.11)  # the probe of one step waits 4 s
    assert wrf[0] == "WRF"
    assert wrf[-2] == "+11 %"
    assert wrf[-1] == f"{100 * ((interval + 4) / (interval + 1) - 1):+.0f} %"
    assert gain(imagined({"nodes": 1, "interval": 4})()) == pytest.approx(8 / 5 - 1)


def test_messages_are_told_for_a_file_and_node() -> None:
    (table,) = opened(imagined)
    assert [row[0] for row in table.rows] == [str(nodes) for nodes in OPENED]
    assert {row[-1] for row in table.rows} == {"3.00"}


def test_what_nodes_read_has_a_row_for_each_number_of_nodes() -> None:
    (table,) = read_once(imagined)
    assert [row[1] for row in table.rows] == [str(nodes) for nodes in READING]


def test_every_window_has_a_row() -> None:
    (table,) = window(imagined)
    assert len({row[:3] for row in table.rows}) == len(table.rows)


def test_the_page_has_a_row_for_every_run() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, (table,) in {
        "grid": grid(imagined, None),
        "window": window(imagined),
        "opened": opened(imagined),
        "programs": programs(imagined),
        "input": read_once(imagined),
    }.items():
        part = text.split(f"<!-- bench:pool_at_scale_{name} -->")[1].split("<!-- /bench:")[0]
        rows = re.findall(r"^\| (?!---)(.*) \|$", part, re.MULTILINE)
        assert len(rows) == len(table.rows) + 1


def test_the_start_has_a_row_for_all_who_may_read() -> None:
    (table,) = start(imagined)
    assert len(table.rows) == len(START_STRIPES) * (1 + len(START_READERS))
