"""A file system whose files have been closed can be unmounted, and made read-only, at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from suite import pooled


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts. Run as root.")
def test_a_file_system_is_not_busy_behind_the_last_close(folder: Path) -> None:
    """The daemon had files open that it was still to drain: EBUSY."""
    pooled.Twice(command=[pooled.program("mounts.c")]).ensure_same(folder)
