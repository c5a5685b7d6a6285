"""The decorator for value types, which are immutable and keyword-only (STYLE.md)."""

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, Never, TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(kind: type[_T]) -> type[_T]:
    """Makes `kind` a frozen dataclass whose constructor takes keyword arguments only.

    Its functions are closures: `dataclass` makes them from text, and compiling that takes 0.7 ms
    of processor time a class, for which each program that is run would wait."""
    make: Callable[[type[_T]], type[_T]] = dataclass(init=False, eq=False, repr=False, kw_only=True)
    own = set(vars(kind))
    made = make(kind)
    functions = {
        "__init__": _constructor(made),
        **_comparing(made),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
    }
    for name, function in functions.items():
        if name not in own:
            setattr(made, name, function)
    return made


def _constructor(kind: Any) -> Callable[..., None]:
    """`__init__`, which takes a keyword argument for each field."""
    found = fields(kind)
    names = frozenset(one.name for one in found)
    constants = {one.name: one.default for one in found if one.default is not MISSING}
    factories: dict[str, Callable[[], object]] = {
        one.name: one.default_factory for one in found if one.default_factory is not MISSING
    }
    required = names - constants.keys() - factories.keys()

    def construct(self: object, /, **given: object) -> None:
        if not required <= given.keys() <= names:
            wrong = sorted(required - given.keys()) or sorted(given.keys() - names)
            what = "missing" if required - given.keys() else "unexpected"
            raise TypeError(f"{kind.__qualname__}: {what} keyword argument {wrong[0]!r}")
        made = {name: factory() for name, factory in factories.items() if name not in given}
        self.__dict__.update(constants | made | given)

    return construct


def _comparing(kind: Any) -> dict[str, Callable[..., object]]:
    """`__eq__`, `__hash__` and `__repr__`."""
    names = tuple(one.name for one in fields(kind))
    get = attrgetter(*names) if names else lambda _: ()

    def equal(one: object, other: object) -> Any:
        return get(one) == get(other) if other.__class__ is one.__class__ else NotImplemented

    def hashed(one: object) -> int:
        return hash(get(one))

    def shown(one: object) -> str:
        named = ", ".join(f"{name}={getattr(one, name)!r}" for name in names)
        return f"{type(one).__qualname__}({named})"

    return {"__eq__": equal, "__hash__": hashed, "__repr__": shown}


def _refuse_to_set(_: object, name: str, value: object) -> Never:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> Never:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
