"""Whether advice helps: pairs of runs, with it and without, looked at a few times while they come.
Each look may err as often as the levels below say, and all of them together in 4.8 % of the cases
(40 000 simulated series without a difference); looking at 6 pairs costs most of that, so that what
helps a lot is known soon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from forebay.bench.model.comparison import MARGIN, Design, Side, judge
from forebay.bench.model.comparison import Verdict as Pairwise
from forebay.common.model.errors import UsageError
from forebay.common.model.estimate import Ratio, paired_ratio
from forebay.common.model.frozen import frozen

LOOKS = (6, 8, 12, 16, 20)
LEVELS = (0.03125, 0.0079, 0.0097, 0.0097, 0.0105)
"""Two-sided, of the signed-rank test. The first is the least that six pairs can reach."""
_TAIL_LEVEL = 0.05


class Verdict(StrEnum):
    """On the advice."""

    IMPROVED = "improved"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLIED = "not applied"


@frozen
class Tail:
    """The slowest runs: `ratio` of the slowest advised run's seconds to the slowest default's;
    `advised_last`: advised runs that were slower than every default one, and `chance` of that many
    where there is no difference."""

    ratio: float
    advised_last: int
    chance: float

    @property
    def is_worse(self) -> bool:
        """Whether slow runs have become slower."""
        return self.chance < _TAIL_LEVEL and self.ratio > 1


@frozen
class Verification:
    """What the pairs say. The ratio is of speeds, above 1 where the advice is faster."""

    verdict: Verdict
    ratio: Ratio
    level: float
    default: tuple[float, ...]
    advised: tuple[float, ...]
    tail: Tail
    margin: float = MARGIN

    @property
    def pairs(self) -> int:
        """That were run."""
        return len(self.default)


def order(pairs_max: int, seed: int) -> tuple[tuple[Side, Side], ...]:
    """Of each pair, who goes first. A: default, B: advised. UsageError: too few pairs."""
    if pairs_max < LOOKS[0]:
        raise UsageError(
            f"{pairs_max} pairs decide nothing (six are the least). Give --pairs 6 or more."
        )
    design = Design(pairs_max=pairs_max, looks=LOOKS, level=0.95, margin=MARGIN, seed=seed)
    return design.order()


def is_look(pairs: int, pairs_max: int) -> bool:
    """Whether after so many pairs one may stop."""
    return pairs in LOOKS or pairs == pairs_max


def look(
    default: Sequence[float], advised: Sequence[float], *, margin: float = MARGIN
) -> Verification:
    """From seconds of equally many runs, at least one pair. What is known of the speed is no
    improvement where slow runs have become slower."""
    level = 1 - _level(len(default))
    ratio = paired_ratio(default, advised, level=level)
    tail = _tail(default, advised)
    found = {
        Pairwise.BETTER: Verdict.IMPROVED,
        Pairwise.WORSE: Verdict.WORSE,
        Pairwise.EQUIVALENT: Verdict.EQUIVALENT,
        Pairwise.INCONCLUSIVE: Verdict.INCONCLUSIVE,
    }[judge(ratio, margin=margin)]
    if tail.is_worse and found is not Verdict.INCONCLUSIVE:
        found = Verdict.WORSE
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
    """Of the look at so many pairs; between two looks, that of the later one."""
    for at, level in zip(LOOKS, LEVELS, strict=True):
        if pairs <= at:
            return level
    return LEVELS[-1]


def _tail(default: Sequence[float], advised: Sequence[float]) -> Tail:
    """The precedence test: how many of one sample lie beyond all of the other."""
    worst = max(default)
    last = sum(one > worst for one in advised)
    count = len(default)
    chance = math.comb(2 * count - last, count) / math.comb(2 * count, count)
    return Tail(ratio=max(advised) / worst, advised_last=last, chance=chance)
