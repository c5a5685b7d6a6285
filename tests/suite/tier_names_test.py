"""Names, times and modes of files change while a tier has their newest bytes: the bytes went to a
rescue file, or a call failed that succeeds without a tier."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.tiers import KEPT, MIB, Tier, bytes_of, new_tier, order, stop
from suite.verdict import ensure

pytestmark = pytest.mark.skipif(
    not mo.can_mount(), reason="no forebay-mount, or no right to /dev/fuse. Build it; be root."
)
EITHER_POLICY = pytest.mark.parametrize("policy", ["write", "off"])


@pytest.fixture
def tier() -> Iterator[Tier]:
    with new_tier() as made:
        yield made


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
