"""Tiers of two nodes over one folder: no node sees a wrong file in silence. A mount namespace
stands for each node; fast storage is shared (places beside each other), or each node's own."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite.file_systems import until
from suite.ordinary_user import IS_ROOT
from suite.verdict import ensure

pytestmark = pytest.mark.skipif(
    not (IS_ROOT and mo.can_mount()), reason="no forebay-mount, /dev/fuse or root. Be root."
)
KEPT = "write preload move=manual"
MOVED = "write preload"
OLD, NEW = b"old" * 1000, b"newer" * 2000
ROUNDS, ROUNDS_FULL = 20, 300
# There stands which folders of the node are mounted over.
NAMESPACE = """
own=/tmp/forebay-$(id -u)
mkdir -p -m 0700 "$own" && mount -t tmpfs -o mode=0700 none "$own"
echo ready
exec sleep infinity
"""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A mount namespace, in which a tier is mounted over the folder."""

    name: str
    folder: Path
    process: subprocess.Popen[str]
    holder: int
    log: Path

    @property
    def seen(self) -> Path:
        """The folder as programs of this node see it."""
        return Path(f"/proc/{self.holder}/root{self.folder}")

    def order(self, name: str, what: str) -> None:
        os.setxattr(self.seen / name, "user.forebay.order", what.encode())

    def status(self) -> dict[str, int]:
        found: dict[str, int] = json.loads(os.getxattr(self.seen, "user.forebay.status"))
        return found

    def state(self, name: str) -> str:
        state: str = json.loads(os.getxattr(self.seen / name, "user.forebay.state"))["state"]
        return state

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(mo.SECONDS_MAX)

    def said(self) -> str:
        return self.log.read_text()


@contextlib.contextmanager
def _node(name: str, folder: Path, fast: Path, options: Sequence[str]) -> Iterator[Node]:
    words = ["unshare", "--mount", "--propagation=private", "sh", "-c", NAMESPACE]
    log = folder.parent / f"{name}.log"
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        process = None
        try:
            ensure(holder.stdout is not None and holder.stdout.readline() == "ready\n", "no node")
            enter = ["nsenter", f"--target={holder.pid}", "--mount", "--"]
            with log.open("w") as errors:
                process = subprocess.Popen(
                    [*enter, str(mo.PROGRAM), "--shared", "--fast", str(fast), *options, folder],
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    env=m.clean_environment(),
                )
            ensure(process.stdout is not None and process.stdout.readline() != "", log.read_text())
            yield Node(name=name, folder=folder, process=process, holder=holder.pid, log=log)
        finally:
            if process is not None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                process.kill()
                process.wait()
            holder.kill()


@dataclass(frozen=True, kw_only=True)
class Site:
    """The parallel file system's folder, and one for fast storage."""

    folder: Path
    fast: Path

    @contextlib.contextmanager
    def nodes(
        self, policy: str, *, shares: bool = True, wait: int = 20
    ) -> Iterator[tuple[Node, Node]]:
        """Two, whose fast storage is shared or each one's own."""
        options = ("--policy", policy, "--wait", str(wait))
        first = self.fast / "one" if shares else self.fast / "disk1" / "one"
        second = self.fast / "two" if shares else self.fast / "disk2" / "two"
        with (
            _node("one", self.folder, first, options) as one,
            _node("two", self.folder, second, options) as two,
        ):
            yield one, two

    def rescued(self) -> list[Path]:
        return [one for one in self.fast.rglob("rescue/*") if one.suffix != ".txt"]


@pytest.fixture
def site() -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="nodes.", dir="/tmp") as made:
        for name in ("global", "fast/disk1", "fast/disk2"):
            Path(made, name).mkdir(parents=True)
        yield Site(folder=Path(made, "global"), fast=Path(made, "fast"))


def test_a_reader_elsewhere_has_what_it_reads_moved(site: Site) -> None:
    with site.nodes(KEPT) as (one, two):
        (one.seen / "x").write_bytes(NEW)
        ensure(one.state("x") == "dirty", "it did not go to fast storage")
        ensure((two.seen / "x").read_bytes() == NEW, "the other node reads something else")
        ensure(one.state("x") == "clean", "it was not moved")


def test_an_old_replica_is_not_read_while_another_node_has_newer_bytes(site: Site) -> None:
    (site.folder / "x").write_bytes(OLD)
    with site.nodes(KEPT) as (one, two):
        ensure((two.seen / "x").read_bytes() == OLD, "it was not read")
        ensure(two.state("x") == "clean", "it was not preloaded")
        (one.seen / "x").write_bytes(NEW)
        ensure((two.seen / "x").read_bytes() == NEW, "it read its old replica")


