"""Hostile surroundings of a tier: it is killed again and again, storage is full on either side,
files are changed past the mount, and what the tier keeps about replicas is damaged. A file either
has the bytes that were acknowledged, or they lie in a rescue file; nobody else's bytes are written
over."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.file_systems import until
from suite.on import FULL
from suite.ordinary_user import IS_ROOT
from suite.tiers import (
    KEPT,
    MIB,
    Tier,
    bytes_of,
    check_ledger,
    ledger_writer,
    lines_of,
    order,
    state_of,
    status_of,
    stop,
    until_moved,
)
from suite.verdict import ensure

NOT_MOVED = 3
SEEDS = 12
KILLS = 3
OURS, THEIRS = b"ours" * 5000, b"theirs" * 100

pytestmark = mo.needs_mount
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root mounts a tmpfs")


def _tmpfs(folder: Path, size: str, *more: str) -> None:
    words = ["mount", "-t", "tmpfs", "-o", ",".join((f"size={size}", "mode=0700", *more))]
    subprocess.run([*words, "none", folder], check=True)


def _read_all(folder: Path, ended: threading.Event) -> None:
    """Has files filled, and evicted."""
    with contextlib.suppress(OSError):  # the mount was killed
        while not ended.is_set():
            for file in sorted(folder.glob("file*")):
                file.read_bytes()


def _write_until_killed(tier: Tier, policy: str, ledger: Path, *, number: int, lines: int) -> None:
    """The tier is killed once the ledger has so many more lines."""
    lines += lines_of(ledger)
    ended = threading.Event()
    reader = threading.Thread(target=_read_all, args=(tier.folder, ended))
    with tier.started(policy) as mount:
        with ledger_writer(tier.folder, ledger, str(number)) as writer:
            reader.start()
            try:
                until(lambda: lines_of(ledger) >= lines, mo.SECONDS_MAX)
            finally:
                ended.set()
            mount.process.kill()
            writer.kill()  # it would go on below the mount once that is gone
            mount.process.wait()
            mo.until_unmounted(tier.folder)
        reader.join()


@needs_root
@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=FULL) for one in range(1, SEEDS))])
def test_a_tier_is_killed_again_and_again_while_its_fast_place_is_full(
    tier: Tier, seed: int
) -> None:
    """Files are written, moved, evicted and filled meanwhile."""
    choose = random.Random(seed)
    ledger = tier.root / "ledger"
    _tmpfs(tier.fast, "2m")
    try:
        for turn in range(KILLS):
            policy = choose.choice(("write preload", "write preload move=idle:1s"))
            number, lines = KILLS * seed + turn, choose.randrange(5, 40)
            _write_until_killed(tier, policy, ledger, number=number, lines=lines)
        with tier.started() as mount:
            stop(mount)
        ensure(not tier.rescued(), "something was rescued, though nobody else wrote")
    finally:
        subprocess.run(["umount", "-l", tier.fast], check=True)
    check_ledger(ledger, tier.folder)


@needs_root
def test_a_parallel_file_system_that_others_have_filled_is_waited_for(tier: Tier) -> None:
    slow = tier.root / "slow"
    slow.mkdir()
    _tmpfs(slow, "32m")
    try:
        full = Tier(folder=slow / "me", fast=tier.fast)
        full.folder.mkdir()
        with full.started("write move=job") as mount:
            for one in range(3):
                (full.folder / f"{one}").write_bytes(bytes_of(2 * MIB, one))
            (slow / "theirs").write_bytes(bytes(32 * MIB - MIB // 2))
            with pytest.raises(OSError, match=r"No space|Input/output"):
                order(full.folder, "move")
            told = json.loads(os.getxattr(full.folder / "0", "user.forebay.state"))
            ensure(told["waits_for"] in ("retry", "move", "turn"), f"{told}")
            ensure("No space" in told["failure"] or told["waits_for"] == "turn", f"{told}")
            said = stop(mount, NOT_MOVED)
        ensure("is not moved: its bytes are in fast storage" in said, said)
        (slow / "theirs").unlink()
        full.tool("finish", str(full.fast), str(full.folder))
        for one in range(3):
            ensure((full.folder / f"{one}").read_bytes() == bytes_of(2 * MIB, one), f"file {one}")
        ensure(not full.rescued(), "something was rescued")
    finally:
        subprocess.run(["umount", "-l", slow], check=True)


@needs_root
def test_no_more_is_taken_than_the_parallel_file_system_has_room_for(tier: Tier) -> None:
    """A program gets ENOSPC as without a tier, and what waited has kept its room."""
    slow = tier.root / "slow"
    slow.mkdir()
    _tmpfs(slow, "12m")
    try:
        full = Tier(folder=slow / "me", fast=tier.fast)
        full.folder.mkdir()
        first, second = bytes_of(5 * MIB, 1), bytes_of(10 * MIB, 2)
        with full.started("write move=manual") as mount:
            (full.folder / "first").write_bytes(first)
            ensure(state_of(full.folder / "first") == "dirty", "it does not wait")
            taken = _write_until_full(full.folder / "second", second)
            ensure(5 * MIB < taken <= 7 * MIB, f"{taken} bytes were taken")
            ensure(state_of(full.folder / "first") == "clean", "what waited was not moved first")
            with pytest.raises(OSError, match="No space"):
                (full.folder / "third").write_bytes(second)
            (full.folder / "third").unlink()
            stop(mount)
        ensure((full.folder / "first").read_bytes() == first, "what waited")
        ensure((full.folder / "second").read_bytes() == second[:taken], "what was acknowledged")
    finally:
        subprocess.run(["umount", "-l", slow], check=True)


def _write_until_full(path: Path, content: bytes) -> int:
    """How many bytes were taken until there was no room."""
    taken = 0
    with path.open("wb", buffering=0) as file:
        while taken < len(content):
            try:
                taken += file.write(content[taken : taken + MIB // 4])
            except OSError as error:
                ensure(error.errno == errno.ENOSPC, f"{error}")
                return taken
    return taken


def _replace(below: Path) -> None:
    beside = below.with_name("beside")
    beside.write_bytes(THEIRS)
    beside.replace(below)


def _rename(below: Path) -> None:
    below.rename(below.with_name("elsewhere"))


def _content(file: Path) -> bytes | None:
    """Its bytes; None: there is no such file."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


