"""Small files and files that are synced all the time cost the pool nothing: they go past it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from suite import mounted as mo
from suite import pooled
from suite.pool import Pool
from suite.verdict import ensure

KIB = 1 << 10
FILES = 300
SYNCS = 4
"""The first is of much, and three in a row of little."""

pytestmark = pytest.mark.skipif(
    not mo.can_mount(), reason="no forebay-mount, or no right to /dev/fuse. Build it; be root."
)


@pytest.fixture
def mount() -> Iterator[mo.Mounted]:
    with mo.mounted(before_pool=True, settings=pooled.KEPT) as served:
        yield served


def pool_of(mount: mo.Mounted) -> Pool:
    ensure(mount.pool is not None, "there is no pool")
    assert mount.pool is not None
    return mount.pool


def test_the_daemon_hears_nothing_of_small_files(mount: mo.Mounted) -> None:
    for number in range(FILES):
        (mount.folder / str(number)).write_bytes(b"x" * (2 * KIB))
    for number in range(FILES):
        (mount.folder / str(number)).rename(mount.folder / f"{number}.done")
    found = pool_of(mount).status()
    ensure(found.files == () and found.taken == 0, f"{found}")
    ensure(mount.below("7.done").read_bytes() == b"x" * (2 * KIB), "it is not below")
    (mount.folder / "large").write_bytes(b"x" * (300 * KIB))
    ensure(len(pool_of(mount).status().files) == 1, "nor of a large one")


def test_a_file_that_is_synced_after_each_little_write_steps_aside(mount: mo.Mounted) -> None:
    pool, path = pool_of(mount), mount.folder / "f"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(fd, b"x" * (300 * KIB))
    for number in range(SYNCS):
        before = pool.taken()
        os.write(fd, b"y" * (4 * KIB))
        ensure(pool.taken() > before, f"it was aside after {number} syncs")
        os.fsync(fd)
    before = pool.taken()
    os.write(fd, b"z" * (1 << 20))
    size = os.fstat(fd).st_size
    ensure(pool.taken() == before, "it is not aside")
    ensure(mount.below("f").stat().st_size == size == (300 + 16 + KIB) * KIB, f"{size}")
    os.close(fd)

    def is_pooled_again() -> bool:
        """The kernel tells of the close behind the program's back."""
        again = os.open(path, os.O_WRONLY)
        os.write(again, b"x" * (300 * KIB))
        os.close(again)
        return pool.taken() > before

    pooled.until(is_pooled_again, "the last close ends it")
