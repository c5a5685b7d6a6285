"""Limits of a process (setrlimit) count for files in the pool as for others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.verdict import ensure

HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])


@HOW
@pytest.mark.parametrize("by", ["setrlimit", "prlimit", "number", "ulimit", "other", "child"])
def test_a_limit_of_file_sizes_set_while_files_are_open(
    by: str, settings: Mapping[str, str], folder: Path
) -> None:
    """It was looked at when a file was opened only: later, writes went beyond it, without EFBIG and
    SIGXFSZ. ftruncate never heard of it."""
    pooled.Twice(command=[pooled.program("limits.c"), by]).ensure_same(folder, settings)


def test_a_limit_for_a_program_leaves_its_parents_files_in_the_pool(folder: Path) -> None:
    with pooled.pool(folder) as served:
        pooled.run([pooled.program("limits.c"), "child"], served.folder, served.environment())
        reasons = {file.reason for file in served.status().files}
        ensure(reasons == {""}, f"left for {reasons}")
