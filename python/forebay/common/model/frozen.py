"""The decorator for value types, which are immutable and keyword-only (STYLE.md)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(kind: type[_T]) -> type[_T]:
    """Makes `kind` a frozen dataclass whose constructor takes keyword arguments only."""
    make: Callable[[type[_T]], type[_T]] = dataclass(frozen=True, kw_only=True)
    return make(kind)
