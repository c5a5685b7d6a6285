"""Calls of which the pool learnt nothing, or too late: bytes were lost, wrong or read by nobody."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled

BOTH_WAYS = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def same(case: str, folder: Path, settings: Mapping[str, str] = pooled.KEPT) -> None:
    command = [pooled.program("corners.c"), case]
    pooled.Twice(command=command).ensure_same(folder, settings)


@BOTH_WAYS
@pytest.mark.parametrize("case", ["nameless", "nameless_later"])
def test_a_child_reads_a_file_without_a_name_that_its_parent_has_closed(
    case: str, settings: Mapping[str, str], folder: Path
) -> None:
    """The bytes were dropped: the daemon learns of a child when it first uses the file."""
    same(case, folder, settings)


@pytest.mark.parametrize("case", ["emptied", "mode_3", "linked"])
def test_how_a_file_is_opened(case: str, folder: Path) -> None:
    """O_TRUNC with O_RDONLY did not empty deposits; one could read and write by the access mode 3;
    a file of O_TMPFILE that was linked saw nothing of the pool."""
    same(case, folder)


@AS_ROOT
def test_children_that_work_as_another_user(folder: Path) -> None:
    """Their writes failed (EIO), and they read what had been drained."""
    same("other_user", folder)


def test_a_program_that_filters_its_system_calls(folder: Path) -> None:
    """It was killed at the next write."""
    same("filtered", folder)


@pytest.mark.parametrize("case", ["protected", "detached", "cut_short"])
def test_memory_that_is_taken_away(case: str, folder: Path) -> None:
    """A signal ended the program in place of EFAULT."""
    same(case, folder)


@pytest.mark.parametrize("case", ["partly_unmapped", "mapping_moved"])
def test_what_is_left_of_a_mapping_is_the_file(case: str, folder: Path) -> None:
    """The file came back into the pool as soon as memory where the mapping had begun was unmapped:
    what was written then was not in the mapping, and what was stored there not in the file."""
    same(case, folder, pooled.EAGER)


@AS_ROOT
def test_attributes_that_are_set_by_number(folder: Path) -> None:
    """Draining took the file's capabilities away again."""
    same("attributed", folder)


@pytest.mark.parametrize("case", ["zone", "users", "old_name"])
def test_what_libc_reads_inside(case: str, folder: Path) -> None:
    same(case, folder)


@AS_ROOT
def test_a_loop_device(folder: Path) -> None:
    """It was empty."""
    same("looped", folder)
