"""Names, times and modes of files change while a tier has their newest bytes: the bytes went to a
rescue file, or a call failed that succeeds without a tier."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.tiers import KEPT, Tier, new_tier, order, stop
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
