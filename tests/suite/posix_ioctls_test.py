"""ioctl, and the flags and vectors of preadv2 and pwritev2, of files that were just written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.verdict import ensure

HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
CASES = ("ranges", "relative", "read_ahead", "alike", "harmless", "flags")


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


def test_unknown_flags_are_named_as_such(folder: Path) -> None:
    """RWF_DONTCACHE was told as O_DIRECT or O_SYNC."""
    reasons = _reasons("flags", folder)
    expected = {
        "flag.1": "",
        "flag.2": "direct",
        "flag.4": "direct",
        "flag.80": "flags",
        "flag.40000000": "flags",
    }
    ensure(reasons == expected, f"{reasons}")


@HOW
def test_vectors_that_make_no_sense(settings: Mapping[str, str], folder: Path) -> None:
    """Errors came in another order than the kernel's: EFAULT for EINVAL, EINVAL for EBADF, and some
    vectors that it refuses were taken."""
    pooled.Twice(command=[pooled.program("vectors.c")]).ensure_same(folder, settings)
