"""Predictions for programs that move more bytes than any probe: what was measured of such
predictions is said beside them, and their intervals are wider."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tuning_advice_test import GIB, portrait, writers

from forebay_tuning.advise.model.advice import Advice, Question, advise
from forebay_tuning.advise.report.text import headline
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.sustained import Sustained

SUSTAINED = Sustained(
    rate=1e10,
    low=9e9,
    high=1.1e10,
    targets=1,
    longest_bytes=8 * GIB,
    long_rate=1e10,
    short_bytes=GIB,
    short_rate=1e10,
    cache_bytes=0,
)
FRESH = "67 of 100 such predictions held"


def measured(probed_bytes: int, *, sustained: Sustained | None = None) -> Portrait:
    """The portrait as if it were of a real machine, by probes of at most `probed_bytes`."""
    known = portrait()
    choice = known.choices[Direction.WRITE]
    choice = replace(choice, response=replace(choice.response, sustained=sustained))
    return replace(
        known,
        identity=replace(known.identity, is_modelled=False),
        space=replace(known.space, bytes_max=probed_bytes),
        choices={Direction.WRITE: choice},
    )


def asked(known: Portrait) -> Advice:
    return advise(Question(workload=writers(file_bytes=64 * GIB), portrait=known))


def width(advice: Advice) -> float:
    """Half the width of the logarithm of the gain's interval."""
    assert advice.gain_high
    assert advice.gain_low
    return math.log(advice.gain_high / advice.gain_low) / 2


def test_predictions_for_more_bytes_than_were_probed_had_the_coverage_of_probed_ones() -> None:
    """204 of 215 were said to hold where 67 of 100 did."""
    within, beyond = headline(asked(measured(64 * GIB))), headline(asked(measured(48 * GIB)))
    assert "204 of 215" in within
    assert FRESH not in within
    assert f"this program moves 1.3 times what was probed; in a fresh measurement {FRESH}" in beyond
    assert "204" not in beyond


@pytest.mark.parametrize("times", [4 / 3, 2.0])
def test_the_interval_is_wider_by_how_much_more_the_program_moves(times: float) -> None:
    within, beyond = asked(measured(64 * GIB)), asked(measured(round(64 * GIB / times)))
    assert beyond.gain == within.gain
    assert width(beyond) == pytest.approx(width(within) + math.log2(times))


def test_a_sustained_rate_carries_a_prediction_beyond_the_probes() -> None:
    within, beyond = (asked(measured(one * GIB, sustained=SUSTAINED)) for one in (64, 32))
    assert width(beyond) == width(within)
    assert FRESH in headline(beyond)


def test_what_is_not_worth_a_change_for_lack_of_long_probes_says_so() -> None:
    advice = asked(measured(GIB // 1024))
    assert advice.keeps
    assert FRESH in advice.reasons[1]
    assert "forebay probe --bytes" in advice.reasons[1]


def test_a_model_is_not_doubted_beyond_its_probes() -> None:
    known = replace(portrait(), space=replace(portrait().space, bytes_max=GIB))
    assert FRESH not in headline(asked(known))
    assert width(asked(known)) == pytest.approx(width(asked(portrait())))
