"""Decodes JSON objects into dataclasses: each field takes the member of its name."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from forebay.common.model.newer_python import NoneType, UnionType

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
    """A `kind` made from the members of `line`. Members without a field are ignored.

    `names` maps fields to keys of the document that differ; `given` has fields that the caller has
    decoded. The type of a field is `int`, `float`, `str`, `bool` or an enum, or an optional value,
    a tuple, a mapping or a dataclass of these. Raises KeyError, TypeError, ValueError or
    AttributeError if `line` does not fit.
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