OUTSIDE: dict[str, Callable[[Path], object]] = {
    "written": lambda below: below.write_bytes(THEIRS),
    "truncated": lambda below: os.truncate(below, 3),
    "replaced": _replace,
    "renamed": _rename,
    "removed": Path.unlink,
    "linked": lambda below: below.with_name("other").hardlink_to(below),
    "forbidden": lambda below: below.chmod(0),
}
HARMLESS = ("linked", "forbidden")
EACH_CHANGE = pytest.mark.parametrize(
    "change",
    [one for one in OUTSIDE if one != "forbidden" or IS_ROOT],  # others could not read it
)


@EACH_CHANGE
def test_a_file_that_waits_is_changed_outside(tier: Tier, change: str) -> None:
    """The tier's bytes are in the file, or in a rescue file, and theirs are as they left them."""
    with tier.started(KEPT) as mount:
        file = tier.folder / "x"
        file.write_bytes(OURS)
        below = mount.below("x")
        OUTSIDE[change](below)
        theirs = None if change in HARMLESS else _content(below)
        try:
            order(tier.folder, "move")
        except OSError:
            ensure(change not in HARMLESS, "it was not moved")
        stop(mount)
    kept = [one.read_bytes() for one in tier.rescued()]
    if change in HARMLESS:
        ensure(file.read_bytes() == OURS and not kept, "its bytes")
    else:
        ensure(kept == [OURS], f"{len(kept)} rescue files")
        ensure(_content(file) == theirs, "theirs was changed")


@EACH_CHANGE
def test_a_file_that_was_moved_is_changed_outside(tier: Tier, change: str) -> None:
    """No old bytes are read, and nothing is rescued: the replica has nothing that is its own."""
    with tier.started("write preload") as mount:
        file = tier.folder / "x"
        file.write_bytes(OURS)
        until_moved(tier.folder)
        below = mount.below("x")
        OUTSIDE[change](below)
        expected = _content(below)
        # The kernel may remember a name of the mount's for a second.
        ensure(
            until(lambda: _content(file) == expected, 20),
            "other bytes are read than the file has",
        )
        stop(mount)
    ensure(_content(file) == expected, "the file was changed")
    ensure(not tier.rescued(), "a replica without bytes of its own was rescued")


@pytest.mark.parametrize("how", ["emptied", "without its record", "with another's record"])
def test_a_replica_is_tampered_with_while_no_tier_runs(tier: Tier, how: str) -> None:
    """The file is not read as if it had its newest bytes."""
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(OURS)
        (tier.folder / "y").write_bytes(THEIRS)
        number = (tier.folder / "x").stat().st_ino
        stop(mount, NOT_MOVED)
    replica = next(one for one in tier.replicas() if one.name.endswith(f"-{number:x}"))
    other = next(one for one in tier.replicas() if one != replica)
    name = next(iter(os.listxattr(replica)), None)
    if name is None:
        pytest.skip("records lie in sidecars here")
    if how == "emptied":
        replica.unlink()
    elif how == "without its record":
        os.removexattr(replica, name)
    else:
        os.setxattr(replica, name, os.getxattr(other, name))
    with tier.started(KEPT) as mount:
        with pytest.raises(OSError, match="Input/output"):
            (tier.folder / "x").read_bytes()
        ensure((tier.folder / "y").read_bytes() == THEIRS, "another file")
        order(tier.folder / "y", "move")
        stop(mount)
    kept = [one.read_bytes() for one in tier.rescued()]
    ensure(how == "emptied" or kept == [OURS], f"{len(kept)} rescue files")


@pytest.mark.parametrize("damage", [bytes_of(9000), b"", b"SQLite format 3\0" + bytes(84)])
def test_the_list_is_damaged(tier: Tier, damage: bytes) -> None:
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(OURS)
        stop(mount, NOT_MOVED)
    for one in tier.fast.glob("list.sqlite*"):
        one.unlink()
    (tier.fast / "list.sqlite").write_bytes(damage)
    tier.tool("finish", str(tier.fast), str(tier.folder))
    ensure((tier.folder / "x").read_bytes() == OURS, "its bytes")


def test_an_order_by_another_name_moves_the_file(tier: Tier) -> None:
    """It came back at once, and nothing was moved: the tier knew the file by its other name."""
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(OURS)
        (tier.folder / "y").hardlink_to(tier.folder / "x")
        stop(mount, NOT_MOVED)
    with tier.started(KEPT) as mount:
        order(tier.folder / "y", "move")
        ensure(state_of(tier.folder / "y") == "clean", "it was not moved")
        ensure(mount.below("x").read_bytes() == OURS, "its bytes below")
        order(tier.folder / "y", "evict")
        ensure(status_of(tier.folder)["replicas"] == 0, "it was not evicted")
        stop(mount)
