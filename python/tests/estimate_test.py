"""The estimates against textbook values and a naive oracle."""

import math
from itertools import product

import pytest

from forebay.common.model.estimate import (
    paired_ratio,
    sign_coverage,
    sign_cut,
    signed_rank_cut,
    spread,
)


def naive_confidence(pairs: int, cut: int) -> float:
    sums = [
        sum(rank for rank, sign in enumerate(signs, 1) if sign)
        for signs in product((0, 1), repeat=pairs)
    ]
    return 1 - 2 * sum(total < cut for total in sums) / len(sums)


@pytest.mark.parametrize("pairs", range(1, 6))
def test_fewer_than_six_pairs_give_no_interval(pairs: int) -> None:
    assert signed_rank_cut(pairs) == (0, 0.0)
    ratio = paired_ratio([2.0] * pairs, [1.0] * pairs)
    assert ratio.low is None
    assert ratio.high is None
    assert ratio.estimate == pytest.approx(2.0)


@pytest.mark.parametrize(("pairs", "cut"), [(6, 1), (8, 4), (10, 9), (12, 14)])
def test_cut_is_the_tables(pairs: int, cut: int) -> None:
    got, confidence = signed_rank_cut(pairs)
    assert got == cut
    assert confidence == pytest.approx(naive_confidence(pairs, cut))
    assert naive_confidence(pairs, cut + 1) < 0.95


def test_interval_spans_the_estimate_and_turns_round() -> None:
    above = [3.0, 2.5, 2.0, 4.0, 2.2, 2.9, 3.3, 2.6]
    below = [1.0, 1.1, 0.9, 1.2, 1.0, 1.3, 1.1, 1.0]
    there, back = paired_ratio(above, below), paired_ratio(below, above)
    assert there.low is not None
    assert there.high is not None
    assert back.low is not None
    assert there.least <= there.low <= there.estimate <= there.high <= there.most
    assert math.isclose(there.estimate, 1 / back.estimate)
    assert math.isclose(there.high, 1 / back.low)


def test_one_straggler_moves_the_estimate_little() -> None:
    steady = paired_ratio([2.0] * 8, [1.0] * 8).estimate
    straggler = paired_ratio([2.0] * 7 + [0.02], [1.0] * 8).estimate
    assert straggler == pytest.approx(steady)


def test_spread() -> None:
    got = spread([3.0, 1.0, 2.0])
    assert (got.median, got.least, got.most, got.count) == (2.0, 1.0, 3.0, 3)


@pytest.mark.parametrize(("count", "cut"), [(5, 0), (6, 0), (9, 1), (12, 2), (20, 5)])
def test_interval_of_the_median_is_the_sign_tests(count: int, cut: int) -> None:
    got = spread([float(one) for one in range(count)])
    assert (got.low, got.high) == (float(cut), float(count - 1 - cut))
    heads = [bin(toss).count("1") for toss in range(2**count)] if count <= 12 else []
    if heads:
        inside = sum(cut < one < count - cut for one in heads) / len(heads)
        assert got.confidence == pytest.approx(inside)
    assert sign_coverage(count, cut + 1) < 0.95


def test_a_median_of_few_values_says_how_little_is_known() -> None:
    assert spread([1.0]).confidence == 0.0
    assert spread([1.0, 2.0, 3.0]).confidence == pytest.approx(0.75)


@pytest.mark.parametrize("count", range(1, 80))
def test_cut_of_the_median_is_the_largest_that_covers(count: int) -> None:
    cut = sign_cut(count)
    assert cut == 0 or sign_coverage(count, cut) >= 0.95
    assert cut + 1 >= (count + 1) // 2 or sign_coverage(count, cut + 1) < 0.95


def test_more_repetitions_than_a_float_has_powers_of_two() -> None:
    got = spread([float(one) for one in range(4096)])
    assert got.confidence == pytest.approx(0.95, abs=0.01)
    normal = 1.96 * math.sqrt(4096) / 2
    assert got.median - got.low == pytest.approx(normal, abs=2)
