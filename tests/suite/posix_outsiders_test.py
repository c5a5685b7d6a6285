"""More processes than the daemon has descriptors for: those beyond do without the pool, and see and
write right bytes; nobody else is concerned."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path

from suite import pool as daemon
from suite import pooled
from suite.conversation import Conversation, conversation, opened
from suite.verdict import ensure

LIMIT = 128
PROGRAMS = 26
"""Each takes three of the daemon's descriptors, where there are so many."""


def _is_in_the_pool(served: daemon.Pool, program: Conversation, path: Path) -> bool:
    """Whether what it writes to a new file is a deposit."""
    fd = opened(program, path)
    ensure(program.ask(f"os.write({fd}, bytes(4321))") == "4321", "write fell short")
    ensure(program.ask(f"os.pread({fd}, 9, 4320)") == repr(bytes(1)), "it does not read that")
    taken = [one.taken for one in served.status().files if one.path == str(path)]
    ensure(program.ask(f"os.close({fd})") == "None", "close failed")
    return taken == [4321]


def _write_in_turns(first: Conversation, fd: int, outside: Conversation, path: Path) -> None:
    """One has the file in the pool; the other one cannot see what is there."""
    said = outside.ask(f"open({str(path)!r}, 'rb').read(12)")
    ensure(said == repr(b"of the first"), f"it reads {said}")
    theirs = opened(outside, path)
    ensure(outside.ask(f"os.pwrite({theirs}, b'outside', 20)") == "7", "fell short")
    said = first.ask(f"os.pread({fd}, 100, 0)")
    ensure(
        said == repr(b"of the first".ljust(20, b"\0") + b"outside\0\0\0more"), f"it reads {said}"
    )
    ensure(first.ask(f"os.pwrite({fd}, b'THE', 3)") == "3", "fell short")
    said = outside.ask(f"os.pread({theirs}, 12, 0)")
    ensure(said == repr(b"of THE first"), f"it reads {said}")


def test_a_process_beyond_the_descriptors_does_without_the_pool_and_nobody_else(
    folder: Path,
) -> None:
    """The pool was switched off for all, and for good."""
    few = ["prlimit", f"--nofile={LIMIT}:{LIMIT}"]
    with (
        daemon.pool(folder, pooled.KEPT, rescue=folder, front=few) as served,
        conversation(served) as first,
        contextlib.ExitStack() as last,
    ):
        shared = folder / "shared"
        fd = opened(first, shared)
        ensure(first.ask(f"os.pwrite({fd}, b'of the first', 0)") == "12", "fell short")
        with contextlib.ExitStack() as others:
            programs = [others.enter_context(conversation(served)) for _ in range(PROGRAMS)]
            pool = [
                _is_in_the_pool(served, program, folder / f"own.{number}")
                for number, program in enumerate(programs)
            ]
            ensure(pool[0] and not pool[-1], f"in the pool: {pool}")
            outside = last.enter_context(conversation(served))
            ensure(not _is_in_the_pool(served, outside, folder / "outside"), "it is not outside")
            ensure(not served.status().closing, "the pool takes nothing more")
            ensure(first.ask(f"os.pwrite({fd}, b'more', 30)") == "4", "fell short")
            ensure(first.ask(f"os.pread({fd}, 4, 30)") == repr(b"more"), "it does not read that")
            (kept,) = [one for one in served.status().files if one.path == str(shared)]
            ensure(kept.reason == "" and kept.taken == 16, f"the first is concerned: {kept}")
            _write_in_turns(first, fd, outside, shared)
        tries = itertools.count()
        pooled.until(
            lambda: _is_in_the_pool(served, outside, folder / f"later.{next(tries)}"),
            "it is not let in when there are descriptors again",
        )
    expected = b"of THE first".ljust(20, b"\0") + b"outside\0\0\0more"
    ensure(shared.read_bytes() == expected, "other bytes")
