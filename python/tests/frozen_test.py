"""The constructor that value types have on Python 3.9, on whichever Python tests run."""

from dataclasses import dataclass, field, replace

import pytest

from forebay.common.model.frozen import _set_fields


@dataclass(frozen=True, init=False)
class Value:
    name: str
    words: list[str] = field(default_factory=list)
    count: int = 1
    # kw_only lets it stand behind those with defaults, and so does this constructor.
    size: int  # type: ignore[misc]

    __init__ = _set_fields

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.size * 2)


def test_fields_are_given_by_name_or_have_their_defaults() -> None:
    value = Value(name="a", size=3)
    assert (value.name, value.words, value.count, value.size) == ("a", [], 1, 6)
    assert replace(value, count=5) == Value(name="a", count=5, size=6)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"name": "a"}, "misses the argument 'size'"),
        ({"name": "a", "size": 1, "sizes": 2}, "has no argument 'sizes'"),
    ],
)
def test_missing_and_unknown_fields_are_told(given: dict[str, object], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        Value(**given)
