"""`forebay report --portrait`: what opening files costs by a portrait."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tuning_scenes import files_rate, priced_portrait

from forebay_tuning.model.metadata import MetadataRates
from forebay_tuning.model.program_io import FileIo, LayerIo, Passing, ProgramIo
from forebay_tuning.report.model.claims import CauseKind
from forebay_tuning.report.model.diagnosis import diagnose
from forebay_tuning.report.model.prices import priced

KIB = 1024
PRICED = MetadataRates(creates=(files_rate(64, 2000.0),), opens=(files_rate(1, 1000.0),))
PROGRAM = ProgramIo(
    source="a log",
    command="./a",
    ranks=64,
    nodes=8,
    seconds=10.0,
    started="",
    files=tuple(
        FileIo(
            path=f"/scratch/f.{rank}",
            ranks=1,
            rank=rank,
            opens=100,
            files=100,
            write=Passing(bytes=400 * KIB, calls=100, seconds=0.1),
            seconds_meta=4.0,
            slowest_seconds=4.1,
            layers=(
                LayerIo(
                    name="POSIX",
                    ranks=1,
                    rank=rank,
                    write=Passing(bytes=400 * KIB, calls=100, seconds=0.1),
                    read=Passing(),
                    seconds_meta=4.0,
                    slowest_rank=rank,
                    slowest_seconds=4.1,
                    opens=100,
                ),
            ),
        )
        for rank in range(64)
    ),
)


@pytest.mark.parametrize(
    ("creates", "seconds", "told"),
    [
        (2000.0, 3.2, "only fewer of them would save it"),
        (20_000.0, 0.32, "this run took 12.5 × that"),
        (200.0, 32.0, "may be of another machine"),
    ],
)
def test_report_prices_files_by_the_portrait(creates: float, seconds: float, told: str) -> None:
    diagnosis = diagnose(PROGRAM)
    (trouble,) = [one for one in diagnosis.troubles if one.kind is CauseKind.METADATA]
    rates = replace(PRICED, creates=(files_rate(64, creates),))
    (found,) = [
        one
        for one in priced(diagnosis, priced_portrait(rates)).troubles
        if one.kind is CauseKind.METADATA
    ]
    assert found.seconds_by_portrait == pytest.approx(seconds)
    assert found.seconds == trouble.seconds
    assert "By the portrait scratch (2026-11-22), 6400 creations and 0 opens by 64" in found.detail
    assert told in found.detail


def test_report_says_of_a_portrait_without_a_price_of_files_that_it_has_none() -> None:
    found = priced(diagnose(PROGRAM), priced_portrait(None))
    assert any("no price of files" in one for one in found.notes)
    assert all(one.seconds_by_portrait is None for one in found.troubles)
