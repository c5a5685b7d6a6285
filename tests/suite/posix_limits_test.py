"""Limits of a process (setrlimit) count for files in the pool as for others."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.file_systems import mounted_ext2
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


@HOW
def test_a_write_beyond_the_longest_file_of_a_file_system_fails_at_once(
    settings: Mapping[str, str], folder: Path
) -> None:
    """It was acknowledged, and failed when it was drained."""
    longest = pooled.Twice(command=[pooled.program("limits.c"), "longest"], deposits=False)
    with mounted_ext2(folder) as mount:
        longest.ensure_same(mount, settings)


@pytest.mark.parametrize("limit", ["descriptors", "no_more"])
def test_a_program_has_as_many_descriptors_as_it_may_have(limit: str, folder: Path) -> None:
    """The three of the connection were among them."""
    raised = ["prlimit", "--nofile=60:60", "prlimit", "--nofile=68:68", "true"]
    if limit == "no_more" and subprocess.run(raised, capture_output=True, check=False).returncode:
        pytest.skip("ours are beyond a hard limit only with CAP_SYS_RESOURCE. Run as root.")
    pooled.Twice(command=[pooled.program("limits.c"), limit]).ensure_same(folder)


def test_deposits_of_others_are_read_where_nothing_large_can_be_mapped(folder: Path) -> None:
    """It was tried again and again, until they happened to be drained."""
    command = [pooled.program("limits.c"), "no_memory"]
    pooled.Twice(command=command, seconds_max=30).ensure_same(folder)


def with_little_to_lock(case: str) -> list[str | Path]:
    """A program that may lock 8 MiB, also where root runs it."""
    prefix = ["prlimit", "--memlock=8388608"]
    if os.geteuid() == 0:
        prefix += ["setpriv", "--bounding-set=-ipc_lock"]
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("memory cannot be limited. Install util-linux, and raise ulimit -l to 8 MiB.")
    return [*prefix, pooled.program("locked.c"), case]


@pytest.mark.parametrize(
    "case", ["early", "late", "current", "future", "on_fault", "wrong", "too_much"]
)
def test_mlockall_counts_what_a_program_has_without_the_pool(case: str, folder: Path) -> None:
    """The pool's mapping of 16 GiB and the capture's tables made it fail with ENOMEM."""
    pooled.Twice(command=with_little_to_lock(case)).ensure_same(folder)
