"""Tests the demo's summary of its runs."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import demo
from demo.disk import Written
from demo.experiment import Comparison, Pair
from demo.model import ModelTimes, Run, Span, parse_spans
from demo.summary import middle_parts, most_telling_first, rows
from demo.timeline_picture import rates_of
from demo.workshop import PNETCDF, Outcome
from forebay.common.model.record import FileSummary, Traffic
from forebay.common.report.page_template import filled


def outcome(write: float, *, collective: float | None) -> Outcome:
    times = ModelTimes(
        records=20,
        mebibytes=211.0,
        day=3.75,
        compute=5.0,
        create=0.055,
        write=write,
        close=0.135,
        restart_write=0.5,
        restart_read=0.6,
    )
    record = None
    if collective is not None:
        record = FileSummary(
            path="ocean.nc",
            opened=1,
            closed=1,
            ranks=4,
            nodes=1,
            aggregators=(0,),
            targets=1,
            stripe_bytes=0,
            seconds_open=0.007,
            write=Traffic(calls=80, bytes=222, seconds=collective, seconds_wait=0.04),
        )
    return Outcome(times=times, digests={}, record=record, command="ocean")


def comparison(*pairs: tuple[float, float]) -> Comparison:
    return Comparison(
        variant=PNETCDF,
        run=Run(steps=60),
        ranks=4,
        pairs=tuple(
            Pair(plain=outcome(3.0, collective=None), forebay=outcome(write, collective=seconds))
            for write, seconds in pairs
        ),
        digests={},
    )


def test_the_figure_explains_all_of_the_time_in_output() -> None:
    """It showed 0.05 of 0.61 s."""
    found = middle_parts(comparison((0.9, 0.3), (0.42, 0.05), (0.1, 0.2)))
    assert found is not None
    run, parts = found
    assert run.times.write == 0.42
    together = parts.create + parts.collective + parts.rest + parts.close
    assert abs(together - run.times.output) < 1e-12
    assert abs(parts.rest - 0.37) < 1e-12


def test_collective_calls_while_creating_do_not_make_the_rest_negative() -> None:
    found = middle_parts(comparison((0.1, 0.2)))
    assert found is not None
    assert found[1].rest == 0


def test_the_table_has_opening_writing_and_closing_of_both_sides() -> None:
    known = {row.name.strip(): row for row in rows(comparison((0.42, 0.05)))}
    for name in ("creating", "writing", "closing"):
        assert known[name].plain != "–"
        assert known[name].forebay != "–"
    assert known["else"].forebay == "0.37 s"


def test_time_lines_come_from_what_the_model_prints() -> None:
    printed = "ocean: …\nocean_span what=write begin=12.500000 end=12.750000\nocean_result …\n"
    assert parse_spans(printed) == (Span(what="write", begin=12.5, end=12.75),)


def test_a_disks_rate_is_told_for_a_quarter_of_a_second_at_least() -> None:
    seconds = tuple(10 + 0.05 * number for number in range(21))
    written = Written(begin=10, seconds=seconds, bytes=tuple(2_500_000 * n for n in range(21)))
    rates = rates_of(written)
    assert len(rates) in (3, 4)
    assert all(abs(rate - 50e6 / (1 << 20)) < 1e-6 for _, rate in rates)
    assert abs(written.whole - 1) < 1e-9


def test_what_the_program_waits_for_comes_first_and_what_shows_nothing_last() -> None:
    local = comparison((3.0, 0.05))
    hdf5 = comparison((1.0, 0.05))
    (pair,) = comparison((1.5, 0.05)).pairs
    watched = replace(
        local,
        pairs=(
            replace(
                pair,
                plain=replace(
                    pair.plain, timeline=Written(begin=0, seconds=(0.0, 1.0), bytes=(0, 1))
                ),
            ),
        ),
    )
    assert most_telling_first([local, hdf5, watched]) == [watched, hdf5, local]


def test_the_page_says_where_it_was_made_as_all_pages_do() -> None:
    pytest.importorskip("jinja2")
    template = Path(demo.__file__).with_name("page.html.j2")
    page = filled(template, parts=[], map="", timings="")
    (footer,) = re.findall(r"<footer>(.*?)</footer>", page, re.DOTALL)
    assert re.fullmatch(r"Page made by Forebay \S+, .* UTC, on .*: .*cores?, Linux \S+", footer)
