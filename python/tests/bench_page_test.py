"""Tests the content of the pages of benchmarks."""

import json
from pathlib import Path

import pytest

from forebay.bench.files import decode_result
from forebay.bench.model.comparison import Design, find
from forebay.bench.model.result import Bar, BenchResult, Latency, Measurement

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from forebay.bench.report import pictures as bench_pictures
from forebay.bench.report.page import render
from forebay.bench.report.pictures import (
    draw_latency,
    draw_ranks,
    draw_rates,
    draw_ratios,
)


def of_many(count: int) -> BenchResult:
    bars = (Bar(seconds=0.001, count=90), Bar(seconds=0.1, count=10))
    measurements = [
        Measurement(
            name=f"storm {number}",
            unit="ops/s",
            rates=(1.0, 2.0),
            latency=Latency(bars=bars, seconds_max=0.08),
            rank_seconds=(1.0, 3.0, 1.0),
            slowest_rank=1,
            slowest_host="node7",
        )
        for number in range(count)
    ]
    return BenchResult(
        tool="meta",
        command="forebay-meta",
        mpi="MPICH",
        host="node1",
        ranks=1,
        started="2026-11-21",
        measurements=tuple(measurements),
        warnings=(),
        errors=(),
        status=0,
    )


def test_the_page_shows_every_row_and_puts_legends_under_their_own_charts() -> None:
    """29 rows were 24 in the first chart, had no legend in the second and one in the third."""
    for draw in (draw_rates, draw_latency, draw_ranks):
        drawn = draw(of_many(29))
        for number in range(29):
            assert drawn.count(f"<!-- storm {number} -->") == 1, draw.__name__


def test_rows_that_a_picture_leaves_out_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_pictures, "ROWS_MAX", 3)  # of which all would take long to draw
    assert "The first" not in render(of_many(3))
    assert "The first 3 of 4" in render(of_many(4))


def test_a_ratio_axis_has_more_than_two_labels() -> None:
    design = Design.fixed(pairs=6, margin=0.05, seed=1)
    b = [0.3, 0.4, 0.5, 1.0, 2.0, 3.0]
    drawn = draw_ratios([find("write", "MiB/s", a=[1.0] * 6, b=b, less=False, design=design)])
    for label in ("0.5", "1", "2"):
        assert f"<!-- {label} -->" in drawn


def test_one_rank_is_not_ranks() -> None:
    assert "1 rank on node1" in render(of_many(1))


def test_the_page_names_the_slowest_rank_that_the_text_names(root: Path) -> None:
    """A rank that began late is done last, and is not the slowest."""
    document = json.loads((root / "schema/examples/bench-ior-1.json").read_text(encoding="utf-8"))
    for phase in document["tests"][0]["Results"]:
        early, late = phase["ranks"][:2]
        early["transfer_seconds"], early["done_after_seconds"] = 3.0, 3.0
        late["transfer_seconds"], late["done_after_seconds"] = 1.0, 4.0
        phase["slowest_rank"] = early["rank"]
    result = decode_result(json.dumps(document))
    one = result.measurements[0]
    assert (one.slowest_rank, one.rank_seconds[:2]) == (0, (3.0, 1.0))
    assert f"<td>0 on {one.slowest_host}</td>" in render(result)
