"""Values from JSON objects."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import pytest

from forebay.common.files.decoding import decoded
from forebay.common.model.frozen import frozen


class Colour(StrEnum):
    RED = "red"


@frozen
class Part:
    size: int
    share: float = 0.5


@frozen
class Whole:
    name: str
    colour: Colour
    first: Part
    others: tuple[Part, ...] = ()
    limits: Mapping[str, int]
    note: str | None


LINE = {
    "name": "it",
    "colour": "red",
    "first": {"size": 1.0, "share": 1},
    "others": [{"size": 2, "share": 0.25}],
    "limits": {"a": 1},
    "note": None,
    "unknown": "is passed over",
}


def test_members_are_made_into_the_fields_types() -> None:
    assert decoded(Whole, LINE) == Whole(
        name="it",
        colour=Colour.RED,
        first=Part(size=1, share=1.0),
        others=(Part(size=2, share=0.25),),
        limits={"a": 1},
        note=None,
    )
    assert isinstance(decoded(Part, {"size": 3.0, "share": 1}).size, int)


def test_keys_may_differ_and_fields_may_be_given() -> None:
    assert decoded(Part, {"bytes": 3, "share": 1}, names={"size": "bytes"}).size == 3
    assert decoded(Part, {"share": 1}, size=4) == Part(size=4, share=1.0)


def test_nothing_may_be_missing() -> None:
    with pytest.raises(KeyError, match="share"):
        decoded(Part, {"size": 1})


@pytest.mark.parametrize(
    "change", [{"first": []}, {"others": 3}, {"limits": []}, {"colour": "blue"}]
)
def test_what_is_not_such_an_object(change: Mapping[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        decoded(Whole, {**LINE, **change})
