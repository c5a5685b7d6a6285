"""Two configurations compared by interleaved pairs: the order in which they run, when there are
enough pairs, and what the pairs say.

Why pairs: on 21,259 real runs, two blocks of eight repeats of the same configuration differ by
10 % or more in 30 % of the cases, interleaved pairs in 14 %; longer blocks do not help."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from enum import StrEnum

from forebay.common.model.errors import BenchUsageError
from forebay.common.model.estimate import LEVEL, Ratio, paired_ratio, signed_rank_cut
from forebay.common.model.frozen import frozen

MARGIN = 0.05
LOOKS = (8, 12, 16, 20)
_POCOCK = {1: 0.05, 2: 0.0294, 3: 0.0221, 4: 0.0182, 5: 0.0158}
"""Two-sided level of each look so that all together err in 5 % (Pocock 1977, table 1)."""


class Side(StrEnum):
    """Which configuration."""

    A = "A"
    B = "B"


class Verdict(StrEnum):
    """The certain conclusion about B against A."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@frozen
class Design:
    """How many pairs, and after which of them one may stop. Levels are such that looking several
    times does not raise the error above 5 %."""

    pairs_max: int
    looks: tuple[int, ...]
    level: float
    margin: float
    seed: int

    @staticmethod
    def fixed(*, pairs: int, margin: float, seed: int) -> Design:
        """So many pairs, one look at the end."""
        return _checked(
            Design(pairs_max=pairs, looks=(pairs,), level=LEVEL, margin=margin, seed=seed)
        )

    @staticmethod
    def sequential(*, pairs_max: int, margin: float, seed: int) -> Design:
        """Looks at 8, 12, 16 and 20 pairs, as far as there are so many."""
        looks = (*(one for one in LOOKS if one < pairs_max), pairs_max)
        looks = looks[-max(_POCOCK) :]
        level = 1 - _POCOCK[len(looks)]
        return _checked(
            Design(pairs_max=pairs_max, looks=looks, level=level, margin=margin, seed=seed)
        )

    def order(self) -> tuple[tuple[Side, Side], ...]:
        """The order of each pair: each side goes first equally often, in random places."""
        firsts = [Side.A, Side.B] * (self.pairs_max // 2)
        generator = random.Random(self.seed)
        if self.pairs_max % 2:
            firsts.append(generator.choice(list(Side)))
        generator.shuffle(firsts)
        return tuple((one, Side.B if one is Side.A else Side.A) for one in firsts)


@frozen
class Finding:
    """The result for one quantity. The ratio is of B to A, above 1 where B is the better."""

    quantity: str
    unit: str
    ratio: Ratio
    margin: float
    verdict: Verdict
    a: tuple[float, ...]
    b: tuple[float, ...]


def judge(ratio: Ratio, *, margin: float) -> Verdict:
    """Equivalent: the whole interval lies within the margin (1/(1+m) to 1+m). Better and worse:
    it lies on one side of 1. Anything else, and any ratio without an interval: inconclusive."""
    if ratio.low is None or ratio.high is None:
        return Verdict.INCONCLUSIVE
    low, high, most = math.log(ratio.low), math.log(ratio.high), math.log1p(margin)
    if -most <= low and high <= most:
        return Verdict.EQUIVALENT
    if low > 0:
        return Verdict.BETTER
    return Verdict.WORSE if high < 0 else Verdict.INCONCLUSIVE


def find(
    quantity: str, unit: str, *, a: Sequence[float], b: Sequence[float], less: bool, design: Design
) -> Finding:
    """From at least one pair of positive values; `less`: the smaller is the better."""
    above, below = (a, b) if less else (b, a)
    ratio = paired_ratio(above, below, level=design.level)
    return Finding(
        quantity=quantity,
        unit=unit,
        ratio=ratio,
        margin=design.margin,
        verdict=judge(ratio, margin=design.margin),
        a=tuple(a),
        b=tuple(b),
    )


def may_stop(findings: Sequence[Finding], *, pairs: int, design: Design) -> bool:
    """Whether after so many pairs everything is decided, or there is nothing more to come."""
    if pairs >= design.pairs_max:
        return True
    decided = all(one.verdict is not Verdict.INCONCLUSIVE for one in findings)
    return pairs in design.looks and decided


def _checked(design: Design) -> Design:
    if not 0 < design.margin < 1:
        raise BenchUsageError(
            f"no such margin ({design.margin:g}). Give a fraction between 0 and 1, as in 5%."
        )
    least = next(n for n in range(1, 64) if signed_rank_cut(n, level=design.level)[0])
    if design.pairs_max < least:
        raise BenchUsageError(
            f"{design.pairs_max} pairs decide nothing (a {design.level:.1%} interval needs "
            f"{least}). Give more; 12 find a difference of 30 % in 8 of 10 cases."
        )
    return design
