"""Tests how often predicted intervals cover what was measured on this project's file systems."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.tuning_coverage import (
    GOAL,
    Pair,
    factor_of,
    fresh,
    held,
    held_out,
    portraits_in,
    rows,
    table,
)
from forebay.simulate.files import background_load
from forebay_tuning.model.coverage import MEASURED
from forebay_tuning.model.modelled import Disturbances
from forebay_tuning.model.point import Direction
from forebay_tuning.probe.files.platform_file import read_platform
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem

ROOT = Path(__file__).resolve().parents[1]
PORTRAITS = ROOT / "docs" / "performance" / "portraits"


def pair(missed: float, system: str = "a") -> Pair:
    return Pair(
        system=system,
        direction=Direction.WRITE,
        predicted=0.5,
        half=0.1,
        measured=0.5 + 0.1 * missed,
    )


def test_what_advise_says_of_its_intervals_is_what_was_measured() -> None:
    """The committed portraits: at least nine of ten pairs on each file system are covered, with a
    factor that has not seen it."""
    pairs = [
        one
        for name, portrait in portraits_in(PORTRAITS).items()
        for one in held_out(portrait, name)
    ]
    found = rows(pairs)
    assert len(found) == 4
    assert len(pairs) >= 40
    assert (sum(one.widened for one in found), len(pairs)) == (MEASURED.held, MEASURED.pairs)
    assert factor_of(pairs) <= MEASURED.factor
    assert sum(one.plain for one in found) < GOAL * len(pairs)  # otherwise, no factor is needed
    assert all(one.widened >= GOAL * one.pairs for one in found)


def test_the_factor_holds_nine_of_ten_of_each_system() -> None:
    pairs = [pair(at / 10) for at in range(40)] + [pair(at / 100, "b") for at in range(40)]
    factor = factor_of(pairs)
    assert factor == pytest.approx(3.6)
    assert held(pairs[:40], factor + 1e-9) >= 36
    assert [one.factor for one in rows(pairs)] == [1.0, pytest.approx(3.6)]


def test_fresh_points_are_measured_in_turn_and_some_are_longer() -> None:
    portrait = portraits_in(PORTRAITS)["disk"]
    laptop = ModelledSystem(
        read_platform(ROOT / "platforms" / "laptop.toml"),
        disturbances=Disturbances(),
        load=background_load(),
        seed=1,
    )
    found = fresh(portrait, laptop, "disk", points=4, times=2, seconds_max=60.0)
    assert len(found) == 8
    assert all(math.isfinite(one.predicted) and one.half > 0 for one in found)
    assert {one.system for one in found} == {"disk"}


def test_intervals_that_hold_are_not_made_narrower() -> None:
    assert factor_of([pair(0.1)] * 20) == 1.0
    assert factor_of([]) == 1.0


def test_few_pairs_count_by_their_worst() -> None:
    assert factor_of([pair(1.5), pair(4.0), pair(0.1)]) == pytest.approx(4.0)


def test_both_ends_of_an_interval_count() -> None:
    assert held([pair(-1.5), pair(1.5)], 1.4) == 0
    assert held([pair(-1.5), pair(1.5)], 1.6) == 2
    assert math.isclose(replace(pair(2.0), half=0.2).missed, 1.0)


def test_the_table_has_a_line_for_each_system_and_one_for_all() -> None:
    lines = table([pair(0.5), pair(3.0, "b")]).splitlines()
    assert [one.split("|")[1].strip() for one in lines if one.startswith("| ")][-3:] == [
        "a",
        "b",
        "all",
    ]
