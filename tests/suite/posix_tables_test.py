"""Children of clone(), and threads that get a table of descriptors of their own, write to the files
that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.verdict import ensure

HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
# The tables that processes share, and whether a file stays in the pool then.
SHARED: Mapping[str, bool] = {
    "forked": True,
    "descriptors": False,
    "memory": False,
    "waited_for": False,
    "both": True,
    "first": True,
    "unshared": False,
    "range": False,
    "alone": True,
    "numbered_fork": True,
    "numbered_descriptors": False,
}


@HOW
@pytest.mark.parametrize("shared", SHARED)
def test_writes_land_in_the_file_that_they_mean(
    shared: str, settings: Mapping[str, str], folder: Path
) -> None:
    """A child of clone() wrote over what its parent had written, one that shared its descriptors
    got EIO, and a thread behind unshare(CLONE_FILES) wrote to another thread's file."""
    command = [pooled.program("tables.c", "-pthread"), shared]
    pooled.Twice(command=command).ensure_same(folder, settings)


@pytest.mark.parametrize("shared", SHARED)
def test_only_what_cannot_be_tracked_leaves(shared: str, folder: Path) -> None:
    program = pooled.program("tables.c", "-pthread")
    with pooled.pool(folder) as served:
        pooled.run([program, shared], served.folder, served.environment())
        left = {file.reason for file in served.status().files} - {""}
        ensure(left == (set() if SHARED[shared] else {"tables"}), f"left for {left}")