def test_a_reader_waits_for_a_private_place_and_then_fails(site: Site) -> None:
    with site.nodes(KEPT, shares=False, wait=1) as (one, two):
        (one.seen / "x").write_bytes(NEW)
        (one.seen / "y").write_bytes(NEW)
        with pytest.raises(OSError, match="Input/output"):
            (two.seen / "x").read_bytes()
        message = f"cannot open {site.folder}/x (its newest bytes are in fast storage of another"
        ensure(message in two.said(), two.said())
        one.order("x", "move")
        ensure((two.seen / "x").read_bytes() == NEW, "it is wrong when it was moved")
        (two.seen / "y").write_bytes(OLD)
        ensure((two.seen / "y").read_bytes() == OLD, "it cannot be written anew")
        two.order("y", "move")
        with contextlib.suppress(OSError):
            one.order("y", "move")
    ensure((site.folder / "y").read_bytes() == OLD, "the later bytes were written over")
    (kept,) = site.rescued()
    ensure(kept.read_bytes() == NEW, "the earlier ones are nowhere")


def test_those_who_wait_for_another_node_hold_up_nobody(site: Site) -> None:
    """More of them than the mount has threads."""
    names = [f"x{one}" for one in range(12)]
    with site.nodes(KEPT, shares=False, wait=mo.SECONDS_MAX) as (one, two):
        for name in names:
            (one.seen / name).write_bytes(NEW)
        (site.folder / "free").write_bytes(OLD)
        threads = Path(f"/proc/{two.process.pid}/task")
        with ThreadPoolExecutor(len(names)) as readers:
            waiting = [readers.submit((two.seen / name).read_bytes) for name in names]
            more = until(lambda: len(list(threads.iterdir())) > 8 + len(names), 60)
            read = (two.seen / "free").read_bytes() if more else b""
            waited = not any(reader.done() for reader in waiting)
            one.order(".", "move")
            ensure(all(reader.result() == NEW for reader in waiting), "what was moved is wrong")
        ensure(more and read == OLD, "the mount waits with them")
        ensure(waited, "nobody waited")


def test_what_a_dead_node_left_in_shared_storage_is_taken_over(site: Site) -> None:
    with site.nodes(KEPT) as (one, two):
        (one.seen / "x").write_bytes(NEW)
        (one.seen / "y").write_bytes(NEW)
        one.kill()
        ensure((two.seen / "x").read_bytes() == NEW, f"it reads something else: {two.said()}")
        with (two.seen / "y").open("r+b") as file:
            file.write(b"*")
        ensure((two.seen / "y").read_bytes() == b"*" + NEW[1:], "it was not written in place")
        ensure(two.status()["taken_over"] == 2, f"{two.status()}")
    ensure((site.folder / "x").read_bytes() == NEW, "it is not in the file")
    ensure(not site.rescued(), "something was rescued")


def test_a_reader_of_a_file_that_is_being_written_gets_what_was_closed(site: Site) -> None:
    with site.nodes(KEPT) as (one, two):
        with (one.seen / "x").open("wb") as file:
            file.write(OLD)
            file.flush()
            ensure((two.seen / "x").read_bytes() == OLD, "what was flushed")
            file.write(NEW)
        ensure((two.seen / "x").read_bytes() == OLD + NEW, "what was closed")


@pytest.mark.parametrize("shares", [True, False])
def test_two_nodes_write_in_turn(site: Site, shares: bool) -> None:
    _in_turn(site, shares=shares, rounds=ROUNDS)


@pytest.mark.full
@pytest.mark.parametrize("shares", [True, False])
def test_two_nodes_write_in_turn_for_long(site: Site, shares: bool) -> None:
    _in_turn(site, shares=shares, rounds=ROUNDS_FULL)


def _in_turn(site: Site, *, shares: bool, rounds: int) -> None:
    """Each round one node changes a file, and the other finds it so."""
    chance = random.Random(rounds)
    names = ("x", "y", "z")
    content = dict.fromkeys(names, b"")
    with site.nodes(KEPT if shares else MOVED, shares=shares) as nodes:
        for number in range(rounds):
            writer, reader = nodes if chance.random() < 0.5 else reversed(nodes)
            name, bytes_ = chance.choice(names), chance.randbytes(chance.randrange(1, 200_000))
            how = chance.choice(("anew", "append", "in place", "gone"))
            content[name] = _changed(writer.seen / name, how, content[name], bytes_)
            where = f"round {number}: {how} {name} by {writer.name}"
            ensure((reader.seen / name).read_bytes() == content[name], f"{where}: {reader.said()}")
            ensure((reader.seen / name).stat().st_size == len(content[name]), f"{where}: stat")
    for name in names:
        path = site.folder / name
        ensure(not path.exists() or path.read_bytes() == content[name], f"{name} at the end")
    said = "".join(node.said() for node in nodes)
    ensure(not site.rescued(), f"bytes were taken for somebody else's: {said}")


def _changed(path: Path, how: str, before: bytes, bytes_: bytes) -> bytes:
    """Changes a file, and returns what it has then."""
    if how == "gone":
        path.unlink(missing_ok=True)
    if how in ("anew", "gone") or not path.exists():
        path.write_bytes(bytes_)
        return bytes_
    if how == "append":
        with path.open("ab") as file:
            file.write(bytes_)
        return before + bytes_
    with path.open("r+b") as file:
        file.write(bytes_)
    return bytes_ + before[len(bytes_) :]
