"""How values are declared: what STYLE.md asks of every one of them, said once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(kind: type[_T]) -> type[_T]:
    """A dataclass that cannot be changed, and whose fields are named where one is made."""
    make: Callable[[type[_T]], type[_T]] = dataclass(frozen=True, kw_only=True)
    return make(kind)
