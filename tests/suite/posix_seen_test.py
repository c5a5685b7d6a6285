"""Calls that reach a file of the pool by another way than its name: each returns the same, and
every file has the same bytes, with the pool as without."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.verdict import ensure

HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])


@HOW
def test_a_descriptor_that_is_sent(settings: Mapping[str, str], folder: Path) -> None:
    """The process that receives it knows of no pool: it read an empty file."""
    # While it runs, the pool is empty (decision 0043).
    pooled.Twice(command=[pooled.program("sent.c")], deposits=False).ensure_same(folder, settings)


def test_only_files_that_are_sent_leave(folder: Path) -> None:
    with pooled.pool(folder) as served:
        pooled.run([pooled.program("sent.c")], served.folder, served.environment())
        reasons = {Path(file.path).name: file.reason for file in served.status().files}
    expected = {"sent": "sent", "other": "sent", "third": "sent", "kept": "uncaptured"}
    ensure(reasons == expected, f"{reasons}")


@HOW
@pytest.mark.parametrize("case", ["handles", "names", "times", "ranges", "fetched", "frozen"])
def test_other_ways(case: str, settings: Mapping[str, str], folder: Path) -> None:
    program = pooled.program("other_ways.c")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)
