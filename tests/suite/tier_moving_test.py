"""A file is being moved while somebody changes it past the mount, the parallel file system hangs,
the mount is ended or killed, or a folder above is renamed. Fast storage is slow in some of these
tests, and the parallel file system in others, so that a move lasts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.command import FOREBAY, environment
from suite.file_systems import served_file_system, until
from suite.ordinary_user import IS_ROOT
from suite.tiers import (
    KEPT,
    MIB,
    Tier,
    bytes_of,
    new_tier,
    order,
    state_of,
    status_of,
    stop,
    until_moved,
)
from suite.verdict import ensure

OURS, THEIRS = bytes_of(2 * MIB), b"theirs" * 100
SLOW = ("0", str(2 * MIB))
"""Latency and bytes a second of slow_fs."""

pytestmark = pytest.mark.skipif(
    not mo.can_mount(), reason="no forebay-mount, or no right to /dev/fuse. Build it; be root."
)


@contextlib.contextmanager
def _slow_fast_place() -> Iterator[Tier]:
    """Moving reads for a second, and then writes to a file system that knows who did what."""
    with new_tier() as tier:
        served = tier.root / "served"
        served.mkdir()
        with served_file_system(served, "slow_fs.c", *SLOW) as (mount, _):
            fast = mount / "place"
            fast.mkdir(mode=0o700)
            yield Tier(folder=tier.folder, fast=fast, root=tier.root)


@contextlib.contextmanager
def _slow_folder() -> Iterator[tuple[Tier, subprocess.Popen[bytes]]]:
    """Moving writes for a second; the process serves the parallel file system."""
    with new_tier() as tier:
        served = tier.root / "served"
        served.mkdir()
        with served_file_system(served, "slow_fs.c", *SLOW) as (mount, server):
            folder = mount / "me"
            folder.mkdir()
            yield Tier(folder=folder, fast=tier.fast, root=tier.root), server


@contextlib.contextmanager
def _being_moved(file: Path) -> Iterator[list[OSError]]:
    """Within it, the file is being moved; behind it, what came of that is in the list."""
    failed: list[OSError] = []

    def move() -> None:
        try:
            order(file.parent, "move")
        except OSError as error:
            failed.append(error)

    mover = threading.Thread(target=move)
    mover.start()
    try:
        ensure(until(lambda: state_of(file) == "moving", 60), "it is not moved")
        yield failed
    finally:
        mover.join()


def _replace(below: Path) -> None:
    beside = below.with_name("beside")
    beside.write_bytes(THEIRS)
    beside.replace(below)


CHANGES: dict[str, tuple[Callable[[Path], object], bytes | None]] = {
    "written": (lambda below: below.write_bytes(THEIRS), THEIRS),
    "truncated": (lambda below: os.truncate(below, 3), bytes(3)),
    "replaced": (_replace, THEIRS),
    "removed": (Path.unlink, None),
    "renamed": (lambda below: below.rename(below.with_name("elsewhere")), None),
    "linked": (lambda below: below.with_name("other").hardlink_to(below), OURS),
    "forbidden": (lambda below: below.chmod(0), OURS),
}
"""The act of somebody else, and what the file has afterwards; None: there is none."""


@pytest.mark.parametrize(
    "change",
    [one for one in CHANGES if one != "forbidden" or IS_ROOT],  # others could not read it
)
def test_a_file_that_is_being_moved_is_changed_outside(change: str) -> None:
    """Bytes of somebody else are not written over, and ours is in the file, under whatever
    name, or in a rescue file, which the summary names."""
    act, theirs = CHANGES[change]
    with _slow_fast_place() as tier, tier.started(KEPT) as mount:
        file = tier.folder / "x"
        file.write_bytes(OURS)
        below = mount.below("x")
        with _being_moved(file) as failed:
            act(below)
        found = below.read_bytes() if below.exists() else None
        elsewhere = below.with_name("elsewhere")
        said = stop(mount)
        kept = [one.read_bytes() for one in tier.rescued()]
        ensure(found == theirs, f"{found and found[:20]!r} is in the file")
        if change in ("linked", "forbidden", "renamed"):
            ensure(not failed and not kept, f"{failed}, {len(kept)} rescue files")
            ensure(file.exists() or (tier.folder / elsewhere.name).read_bytes() == OURS, "renamed")
            return
        ensure(kept == [OURS], f"{len(kept)} rescue files")
        ensure(bool(failed), "whoever waited for the move was told that all is well")
        ensure(f"{file} was changed by somebody else" in said, said)


def test_the_parallel_file_system_hangs_in_the_middle_of_a_move() -> None:
    """Files in fast storage are read and written meanwhile, and the move goes on afterwards."""
    with _slow_folder() as (tier, server), tier.started(KEPT) as mount:
        moved, written = tier.folder / "moved", tier.folder / "written"
        moved.write_bytes(OURS)
        with written.open("w+b", buffering=0) as file:
            file.write(THEIRS)
            with _being_moved(moved) as failed:
                server.send_signal(signal.SIGSTOP)
                try:
                    ensure(file.write(THEIRS) == len(THEIRS), "a short write")
                    ensure(os.pread(file.fileno(), 600, 600) == THEIRS, "a read")
                finally:
                    server.send_signal(signal.SIGCONT)
        ensure(not failed, f"{failed}")
        stop(mount)
        for one, content in ((moved, OURS), (written, THEIRS * 2)):
            ensure(one.read_bytes() == content, f"{one.name} has other bytes")


def test_files_are_preloaded_several_at_a_time_while_a_program_goes_on() -> None:
    """One at a time, the reads alone would take as long as all their latencies together."""
    latency, count = 0.2, 40
    with new_tier() as made:
        served = made.root / "served"
        served.mkdir()
        slow = (str(int(latency * 1e6)), str(1 << 30))
        with served_file_system(served, "slow_fs.c", *slow) as (below, _):
            tier = Tier(folder=below / "me", fast=made.fast, root=made.root)
            (served / "backing" / "me" / "in").mkdir(parents=True)
            for one in range(count):
                (served / "backing" / "me" / "in" / f"{one}").write_bytes(THEIRS)
            (served / "backing" / "me" / "other").write_bytes(THEIRS)
            with tier.started("write") as mount:
                preload = subprocess.Popen(
                    [*FOREBAY, "tier", "preload", str(tier.folder / "in")], env=environment()
                )
                filled = until(lambda: status_of(tier.folder)["filled"] > 0, 60)
                ensure(filled, "nothing is preloaded")
                began = time.monotonic()
                ensure((tier.folder / "other").read_bytes() == THEIRS, "another file")
                ensure(preload.poll() is None, "it waited for all of them")
                ensure(preload.wait(mo.SECONDS_MAX) == 0, "it has failed")
                seconds = time.monotonic() - began
                ensure(status_of(tier.folder)["filled"] == count, f"{status_of(tier.folder)}")
                stop(mount)
            ensure(seconds < latency * count, f"it took {seconds:.1f} s")


def test_the_mount_is_taken_away_in_the_middle_of_a_move() -> None:
    """By `umount`: the process ends when all is moved."""
    with _slow_folder() as (tier, _), tier.started("write move=job") as mount:
        (tier.folder / "x").write_bytes(OURS)
        (tier.folder / "y").write_bytes(THEIRS)
        with _being_moved(tier.folder / "x"):
            subprocess.run(["umount", "-l", tier.folder], check=True)
        _, said = mount.process.communicate(timeout=mo.SECONDS_MAX)
        ensure(mount.process.returncode == 0, said)
        ensure((tier.folder / "x").read_bytes() == OURS, "bytes are missing")
        ensure((tier.folder / "y").read_bytes() == THEIRS, "bytes are missing")


def test_a_tier_is_started_over_the_mount_of_one_that_was_killed() -> None:
    """At once, when the dead mount may still be there."""
    with new_tier() as tier:
        with tier.started(KEPT) as mount:
            (tier.folder / "x").write_bytes(OURS)
            mount.process.kill()
            mount.process.wait()
            with tier.started("write") as again:
                ensure((tier.folder / "x").read_bytes() == OURS, "its bytes")
                until_moved(tier.folder)
                stop(again)
        ensure((tier.folder / "x").read_bytes() == OURS, "it was not moved")


def test_a_folder_above_the_mount_is_renamed() -> None:
    """Files that waited are moved, and new ones as well. An open by the new path has led through
    the mount to itself, for ever."""
    with new_tier() as made:
        above, other = made.root / "above", made.root / "other"
        tier = Tier(folder=above / "me", fast=made.fast, root=made.root)
        tier.folder.mkdir(parents=True)
        with tier.started(KEPT) as mount:
            (tier.folder / "before").write_bytes(OURS)
            above.rename(other)
            folder = other / "me"
            (folder / "after").write_bytes(THEIRS)
            ensure(status_of(folder)["waiting"] == 2, f"{status_of(folder)}")
            (folder / "after").rename(folder / "renamed")
            order(folder, "move")
            ensure(status_of(folder)["waiting"] == 0, f"{status_of(folder)}")
            ensure(state_of(folder / "renamed") == "clean", "it was not moved")
            subprocess.run(["umount", folder], check=True)
            ensure(mount.has_ended() == 0, "not all was moved")
        ensure((folder / "before").read_bytes() == OURS, "its bytes")
        ensure((folder / "renamed").read_bytes() == THEIRS, "its bytes")
        ensure(not tier.rescued(), "something was rescued")
