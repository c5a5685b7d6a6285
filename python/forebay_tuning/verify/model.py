"""A group-sequential test of advice: pairs of runs, with it and without, with a few interim looks.
The levels of the looks add up to an error rate of 4.8 % (40 000 simulated series without a
difference). The look at 6 pairs takes most of it, so that a large effect is found early."""

from __future__ import annotations

import math
from collections.abc import Sequence

from forebay.bench.model.comparison import MARGIN, ComparedSide, ComparisonVerdict, Design, judge
from forebay.common.model.errors import UsageError
from forebay.common.model.estimate import Ratio, paired_ratio
from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import StrEnum, zip_of
from forebay_tuning.advise.model.advice import Advice

LOOKS = (6, 8, 12, 16, 20)
LEVELS = (0.03125, 0.0079, 0.0097, 0.0097, 0.0105)
"""Two-sided levels of the signed-rank test. The first is the smallest that six pairs can reach."""
_TAIL_LEVEL = 0.05


class AdviceVerdict(StrEnum):
    """The verdict on the advice."""

    IMPROVED = "improved"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLIED = "not applied"


@frozen
class Tail:
    """The slowest runs. `ratio` is the slowest advised run's seconds over the slowest default
    run's; `advised_last` counts advised runs that were slower than all default runs, and `chance`
    is the probability of so many or more if there is no difference."""

    ratio: float
    advised_last: int
    chance: float

    @property
    def is_worse(self) -> bool:
        """Whether slow runs have become slower."""
        return self.chance < _TAIL_LEVEL and self.ratio > 1


@frozen
class Prediction:
    """The gain that the advice predicts (a ratio of speeds) and its interval. If `is_of_io`, it is
    that of the program's I/O, while the pairs are of whole runs."""

    gain: float
    low: float
    high: float
    is_of_io: bool = False

    def holds(self, measured: float) -> bool:
        """Whether the measured ratio of speeds lies within the interval."""
        return self.low <= measured <= self.high


def prediction_of(advice: Advice, *, of_whole_runs: bool) -> Prediction | None:
    """The ratio that the advice predicts for what is measured; None if it predicts none. A gain is
    that of I/O: for pairs `of_whole_runs` it counts with I/O's share of the run, if that is
    known."""
    gains = (advice.gain, advice.gain_low, advice.gain_high)
    if advice.keeps or any(one is None for one in gains):
        return None
    took, whole = advice.workload.seconds, advice.workload.run_seconds
    share = min(1.0, took / whole) if of_whole_runs and took and whole else 1.0
    gain, low, high = (1 / (1 - share + share / one) for one in gains if one is not None)
    return Prediction(
        gain=gain, low=low, high=high, is_of_io=of_whole_runs and not (took and whole)
    )


@frozen
class Verification:
    """The result of the pairs. The ratio is one of speeds, above 1 if the advice is faster."""

    verdict: AdviceVerdict
    ratio: Ratio
    level: float
    default: tuple[float, ...]
    advised: tuple[float, ...]
    tail: Tail
    margin: float = MARGIN

    @property
    def pairs(self) -> int:
        """The number of pairs that were run."""
        return len(self.default)


def order(pairs_max: int, seed: int) -> tuple[tuple[ComparedSide, ComparedSide], ...]:
    """The order within each pair; A is the default, B is advised. Raises UsageError if there are
    too few pairs."""
    if pairs_max < LOOKS[0]:
        raise UsageError(
            f"{pairs_max} pairs decide nothing (six are the least). Give --pairs 6 or more."
        )
    design = Design(pairs_max=pairs_max, looks=LOOKS, level=0.95, margin=MARGIN, seed=seed)
    return design.order()


def is_look(pairs: int, pairs_max: int) -> bool:
    """Whether the test may stop after `pairs` pairs."""
    return pairs in LOOKS or pairs == pairs_max


def interim_test(
    default: Sequence[float], advised: Sequence[float], *, margin: float = MARGIN
) -> Verification:
    """The result from the seconds of equally many runs, at least one pair. It is no improvement if
    slow runs have become slower, whatever the ratio is."""
    level = 1 - _level(len(default))
    ratio = paired_ratio(default, advised, level=level)
    tail = _tail(default, advised)
    found = {
        ComparisonVerdict.BETTER: AdviceVerdict.IMPROVED,
        ComparisonVerdict.WORSE: AdviceVerdict.WORSE,
        ComparisonVerdict.EQUIVALENT: AdviceVerdict.EQUIVALENT,
        ComparisonVerdict.INCONCLUSIVE: AdviceVerdict.INCONCLUSIVE,
    }[judge(ratio, margin=margin)]
    if tail.is_worse and found is not AdviceVerdict.INCONCLUSIVE:
        found = AdviceVerdict.WORSE
    return Verification(
        verdict=found,
        ratio=ratio,
        level=level,
        default=tuple(default),
        advised=tuple(advised),
        tail=tail,
        margin=margin,
    )


def _level(pairs: int) -> float:
    """The level of the look at `pairs` pairs; between two looks, that of the later one."""
    for at, level in zip_of(LOOKS, LEVELS, strict=True):
        if pairs <= at:
            return level
    return LEVELS[-1]


def _tail(default: Sequence[float], advised: Sequence[float]) -> Tail:
    """The precedence test: how many values of one sample exceed all of the other."""
    worst = max(default)
    last = sum(one > worst for one in advised)
    count = len(default)
    p_value = math.comb(2 * count - last, count) / math.comb(2 * count, count)
    return Tail(ratio=max(advised) / worst, advised_last=last, chance=p_value)
