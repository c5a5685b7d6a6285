"""Values from JSON objects: a member for each field of a dataclass, made into the field's type."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_Converter = Callable[[Any], object]
_NO_NAMES: Mapping[str, str] = {}


def decoded(
    kind: type[_T],
    line: Mapping[str, Any],
    *,
    names: Mapping[str, str] = _NO_NAMES,
    **given: object,
) -> _T:
    """A `kind` from the members of `line`; members that it has no field for are passed over.

    `names`: keys of fields that the document calls otherwise. `given`: fields that the caller has
    decoded. Fields may be of `int`, `float`, `str`, `bool` and enums, and optional values, tuples,
    mappings and dataclasses of these. KeyError, TypeError, ValueError, AttributeError: not such an
    object.
    """
    make: Callable[..., _T] = kind
    for name, convert in _converters(make).items():
        key = names.get(name, name)
        if name not in given:
            given[name] = convert(line[key])
    return make(**given)


@cache
def _converters(kind: Any) -> Mapping[str, _Converter]:
    """The converter for each field of a dataclass."""
    hints = get_type_hints(kind)
    return {field.name: _converter(hints[field.name]) for field in fields(kind)}


def _converter(hint: Any) -> _Converter:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        (one,) = (_converter(argument) for argument in arguments if argument is not NoneType)
        return lambda value: None if value is None else one(value)
    if origin is tuple:
        each = _converter(arguments[0])
        return lambda value: tuple(each(one) for one in value)
    if origin is not None:
        key, member = (_converter(argument) for argument in arguments)
        return lambda value: {key(name): member(one) for name, one in value.items()}
    make: Any = hint
    return partial(decoded, make) if is_dataclass(hint) else make
