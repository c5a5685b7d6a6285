"""Tests the programs behind the claims of docs/tuning.md: A/A verifications take their runs in the
same way as `forebay verify`."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import pytest

from evaluation.tuning_aa import Run, aa, covering, read_runs, verifications
from forebay_tuning.verify.model import LOOKS, AdviceVerdict


def drawn(count: int, *, stretches: int = 1, noise: float = 0.1) -> list[Run]:
    """Random runs without a difference."""
    generator = random.Random(count)
    return [
        Run(
            stretch=1 + at * stretches // count,
            at=float(at),
            seconds=generator.lognormvariate(0.0, noise),
        )
        for at in range(count)
    ]


def test_each_verification_has_runs_of_its_own_and_stops_at_a_look() -> None:
    found = list(verifications(drawn(4000), seed=1))
    assert all(one.pairs in LOOKS for one in found)
    assert 4000 - 2 * LOOKS[-1] <= 2 * sum(one.pairs for one in found) <= 4000
    assert len(found) >= 100
    seconds = [one for run in found for one in (*run.default, *run.advised)]
    assert len(set(seconds)) == len(seconds)


def test_without_a_difference_few_are_called_one() -> None:
    found = list(verifications(drawn(12000), seed=1))
    claims = [one for one in found if one.verdict in (AdviceVerdict.IMPROVED, AdviceVerdict.WORSE)]
    assert len(claims) <= 0.08 * len(found)


def test_runs_of_two_stretches_are_in_no_verification_together() -> None:
    runs = drawn(1000, stretches=2)
    first = {one.seconds for one in runs if one.stretch == 1}
    for found in verifications(runs, seed=1):
        inside = [one in first for one in (*found.default, *found.advised)]
        assert all(inside) or not any(inside)


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(0, 400, 0.0, 0.0092), (12, 400, 0.0156, 0.0518), (5, 10, 0.1871, 0.8129), (4, 4, 0.3976, 1)],
)
def test_shares_have_the_intervals_of_the_tables(
    hits: int, count: int, low: float, high: float
) -> None:
    assert covering(hits, count) == pytest.approx((low, high), abs=1e-4)


def test_runs_are_kept_from_one_call_to_the_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timings = tmp_path / "timings"
    asked = argparse.Namespace(
        timings=timings, command=["true"], runs=1, seconds=0.0, seed=1, table="aa"
    )
    with pytest.raises(SystemExit, match="too few"):
        aa(asked)
    asked.seconds = 600.0
    aa(asked)
    runs = read_runs(timings)
    assert len(runs) == 200
    asked.command = []
    aa(asked)
    assert read_runs(timings) == runs
    assert "improved or worse" in capsys.readouterr().out


def test_a_line_that_a_kill_cut_short_does_not_count(tmp_path: Path) -> None:
    timings = tmp_path / "timings"
    timings.write_text("1 1700000000.5 0.25\n1 170", encoding="ascii")
    assert read_runs(timings) == [Run(stretch=1, at=1700000000.5, seconds=0.25)]
