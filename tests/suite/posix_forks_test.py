"""Processes that fork while their threads write, and processes that share a file by its locks."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

SECONDS_MAX = 600
"""1000 children took over a minute on a machine with ten times the load of its cores."""
HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])


@HOW
@pytest.mark.parametrize("children", [100, pytest.param(1000, marks=FULL)])
def test_forks_beside_threads_that_write(
    children: int, settings: Mapping[str, str], folder: Path
) -> None:
    """Two threads that forked at a time put the offset back by what a third one had written."""
    program = pooled.program("forks.c", "-pthread")
    with pooled.pool(folder, settings) as served:
        command = [program, children]
        said = pooled.run(command, served.folder, served.environment(), seconds_max=SECONDS_MAX)
        ensure(served.taken() > 0, "nothing was deposited")
    expected = "wrong or twice: 0\nmissing: 0\nfiles with an offset that went back: 0\n"
    ensure(said == expected, said)
    plain = folder / "pool" / "shared"
    ensure(plain.stat().st_size % 512 == 0, "the file ends within a record")


CALLS = ("writes", "appends", "moves", "reads", "opens", "dups", "syncs", "streams", "threads")


def run_handler_forks(
    call: str, children: int, settings: Mapping[str, str], folder: Path
) -> set[str]:
    """The reasons for which files left the pool."""
    program = pooled.program("handler_forks.c", "-pthread")
    with pooled.pool(folder, settings) as served:
        command = [program, call, children]
        said = pooled.run(command, served.folder, served.environment(), seconds_max=SECONDS_MAX)
        ensure(served.taken() > 0, "nothing was deposited")
        reasons = {file.reason for file in served.status().files}
    ensure(said == f"wrong: 0\nmissing: 0\nforks: {children}\n", said)
    return reasons


@HOW
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("children", [100, pytest.param(1000, marks=FULL)])
def test_children_return_into_the_call_in_which_a_signal_handler_forked_them(
    children: int, call: str, settings: Mapping[str, str], folder: Path
) -> None:
    """The child went on with its parent's log, which was not mapped any more (SIGSEGV), or dropped
    a hold of the file that nobody had counted: later calls on it waited for ever."""
    reasons = run_handler_forks(call, children, settings, folder)
    ensure(reasons <= {""}, f"files left the pool: {reasons}")


@HOW
@pytest.mark.parametrize("children", [300, pytest.param(1000, marks=FULL)])
def test_signal_handlers_fork_children_that_use_files_before_they_return(
    children: int, settings: Mapping[str, str], folder: Path
) -> None:
    """The handler's calls made a new connection, with which the interrupted call then went on."""
    run_handler_forks("handlers", children, settings, folder)


WITHOUT_MEMORY = """
import os, resource
fd = os.open("file", os.O_CREAT | os.O_RDWR)
os.write(fd, b"parent, ")
if os.fork() == 0:
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    os.write(fd, b"child, ")
    os._exit(0)
os.wait()
os.write(fd, b"parent")
print(os.pread(fd, 100, 0).decode())
"""


def test_a_child_that_cannot_map_the_pool_writes_to_what_it_inherited(folder: Path) -> None:
    """It got EIO for all files that its parent had open."""
    with pooled.pool(folder) as served:
        command = [sys.executable, "-c", WITHOUT_MEMORY]
        said = pooled.run(command, served.folder, served.environment())
        ensure(served.taken() > 0, "nothing was deposited")
    ensure("address space" in said and said.endswith("parent, child, parent\n"), said)


@HOW
@pytest.mark.parametrize("how", ["fcntl", "ofd", "flock"])
def test_locks(how: str, settings: Mapping[str, str], folder: Path) -> None:
    """A process that takes the lock reads everything that another wrote before it gave the lock
    away. Nothing that the capture does gives a lock away: truncate() by a name did."""
    pooled.Twice(command=[pooled.program("locks.c"), how]).ensure_same(folder, settings)
