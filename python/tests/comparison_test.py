"""Order, verdicts and intervals of a comparison, against brute force and by simulation."""

import math
import random
from functools import cache
from itertools import product
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.bench.model.comparison import (
    ComparedSide,
    ComparisonVerdict,
    Design,
    find,
    judge,
    may_stop,
)
from forebay.common.model.errors import UsageError
from forebay.common.model.estimate import Ratio, paired_ratio

POSITIVE = st.floats(min_value=1e-3, max_value=1e6)
PAIRS = st.lists(st.tuples(POSITIVE, POSITIVE), min_size=6, max_size=10)
DESIGN = Design.fixed(pairs=12, margin=0.05, seed=1)


def ratio_of(low: float, high: float) -> Ratio:
    return Ratio(
        estimate=math.sqrt(low * high),
        least=low,
        most=high,
        pairs=12,
        low=low,
        high=high,
        confidence=0.95,
    )


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.10, 1.40, ComparisonVerdict.BETTER),
        (0.60, 0.90, ComparisonVerdict.WORSE),
        (0.98, 1.03, ComparisonVerdict.EQUIVALENT),
        (1.01, 1.04, ComparisonVerdict.EQUIVALENT),
        (1.01, 1.08, ComparisonVerdict.BETTER),
        (0.90, 1.20, ComparisonVerdict.INCONCLUSIVE),
        (1 / 1.05, 1.05, ComparisonVerdict.EQUIVALENT),
        (1 / 1.06, 1.05, ComparisonVerdict.INCONCLUSIVE),
    ],
)
def test_verdict_is_what_the_whole_interval_says(
    low: float, high: float, verdict: ComparisonVerdict
) -> None:
    assert judge(ratio_of(low, high), margin=0.05 + 1e-12) is verdict


@given(PAIRS)
def test_estimate_and_interval_are_those_of_brute_force(pairs: list[tuple[float, float]]) -> None:
    """The interval inverts the test: a shift is inside if the exact test does not reject it."""
    above, below = zip(*pairs, strict=True)
    got = paired_ratio(above, below)
    logs = [math.log(a / b) for a, b in pairs]
    means = [(x + y) / 2 for i, x in enumerate(logs) for y in logs[i:]]
    assert math.log(got.estimate) == pytest.approx(median(means), abs=1e-9)
    assert got.low is not None
    assert got.high is not None
    for shift in (got.low * 0.999, got.low * 1.001, got.high * 0.999, got.high * 1.001):
        inside = got.low < shift < got.high
        assert rejects(means, math.log(shift), len(logs)) is not inside


@cache
def sums_of_signs(count: int) -> list[int]:
    ways = product((0, 1), repeat=count)
    return [sum(rank for rank, on in enumerate(way, 1) if on) for way in ways]


def rejects(means: list[float], shift: float, count: int) -> bool:
    """Wilcoxon's statistic counts the Walsh averages above the shift (Tukey)."""
    above = sum(one > shift for one in means)
    smaller = min(above, len(means) - above)
    sums = sums_of_signs(count)
    return 2 * sum(one <= smaller for one in sums) / len(sums) <= 0.05


@given(PAIRS, st.floats(min_value=0.01, max_value=100))
def test_a_verdict_turns_round_with_its_sides(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    a = [one for one, _ in pairs]
    b = [one * factor for _, one in pairs]
    there = find("x", "s", a=a, b=b, less=True, design=DESIGN)
    back = find("x", "s", a=b, b=a, less=True, design=DESIGN)
    other = {
        ComparisonVerdict.BETTER: ComparisonVerdict.WORSE,
        ComparisonVerdict.WORSE: ComparisonVerdict.BETTER,
    }
    assert back.verdict is other.get(there.verdict, there.verdict)
    rate = find("x", "MiB/s", a=a, b=b, less=False, design=DESIGN)
    assert rate.verdict is back.verdict


@given(st.integers(min_value=6, max_value=40), st.integers(min_value=0, max_value=2**32))
def test_order_is_balanced_and_of_its_seed(pairs: int, seed: int) -> None:
    design = Design.fixed(pairs=pairs, margin=0.05, seed=seed)
    order = design.order()
    assert order == design.order()
    assert len(order) == pairs
    assert all(set(one) == set(ComparedSide) for one in order)
    assert abs(2 * sum(one[0] is ComparedSide.A for one in order) - pairs) <= 1


@pytest.mark.parametrize("design", [DESIGN, Design.sequential(pairs_max=20, margin=0.05, seed=1)])
def test_nothing_is_found_where_nothing_is(design: Design) -> None:
    """Drift that both sides share, heavy noise, no difference: at most 5 % are called different."""
    generator = random.Random(5)
    trials, wrong = 400, 0
    for _ in range(trials):
        a, b = [], []
        for pair in range(1, design.pairs_max + 1):
            drift = 100 * math.exp(0.4 * math.sin(pair / 3))
            a.append(drift * math.exp(generator.gauss(0, 0.3)))
            b.append(drift * math.exp(generator.gauss(0, 0.3)))
            if pair in design.looks:
                found = find("x", "", a=a, b=b, less=False, design=design)
                if may_stop([found], pairs=pair, design=design):
                    break
        wrong += found.verdict in (ComparisonVerdict.BETTER, ComparisonVerdict.WORSE)
    assert wrong <= 0.05 * trials + 3 * math.sqrt(0.05 * 0.95 * trials)


def test_sequential_looks_stop_when_all_is_decided() -> None:
    design = Design.sequential(pairs_max=20, margin=0.05, seed=1)
    assert design.looks == (8, 12, 16, 20)
    clear = find("x", "", a=[1.0] * 8, b=[2.0] * 8, less=False, design=design)
    assert clear.verdict is ComparisonVerdict.BETTER
    assert may_stop([clear], pairs=8, design=design)
    assert not may_stop([clear], pairs=7, design=design)


def test_too_few_pairs_and_odd_margins_are_refused() -> None:
    with pytest.raises(UsageError, match="decides nothing"):
        Design.fixed(pairs=5, margin=0.05, seed=1)
    with pytest.raises(UsageError, match="margin"):
        Design.fixed(pairs=12, margin=5, seed=1)
