"""Locks of ranges that are counted from the offset of a descriptor or from the end of the file,
which the kernel does not know of a file in the pool."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled


@pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
@pytest.mark.parametrize("how", ["fcntl", "ofd", "lockf"])
def test_two_processes_held_the_same_record(
    how: str, settings: Mapping[str, str], folder: Path
) -> None:
    program = pooled.program("relative_locks.c")
    pooled.Twice(command=[program, how]).ensure_same(folder, settings)
