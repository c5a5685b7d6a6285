"""`forebay report --portrait`: what opening files costs by a portrait, and whether it explains the
seconds of the log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tuning_scenes import files_rate, priced_portrait, read_here

from forebay.common.files.records import RecordFiles
from forebay_tuning.model.metadata import MetadataRates
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.program_io import FileIo, LayerIo, Passing, ProgramIo
from forebay_tuning.model.response import Storm
from forebay_tuning.report.files.darshan_log import DarshanLogs
from forebay_tuning.report.model.against_portrait import held_against
from forebay_tuning.report.model.claims import CauseKind
from forebay_tuning.report.model.diagnosis import diagnose
from forebay_tuning.report.model.prices import priced
from forebay_tuning.report.model.takeover import takeovers
from forebay_tuning.report.report.text import as_text
from forebay_tuning.report.use_case import Sources, diagnose_file

LABELLED = Path(__file__).parent / "darshan_logs"
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


@pytest.mark.parametrize(
    ("opening", "told"),
    [
        (0.001, "× more. Something held this run up"),
        (4.1, ""),
        (40.0, "× less. A cache may have taken it in"),
    ],
)
def test_report_holds_the_seconds_of_a_log_against_those_of_the_portrait(
    opening: float, told: str
) -> None:
    """Only advise did."""
    known = priced_portrait(PRICED)
    slow = Storm(base=opening, each=0.0, power=1.0)
    choice = known.choices[Direction.WRITE]
    choice = replace(choice, response=replace(choice.response, opening=slow))
    quick = MetadataRates(creates=(files_rate(64, 1e9),), opens=(files_rate(64, 1e9),))
    one_each = replace(PROGRAM, files=tuple(replace(one, files=1) for one in PROGRAM.files))
    portrait = replace(known, choices={Direction.WRITE: choice}, metadata=quick)
    notes = [
        one
        for one in held_against(diagnose(one_each), portrait).notes
        if "the program's own seconds of writes are" in one
    ]
    assert len(notes) == bool(told)
    assert all(told in one for one in notes)


def test_report_of_a_log_with_a_portrait_says_both() -> None:
    pytest.importorskip("darshan")
    path = LABELLED / "lustre-one-stripe.darshan"
    sources = Sources(logs=DarshanLogs(), records=RecordFiles())
    with_portrait = diagnose_file(path, sources, portrait=priced_portrait(None)).notes
    assert any("no price of files" in one for one in with_portrait)
    assert any("own seconds of writes" in one for one in with_portrait)
    assert not any("own seconds" in one for one in diagnose_file(path, sources).notes)


def test_what_forebay_would_do_is_storage_by_the_portrait_and_the_exchange() -> None:
    """The portrait was not asked: storage was taken to be as fast as it was."""
    program = read_here(LABELLED / "case-tinycoll.darshan")
    (alone,) = takeovers(program)
    (quick,) = takeovers(program, priced_portrait(None))
    (slow,) = takeovers(program, with_rate(sum(one.write.bytes for one in program.files) / 5))
    assert (alone.is_by_portrait, quick.is_by_portrait) == (False, True)
    assert slow.seconds_most > quick.seconds_most + 3
    assert slow.seconds_now == quick.seconds_now == alone.seconds_now
    for one in (quick, slow):
        assert 0 < one.seconds_least <= one.seconds_most <= one.seconds_now
    text = as_text(replace(diagnose(program), portrait=priced_portrait(None)))
    assert "storage takes what the portrait scratch predicts" in text


def with_rate(rate: float) -> Portrait:
    """A portrait of a system that moves `rate` bytes a second."""
    known = priced_portrait(None)
    choice = known.choices[Direction.WRITE]
    surface = choice.response.surface
    surface = replace(surface, physical=replace(surface.physical, system_rate=rate))
    choice = replace(choice, response=replace(choice.response, surface=surface))
    return replace(known, choices={Direction.WRITE: choice})
