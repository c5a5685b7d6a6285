"""ioctl of files that were just written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.verdict import ensure

HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
CASES = ("ranges", "relative", "read_ahead", "alike", "harmless")


@HOW
@pytest.mark.parametrize("case", CASES)
def test_ioctl(case: str, settings: Mapping[str, str], folder: Path) -> None:
    """Requests that punch a hole or set a range to zero did so to a file that was not drained: what
    had been written before came back over it."""
    pooled.Twice(command=[pooled.program("ioctls.c"), case]).ensure_same(folder, settings)


def _reasons(case: str, folder: Path) -> Mapping[str, str]:
    with pooled.pool(folder) as served:
        pooled.run([pooled.program("ioctls.c"), case], served.folder, served.environment())
        return {Path(file.path).name: file.reason for file in served.status().files}


def test_requests_that_change_nothing_keep_a_file_in_the_pool(folder: Path) -> None:
    reasons = _reasons("harmless", folder)
    ensure(reasons == {"one": ""}, f"{reasons}")
