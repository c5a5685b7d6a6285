"""The decorator for value types, which are immutable and keyword-only (STYLE.md)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing import dataclass_transform
else:  # Python 3.11 has it; only type checkers look at what it says

    def dataclass_transform(**_: Any) -> Any:
        return lambda decorator: decorator


_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(kind: type[_T]) -> type[_T]:
    """Makes `kind` a frozen dataclass whose constructor takes keyword arguments only."""
    return _dataclass_of(kind, order=False)


@dataclass_transform(
    frozen_default=True, kw_only_default=True, order_default=True, field_specifiers=(field,)
)
def frozen_ordered(kind: type[_T]) -> type[_T]:
    """Makes `kind` a dataclass as `frozen` does, whose values are ordered by their fields."""
    return _dataclass_of(kind, order=True)


def _dataclass_of(kind: type[_T], *, order: bool) -> type[_T]:
    make: Callable[[type[_T]], type[_T]]
    if sys.version_info >= (3, 10):
        make = dataclass(frozen=True, kw_only=True, order=order)
        return make(kind)
    make = dataclass(frozen=True, init=False, order=order)
    made = make(kind)
    made.__init__ = _set_fields
    return made


def _set_fields(self: Any, **given: object) -> None:
    """The constructor of a frozen dataclass, for Python 3.9, whose own takes no keyword-only ones.
    Raises TypeError if a field is missing, or is none."""
    for one in fields(self):
        if one.name in given:
            value = given.pop(one.name)
        elif one.default is not MISSING:
            value = one.default
        elif one.default_factory is not MISSING:
            value = one.default_factory()
        else:
            raise TypeError(f"{type(self).__name__}() misses the argument {one.name!r}")
        object.__setattr__(self, one.name, value)
    for name in given:
        raise TypeError(f"{type(self).__name__}() has no argument {name!r}")
    if hasattr(self, "__post_init__"):
        self.__post_init__()
