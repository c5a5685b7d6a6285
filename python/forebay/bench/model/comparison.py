"""A comparison of two configurations by interleaved pairs: the order of the runs, when to stop, and
the verdict.

Pairs are used because systems drift: on 21,259 real runs, two blocks of eight repeats of the same
configuration differ by 10 % or more in 30 % of the cases, interleaved pairs in 14 %; longer blocks
do not help."""

from __future__ import annotations

import math
from collections.abc import Sequence

from forebay.common.model.errors import BenchUsageError
from forebay.common.model.estimate import LEVEL, Ratio, paired_ratio, signed_rank_cut
from forebay.common.model.frozen import frozen
from forebay.common.model.interleaving import interleaved
from forebay.common.model.newer_python import StrEnum

MARGIN = 0.05
"""Relative differences below it do not matter."""
LOOKS = (8, 12, 16, 20)
_POCOCK = {1: 0.05, 2: 0.0294, 3: 0.0221, 4: 0.0182, 5: 0.0158}
"""The two-sided level of each look, by the number of looks, for an overall error of 5 % (Pocock
1977, table 1)."""


class ComparedSide(StrEnum):
    """One of the two configurations."""

    A = "A"
    B = "B"


class ComparisonVerdict(StrEnum):
    """The conclusion about B, compared with A."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@frozen
class Design:
    """The number of pairs, and the numbers after which the test may stop (group-sequential design).
    `level` is chosen so that several looks keep the overall error at 5 %."""

    pairs_max: int
    looks: tuple[int, ...]
    level: float
    margin: float
    seed: int

    @staticmethod
    def fixed(*, pairs: int, margin: float, seed: int) -> Design:
        """A design with `pairs` pairs and one look, at the end."""
        return _checked(
            Design(pairs_max=pairs, looks=(pairs,), level=LEVEL, margin=margin, seed=seed)
        )

    @staticmethod
    def sequential(*, pairs_max: int, margin: float, seed: int) -> Design:
        """A design with looks at 8, 12, 16 and 20 pairs, as far as `pairs_max` allows."""
        looks = (*(one for one in LOOKS if one < pairs_max), pairs_max)
        looks = looks[-max(_POCOCK) :]
        level = 1 - _POCOCK[len(looks)]
        return _checked(
            Design(pairs_max=pairs_max, looks=looks, level=level, margin=margin, seed=seed)
        )

    def order(self) -> tuple[tuple[ComparedSide, ComparedSide], ...]:
        """The order within each pair: each side is first equally often, in random order."""
        return interleaved(ComparedSide.A, ComparedSide.B, pairs=self.pairs_max, seed=self.seed)


@frozen
class QuantityFinding:
    """The result for one quantity. The ratio is B over A, above 1 if B is better."""

    quantity: str
    unit: str
    ratio: Ratio
    margin: float
    verdict: ComparisonVerdict
    a: tuple[float, ...]
    b: tuple[float, ...]


def judge(ratio: Ratio, *, margin: float) -> ComparisonVerdict:
    """The verdict. It is equivalent if the whole interval is within the margin (1/(1+m) to 1+m),
    better or worse if it is on one side of 1, and otherwise, or without an interval,
    inconclusive."""
    if ratio.low is None or ratio.high is None:
        return ComparisonVerdict.INCONCLUSIVE
    low, high, most = math.log(ratio.low), math.log(ratio.high), math.log1p(margin)
    if -most <= low and high <= most:
        return ComparisonVerdict.EQUIVALENT
    if low > 0:
        return ComparisonVerdict.BETTER
    return ComparisonVerdict.WORSE if high < 0 else ComparisonVerdict.INCONCLUSIVE


def find(
    quantity: str, unit: str, *, a: Sequence[float], b: Sequence[float], less: bool, design: Design
) -> QuantityFinding:
    """The finding from at least one pair of positive values. `less`: smaller values are better."""
    above, below = (a, b) if less else (b, a)
    ratio = paired_ratio(above, below, level=design.level)
    return QuantityFinding(
        quantity=quantity,
        unit=unit,
        ratio=ratio,
        margin=design.margin,
        verdict=judge(ratio, margin=design.margin),
        a=tuple(a),
        b=tuple(b),
    )


def may_stop(findings: Sequence[QuantityFinding], *, pairs: int, design: Design) -> bool:
    """Whether everything is decided after `pairs` pairs, or there are no more pairs."""
    if pairs >= design.pairs_max:
        return True
    decided = all(one.verdict is not ComparisonVerdict.INCONCLUSIVE for one in findings)
    return pairs in design.looks and decided


def _checked(design: Design) -> Design:
    if not 0 < design.margin < 1:
        raise BenchUsageError(
            f"cannot use --margin {design.margin:.0%} (it is no fraction between 0 and 1). "
            "Write it as in --margin 5%."
        )
    least = next(n for n in range(1, 64) if signed_rank_cut(n, level=design.level)[0])
    if design.pairs_max < least:
        raise BenchUsageError(
            f"cannot use --pairs {design.pairs_max} (it decides nothing: a {design.level:.1%} "
            f"interval needs {least}). Give more; 12 find a difference of 30 % in 8 of 10 cases."
        )
    return design
