"""Names, times and modes of files change while a tier has their newest bytes: the bytes went to a
rescue file, or a call failed that succeeds without a tier."""

from __future__ import annotations

import os
import struct
import sys
import threading
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite.on import FULL
from suite.tiers import KEPT, MIB, Tier, bytes_of, order, state_of, stop
from suite.verdict import ensure

pytestmark = mo.needs_mount
EITHER_POLICY = pytest.mark.parametrize("policy", ["write", "off"])
FILES = 300
SEEDS = (5, 11, 12)


def _opened(file: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    return os.open(file, flags, 0o644)


@EITHER_POLICY
def test_a_file_is_emptied_that_is_opened_to_be_read(tier: Tier, policy: str) -> None:
    """EINVAL, if it had no replica."""
    with tier.started(policy) as mount:
        (tier.folder / "x").write_bytes(b"old")
        order(tier.folder, "move")
        order(tier.folder, "evict")
        os.close(_opened(tier.folder / "x", os.O_RDONLY | os.O_TRUNC))
        ensure((tier.folder / "x").read_bytes() == b"", "it was not emptied")
        stop(mount)
    ensure((tier.folder / "x").read_bytes() == b"", "it has bytes afterwards")


def test_a_file_loses_one_of_two_names_while_it_is_written(tier: Tier) -> None:
    """The tier looked for it under the name that was gone, and rescued its bytes."""
    with tier.started() as mount:
        fd = _opened(tier.folder / "x")
        os.write(fd, b"before")
        (tier.folder / "y").hardlink_to(tier.folder / "x")
        (tier.folder / "x").unlink()
        os.write(fd, b" after")
        os.close(fd)
        ensure((tier.folder / "y").read_bytes() == b"before after", "its bytes meanwhile")
        # The kernel's name of what the mount has open is the one that is gone.
        (tier.folder / "y").write_bytes(b"anew")
        stop(mount)
    ensure((tier.folder / "y").read_bytes() == b"anew", "its bytes afterwards")
    ensure(not tier.rescued(), "something was rescued")


def test_the_time_of_an_open_file_is_set_once_it_was_moved(tier: Tier) -> None:
    """The next write was taken for one beside somebody else's, and was rescued."""
    with tier.started(KEPT) as mount:
        fd = _opened(tier.folder / "x")
        os.write(fd, b"before")
        order(tier.folder, "move")
        os.utime(fd, (1e9, 1e9))
        os.write(fd, b" after")
        os.close(fd)
        order(tier.folder, "move")
        stop(mount)
    ensure((tier.folder / "x").read_bytes() == b"before after", "its bytes")
    ensure(not tier.rescued(), "something was rescued")


def test_a_file_is_written_after_its_mode_forbids_it(tier: Tier) -> None:
    """Nobody but root could have opened it to move these bytes."""
    with tier.started(KEPT) as mount:
        fd = _opened(tier.folder / "x")
        os.write(fd, b"before")
        os.fchmod(fd, 0o444)
        os.write(fd, b" after")
        os.close(fd)
        ensure(state_of(tier.folder / "x") == "none", "what was written later lies in a replica")
        ensure(mount.below("x").read_bytes() == b"before after", "its bytes below")
        stop(mount)


@FULL
def test_files_are_made_while_their_folder_is_renamed(tier: Tier) -> None:
    """Some got the path that the folder had before, were not found there, and were rescued."""
    names = [tier.folder / "a", tier.folder / "b"]
    names[0].mkdir()
    with tier.started() as mount:
        folder = os.open(names[0], os.O_DIRECTORY)
        done = threading.Event()

        def rename() -> None:
            while not done.is_set():
                names[0].rename(names[1])
                names[1].rename(names[0])

        renames = threading.Thread(target=rename)
        renames.start()
        try:
            for one in range(FILES):
                fd = os.open(f"{one}", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=folder)
                os.write(fd, b"%d" % one)
                os.close(fd)
        finally:
            done.set()
            renames.join()
            os.close(folder)
        order(tier.folder, "move")
        stop(mount)
    wrong = [one for one in range(FILES) if (names[0] / f"{one}").read_bytes() != b"%d" % one]
    ensure(not wrong and not tier.rescued(), f"files {wrong} have other bytes")


def test_an_order_to_move_has_what_was_written_before_it(tier: Tier) -> None:
    """It ended with the move that was under way, which a write had overtaken."""
    with tier.started(KEPT) as mount:
        fd = _opened(tier.folder / "x")
        below = os.open(mount.below("x"), os.O_RDONLY)
        for one in range(3):
            os.pwrite(fd, bytes_of(16 * MIB, one), 0)
            other = threading.Thread(target=order, args=(tier.folder, "move"))
            other.start()
            # The move is under way once the file has bytes of it.
            while other.is_alive() and os.pread(below, 8, 0) != bytes_of(8, one):
                pass
            os.pwrite(fd, b"new %4d" % one, 0)
            order(tier.folder / "x", "move")
            ensure(os.pread(below, 8, 0) == b"new %4d" % one, f"order {one} came too early")
            other.join()
        os.close(fd)
        os.close(below)
        stop(mount)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_calls_agree_with_a_model(tier: Tier, seed: int) -> None:
    words = [sys.executable, str(m.ROOT / "tests" / "posix" / "mount_random.py"), str(seed), "200"]
    with tier.started("write preload move=size:1B") as mount:
        mount.run(*words, environment={"ORDERS": "user.forebay.order"})
        order(tier.folder, "move")
        left = {one.name: one.read_bytes() for one in tier.folder.iterdir()}
        stop(mount)
    ensure(
        left == {one.name: one.read_bytes() for one in tier.folder.iterdir()},
        "files have other bytes when the tier has ended",
    )
    ensure(not tier.rescued(), "something was rescued")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files capabilities")
def test_capabilities_and_set_id_bits_of_a_file_that_waits_to_be_moved(tier: Tier) -> None:
    """The move cleared them, as every write does."""
    capability = struct.pack("<IIIII", 0x02000000 | 1, 1 << 13, 0, 0, 0)  # cap_net_raw, effective
    with tier.started(KEPT) as mount:
        for name in ("capable", "set-id"):
            (tier.folder / name).write_bytes(b"program")
        os.setxattr(tier.folder / "capable", "security.capability", capability)
        (tier.folder / "set-id").chmod(0o6755)
        order(tier.folder, "move")
        stop(mount)
    kept = os.getxattr(tier.folder / "capable", "security.capability")
    ensure(kept == capability, "the capabilities were lost")
    mode = (tier.folder / "set-id").stat().st_mode & 0o7777
    ensure(mode == 0o6755, f"the mode is {mode:o}")
