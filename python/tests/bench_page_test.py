"""Tests the content of the pages of benchmarks."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.bench.files import decode_result
from forebay.bench.model.comparison import Design, find
from forebay.bench.model.result import Bar, BenchResult, Facet, Latency, Measurement
from forebay.common.model.moments import moment_text

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from forebay.bench.report import pictures as bench_pictures
from forebay.bench.report.comparison_pictures import draw_ratios
from forebay.bench.report.page import render
from forebay.bench.report.pictures import ROWS_OPEN_MAX, draw_ranks, draw_rates, pictures_of

EXAMPLES = Path(__file__).resolve().parents[2] / "schema" / "examples"


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


def of_storms() -> BenchResult:
    """Three modes of two operations on 1, 2 and 4 ranks."""
    (one,) = of_many(1).measurements
    measurements = [
        replace(
            one,
            name=f"{what} ({mode}, {ranks} ranks)",
            facet=Facet(panel=what, series=mode, position=str(ranks), axis="ranks"),
        )
        for ranks in (1, 2, 4)
        for mode in ("existing", "private", "shared")
        for what in ("open", "close")
    ]
    return replace(of_many(1), measurements=tuple(measurements))


def calls(one: Measurement, count: int) -> Measurement:
    bars = (Bar(seconds=0.001, count=count),)
    return replace(one, latency=Latency(bars=bars, seconds_max=0.001))


def colours_of(drawn: str) -> set[str]:
    return set(re.findall(r"var\(--(?:blue|series-\d)\)", drawn))


def test_the_page_shows_every_row_once_and_folds_those_after_the_twelfth() -> None:
    """29 rows were 24 in the first chart, had no legend in the second and one in the third."""
    for picture in pictures_of(of_many(29)):
        for number in range(29):
            label = f"<!-- storm {number} -->"
            assert picture.svg.count(label) + picture.more.count(label) <= 1, picture.title
    rates, ranks = (
        draw(of_many(29).measurements[:ROWS_OPEN_MAX]) for draw in (draw_rates, draw_ranks)
    )
    for drawn in (rates, ranks):
        assert "<!-- storm 11 -->" in drawn
        assert "<!-- storm 12 -->" not in drawn
    page = render(of_many(29))
    assert page.count("<summary>17 more rows</summary>") == 3, "two pictures and a table"
    assert "more rows" not in render(of_many(12))


def test_rows_that_a_picture_leaves_out_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_pictures, "ROWS_MAX", 3)  # of which all would take long to draw
    assert "The first" not in render(of_many(3))
    assert "The first 3 of 4" in render(of_many(4))


def test_storms_have_ranks_on_the_axis_and_a_colour_for_each_mode() -> None:
    rates, latency, _ = pictures_of(of_storms())
    for label in ("existing", "private", "shared", "open", "close", "ranks", "1", "2", "4"):
        assert f"<!-- {label} -->" in rates.svg, label
    for picture in (rates, latency):
        assert picture.svg.count("<!-- private -->") == 1, "one legend for all charts"
        assert colours_of(picture.svg) == {"var(--blue)", "var(--series-2)", "var(--series-3)"}


def test_points_of_hpio_are_small_charts_of_equal_colours() -> None:
    result = decode_result((EXAMPLES / "bench-hpio-1.json").read_text(encoding="utf-8"))
    rates = next(pictures_of(result))
    panels = {one.facet.panel for one in result.measurements}
    assert len(panels) > 1
    for panel in panels:
        assert f"<!-- {panel} -->" in rates.svg
    assert rates.svg.count("<!-- collective -->") == 1
    assert "1: " in rates.caption, "long names of points stand in the caption"
    spread = list(pictures_of(result))[-1]
    assert "<!-- write array posix 2 -->" in spread.svg, "names that left no room for the dots"
    assert max(len(one) for one in re.findall("<!-- (.*?) -->", spread.svg)) <= 44
    (one, *others) = of_storms().measurements
    late = replace(
        result, measurements=(calls(one, 4), *(calls(other, 4) for other in others[:-1]))
    )
    late = replace(late, measurements=(*late.measurements, calls(others[-1], 100)))
    latency = list(pictures_of(late))[1]
    assert latency.title == "Latency of calls"
    assert colours_of(latency.svg) == {"var(--series-3)"}, "shared has another colour than above"


def test_a_chart_has_no_places_for_points_that_it_lacks() -> None:
    """Each of four charts had a dot at one of two places."""
    (one,) = of_many(1).measurements
    points = [Facet(panel=name, series="posix", position=name, axis="case") for name in ("a", "b")]
    measured = [replace(one, facet=point) for point in points]
    (rates, *_) = pictures_of(replace(of_many(1), measurements=tuple(measured)))
    assert [rates.svg.count(f"<!-- {name} -->") for name in ("a", "b")] == [2, 2]  # title and tick


def test_few_calls_have_no_distribution() -> None:
    """A curve was drawn through the four calls of a collective write."""
    (one,) = of_many(1).measurements
    few = replace(of_many(1), measurements=(calls(one, 4),))
    assert [picture.title for picture in pictures_of(few)] == ["Rates", "Spread over ranks"]
    page = render(few)
    assert "Latency of calls" not in page
    assert page.count("<td>–</td>") == 3, "p90, p99 and p99.9 of four calls"
    both = replace(few, measurements=(calls(one, 4), calls(replace(one, name="many"), 100)))
    assert "1 measurement of fewer than 100 calls is not shown." in render(both)


def test_the_slowest_rank_is_a_dot_with_its_node() -> None:
    drawn = draw_ranks(of_many(1).measurements)
    assert "rank 1 on node7 -->" in drawn
    (one,) = of_many(1).measurements
    alone = replace(of_many(1), measurements=(replace(one, rank_seconds=(1.0,)),))
    assert "Spread over ranks" not in render(alone), "one rank has no spread"


def test_every_page_says_what_made_it_in_one_form() -> None:
    form = (
        r"Page made by Forebay \S+, \d{4}-\d\d-\d\d \d\d:\d\d UTC, on \S+: .*\d+ cores?, Linux \S+<"
    )
    assert re.search(form, render(of_many(1)))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2026-11-27T21:20:44Z", "2026-11-27 21:20 UTC"),
        ("2026-11-27T21:20:44.5+00:00", "2026-11-27 21:20 UTC"),
        ("Fri Nov 27 21:21:47 2026", "2026-11-27 21:21"),
        ("2026-11-21", "2026-11-21"),
        ("", ""),
    ],
)
def test_moments_have_one_form(text: str, form: str) -> None:
    assert moment_text(text) == form


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
