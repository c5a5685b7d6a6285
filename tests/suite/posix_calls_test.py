"""Programs in C that make the calls of a file one after the other: each call returns the same, and
every file has the same bytes, with the pool as without."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled

CASES = (
    "doubled",
    "vectors",
    "half",
    "far",
    "names",
    "forked",
    "threads",
    "signals",
    "wrong",
    "appended",
    "moved",
    "programs",
)
NOT_DEPOSITED = ("appended",)


@pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
@pytest.mark.parametrize("case", CASES)
def test_calls(case: str, settings: Mapping[str, str], folder: Path) -> None:
    program = pooled.program("calls.c", "-pthread")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)
