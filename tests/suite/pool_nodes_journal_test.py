"""Two nodes with a journal each: both daemons die, both come again, and all bytes are there."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from suite.conversation import conversation, opened
from suite.pool import Daemon, pools
from suite.pool_journal_test import journaled, writes
from suite.verdict import Failed, ensure


def with_journals(folder: Path) -> Mapping[str, str]:
    return journaled(folder, pool_journal=str(folder / "journal-%n"))


def test_two_daemons_are_killed_and_both_replay(folder: Path) -> None:
    files, settings = folder / "files", with_journals(folder)
    files.mkdir()
    paths = [files / f"file-{node}" for node in (0, 1)]
    with (
        pools(files, 2, settings, judged=False) as daemons,
        contextlib.ExitStack() as stack,
    ):
        programs = [stack.enter_context(conversation(one)) for one in daemons]
        for node, (program, path) in enumerate(zip(programs, paths, strict=True)):
            fd = opened(program, path)
            for part in range(20):
                writes(program, fd, 100 * node + part, part * 1000)
        ensure([path.stat().st_size for path in paths] == [0, 0], "something was drained")
        for daemon in daemons:
            daemon.process.kill()
        for daemon in daemons:
            daemon.process.wait()
    ensure(all(list((folder / f"journal-{node}").iterdir()) for node in (0, 1)), "no journals")
    with pools(files, 2, settings) as daemons:
        for node, (daemon, path) in enumerate(zip(daemons, paths, strict=True)):
            said = daemon.said.read_text()
            ensure("20000 bytes of" in said, f"node {node}: {said}")
            expected = b"".join(bytes([100 * node + part]) * 1000 for part in range(20))
            ensure(path.read_bytes() == expected, f"node {node}: other bytes")


def test_two_daemons_with_one_journal_are_refused(folder: Path) -> None:
    settings = journaled(folder)
    with Daemon.started(settings, node=0, nodes=2):
        try:
            with Daemon.started(settings, node=1, nodes=2):
                pass
        except Failed as refused:
            ensure("%n" in str(refused), f"{refused}")
        else:
            raise Failed("both have one journal")


def test_nothing_is_handed_over_that_a_replay_could_overtake(folder: Path) -> None:
    files, path = folder / "files", folder / "files" / "file"
    files.mkdir()
    handed = {"pool_writers": "1", "pool_writers_anywhere": "true"}
    with (
        pools(files, 2, {**with_journals(folder), **handed}) as daemons,
        conversation(daemons[0]) as program,
    ):
        fd = opened(program, path)
        writes(program, fd, 7, 0)
        ensure(program.ask(f"os.fsync({fd})") == "None", "fsync failed")
        ensure(path.stat().st_size > 0, "it is not drained")
        counts = [one.status().written_for_nodes for one in daemons]
        ensure(counts == [0, 0], f"{counts}")
