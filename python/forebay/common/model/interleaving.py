"""The order of runs that are compared by interleaved pairs."""

import random
from typing import TypeVar

_T = TypeVar("_T")


def interleaved(a: _T, b: _T, *, pairs: int, seed: int) -> tuple[tuple[_T, _T], ...]:
    """The order within each pair: each side is first equally often, in random order. With an odd
    number of pairs, chance decides which is first once more."""
    firsts = [True, False] * (pairs // 2)
    generator = random.Random(seed)
    if pairs % 2:
        firsts.append(generator.choice([True, False]))
    generator.shuffle(firsts)
    return tuple((a, b) if a_first else (b, a) for a_first in firsts)
