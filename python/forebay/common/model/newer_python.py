"""Functions and types of newer Pythons that 3.9 lacks, which is the Python of Debian 11 and of
RHEL 9. From 3.11 on, all of them are Python's own."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

if sys.version_info >= (3, 11):
    from enum import StrEnum
else:

    class StrEnum(str, Enum):
        """An enum of texts, each of which prints as itself."""

        __str__ = str.__str__
        __format__ = str.__format__


if sys.version_info >= (3, 10):
    from itertools import pairwise
    from types import NoneType, UnionType

    zip_of = zip
else:
    from itertools import zip_longest
    from typing import Union as UnionType

    NoneType = type(None)

    def pairwise(values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Each value with the one behind it."""
        iterator = iter(values)
        left = next(iterator, None)
        for right in iterator:
            yield left, right
            left = right

    _MISSING = object()

    def zip_of(*columns: Iterable[Any], strict: bool) -> Iterator[tuple[Any, ...]]:
        """As zip(). Raises ValueError if the columns are not of one length, and `strict` is."""
        rows = zip_longest(*columns, fillvalue=_MISSING) if strict else zip(*columns)
        for row in rows:
            if any(value is _MISSING for value in row):
                raise ValueError("zip_of() has columns of several lengths")
            yield row


__all__ = ["NoneType", "StrEnum", "UnionType", "pairwise", "zip_of"]
