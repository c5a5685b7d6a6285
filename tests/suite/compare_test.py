"""Tests which differences between a plain run and one with Forebay must be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.compare import OUTPUT, RECORD, compare
from suite.verdict import Failed


def compare_told(folder: Path, *, plain: str, forebay: str) -> None:
    for name, lines in (("plain", plain), ("forebay", forebay)):
        (folder / name).mkdir()
        told = "".join(f"= {line}\n" for line in lines.split())
        (folder / name / OUTPUT).write_text(f"{told}check one: ok\nend\n")
    (folder / "forebay" / RECORD).write_text('{"schema": "forebay.record/1", "kind": "job"}\n')
    compare(folder / "plain", folder / "forebay", ranks=2)


def test_the_same_lines_are_the_same(tmp_path: Path) -> None:
    compare_told(tmp_path, plain="a b", forebay="a b")


@pytest.mark.parametrize(
    ("plain", "forebay", "said"),
    [
        ("a b", "a", "only one of them told: b"),
        ("a", "a c", "only one of them told: c"),
        ("", "a", "0 lines told plain, 1 with Forebay"),
        ("a b", "a c", "forebay   c"),
    ],
)
def test_lines_missing_or_added_at_the_end_are_seen(
    tmp_path: Path, plain: str, forebay: str, said: str
) -> None:
    with pytest.raises(Failed, match=said):
        compare_told(tmp_path, plain=plain, forebay=forebay)
