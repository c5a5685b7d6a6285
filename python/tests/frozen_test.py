"""Value types compare, hash and print as the standard library's dataclasses do."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace
from typing import Any

import pytest

from forebay.common.model.frozen import frozen


@dataclass(frozen=True, kw_only=True)
class Plain:
    """Two fields, one with a default."""

    path: str
    bytes: int = 0


@frozen
class Ours:
    """The same two fields."""

    path: str
    bytes: int = 0


@frozen
class More(Ours):
    """And one more."""

    seconds: float = 0.5


@frozen
class Single:
    """One field."""

    path: str


@frozen
class Listed:
    """A field with a default of its own."""

    names: list[str] = field(default_factory=list)


@frozen
class Nothing:
    """No field at all."""


@frozen
class Own:
    """Compares by itself."""

    path: str

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_values_are_equal_by_their_fields_and_their_type() -> None:
    assert Ours(path="a") == Ours(path="a", bytes=0)
    assert Ours(path="a") != Ours(path="b")
    assert Ours(path="a") != Ours(path="a", bytes=1)
    assert Ours(path="a") != More(path="a")
    assert More(path="a", seconds=1.0) != More(path="a", seconds=2.0)
    other: object = "a"
    assert Ours(path="a") != other
    assert Single(path="a") != Single(path="b")
    assert Nothing() == Nothing()
    assert Own(path="a") == Own(path="b")


def test_equal_values_are_one_key() -> None:
    values: set[Any] = {Ours(path="a"), Ours(path="a"), More(path="a"), Single(path="a"), Nothing()}
    assert len(values) == 4
    with pytest.raises(TypeError):
        hash(Ours(path=[]))  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [{"path": "a\n"}, {"path": "", "bytes": 7}])
def test_they_are_printed_as_they_are_written(values: dict[str, Any]) -> None:
    assert repr(Ours(**values)) == repr(Plain(**values)).replace("Plain", "Ours")
    assert repr(More(path="a")) == "More(path='a', bytes=0, seconds=0.5)"
    assert repr(Nothing()) == "Nothing()"


def test_they_cannot_be_changed_but_replaced() -> None:
    one = Ours(path="a")
    with pytest.raises(FrozenInstanceError):
        one.path = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del one.path
    assert replace(one, path="b") == Ours(path="b")
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one


def test_they_are_made_of_their_fields_by_name() -> None:
    assert More(path="a", seconds=1.0) == More(seconds=1.0, bytes=0, path="a")
    assert asdict(More(path="a")) == {"path": "a", "bytes": 0, "seconds": 0.5}
    with pytest.raises(TypeError, match="Ours: missing keyword argument 'path'"):
        Ours(bytes=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Ours: unexpected keyword argument 'name'"):
        Ours(path="a", name="b")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Ours("a")  # type: ignore[call-arg]


def test_a_default_that_can_be_changed_is_made_for_each() -> None:
    first, second = Listed(), Listed()
    first.names.append("a")
    assert (first.names, second.names) == (["a"], [])
    assert Listed(names=["b"]).names == ["b"]
