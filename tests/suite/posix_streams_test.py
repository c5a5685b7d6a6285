"""Programs that write and read by C streams and C++ file streams: they say the same, and leave the
same bytes, with their files in the pool as without."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

CASES = (
    "written",
    "read",
    "both",
    "buffers",
    "positions",
    "modes",
    "descriptors",
    "reopened",
    "left",
    "threads",
    "others",
)
STRANGE = ("wide", "standard", "strangers", "changed", "wrong", "looked")
THREADED = ("reopened", "cancelled", "cancelled_call", "by_caller")
BOTH_WAYS = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])


@BOTH_WAYS
@pytest.mark.parametrize("case", CASES)
def test_streams(case: str, settings: Mapping[str, str], folder: Path) -> None:
    program = pooled.program("streams.c", "-pthread")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)


@BOTH_WAYS
@pytest.mark.parametrize("case", STRANGE)
def test_strange_streams(case: str, settings: Mapping[str, str], folder: Path) -> None:
    program = pooled.program("strange_streams.c", "-pthread")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)


@BOTH_WAYS
@pytest.mark.parametrize("case", THREADED)
def test_streams_that_threads_share(case: str, settings: Mapping[str, str], folder: Path) -> None:
    program = pooled.program("stream_threads.c", "-pthread")
    pooled.Twice(command=[program, case], seconds_max=30).ensure_same(folder, settings)


@BOTH_WAYS
def test_file_streams_of_cxx(settings: Mapping[str, str], folder: Path) -> None:
    pooled.Twice(command=[pooled.program("fstreams.cpp")]).ensure_same(folder, settings)


@BOTH_WAYS
@pytest.mark.parametrize(
    ("seed", "count"),
    [pytest.param(seed, 3000, marks=FULL if seed > 2 else ()) for seed in range(1, 13)],
)
def test_random_operations(
    seed: int, count: int, settings: Mapping[str, str], folder: Path
) -> None:
    command = [pooled.program("stream_operations.c"), seed, count]
    pooled.Twice(command=command).ensure_same(folder, settings)


def test_files_of_streams_stay_in_the_pool(folder: Path) -> None:
    """All that a program wrote by fopen had gone past it."""
    program = pooled.program("fstreams.cpp")
    with pooled.pool(folder) as served:
        pooled.run([program], served.folder, served.environment())
        past = {Path(file.path).name: file.reason for file in served.status().files if file.reason}
    ensure(past == dict.fromkeys(("modes", "moved.other"), "append"), f"went past: {past}")
