"""Offsets that processes or threads share, which the kernel has then."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import mounted, pooled
from suite.verdict import ensure

BOTH_WAYS = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])


def _same(case: str, folder: Path, settings: Mapping[str, str]) -> None:
    command = [pooled.program("shared_offset.c", "-pthread"), case]
    pooled.Twice(command=command).ensure_same(folder, settings)


@BOTH_WAYS
def test_a_reader_took_records_twice_and_missed_others(
    settings: Mapping[str, str], folder: Path
) -> None:
    """A read moved the offset by all that it asked for, and back by what there was not. And it
    took bytes for a hole that came and were drained while it looked for them."""
    _same("queue", folder, settings)


@BOTH_WAYS
@pytest.mark.parametrize("case", ["log", "threads"])
def test_a_reader_at_the_end_left_a_hole_in_the_file(
    case: str, settings: Mapping[str, str], folder: Path
) -> None:
    _same(case, folder, settings)


@pytest.mark.skipif(not mounted.can_mount(), reason="nothing can be mounted here")
def test_a_reader_at_the_end_left_a_hole_in_a_file_of_a_mount() -> None:
    program = pooled.program("shared_offset.c", "-pthread")
    with mounted.mounted(before_pool=True, captures=True, settings=pooled.KEPT) as mount:
        said = mount.run(str(program), "threads").stdout
    ensure(said == f"{300 * (64 << 10)} bytes\n", said)


@BOTH_WAYS
def test_records_overwrote_the_file_that_the_descriptor_meant_before(
    settings: Mapping[str, str], folder: Path
) -> None:
    """The offset was that of the file by which dup2 had just replaced it."""
    _same("replaced", folder, settings)


@BOTH_WAYS
def test_a_process_went_on_at_its_offset_after_another_had_its_description_append(
    settings: Mapping[str, str], folder: Path
) -> None:
    _same("appended", folder, settings)
