"""Locks through the mount are held by the file below: each kind against one there, both ways."""

from __future__ import annotations

import fcntl
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.file_systems import until
from suite.verdict import ensure

pytestmark = pytest.mark.skipif(
    not mo.can_mount(), reason="no forebay-mount, or no right to /dev/fuse. Build it; be root."
)

KINDS = ("flock", "fcntl", "ofd")
OFD_SETLK, OFD_SETLKW = 37, 38
STRUCT_FLOCK = "hhqqi4x"


class File:
    """A file that was opened to be locked, in the mount or below."""

    def __init__(self, path: Path, kind: str) -> None:
        self.kind = kind
        self.fd = os.open(path, os.O_RDWR)

    def lock(self, *, waits: bool = False) -> None:
        """Raises BlockingIOError where somebody else has a lock."""
        self._operate(fcntl.LOCK_EX, 0 if waits else fcntl.LOCK_NB)

    def unlock(self) -> None:
        self._operate(fcntl.LOCK_UN, 0)

    def is_refused(self) -> bool:
        """Whether somebody else has a lock. It is not ours afterwards, either."""
        try:
            self.lock()
        except BlockingIOError:
            return True
        self.unlock()
        return False

    def close(self) -> None:
        os.close(self.fd)

    def _operate(self, operation: int, mode: int) -> None:
        if self.kind == "flock":
            fcntl.flock(self.fd, operation | mode)
        elif self.kind == "fcntl":
            fcntl.lockf(self.fd, operation | mode)
        else:
            kind = fcntl.F_UNLCK if operation == fcntl.LOCK_UN else fcntl.F_WRLCK
            command = OFD_SETLK if mode else OFD_SETLKW
            fcntl.fcntl(self.fd, command, struct.pack(STRUCT_FLOCK, kind, 0, 0, 0, 0))


@pytest.fixture(scope="module")
def mount() -> Iterator[mo.Mounted]:
    with mo.mounted(before_pool=False) as made:
        yield made


@pytest.fixture
def name(mount: mo.Mounted, request: pytest.FixtureRequest) -> str:
    """A file of the test's own."""
    made = "".join(one if one.isalnum() else "_" for one in request.node.name)
    (mount.folder / made).write_text("text")
    return made


@pytest.mark.parametrize("below_first", [False, True], ids=["held-there", "held-below"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_excludes_one_on_the_other_side(
    mount: mo.Mounted, name: str, kind: str, below_first: bool
) -> None:
    paths = (mount.below(name), mount.folder / name)
    one, other = (File(path, kind) for path in (paths if below_first else reversed(paths)))
    one.lock()
    ensure(other.is_refused(), "both have it")
    one.unlock()
    ensure(not other.is_refused(), "it was not given back")
    one.lock()
    one.close()
    ensure(until(lambda: not other.is_refused(), mo.SECONDS_MAX), "a close gave nothing back")
    other.close()


@pytest.mark.parametrize("kind", KINDS)
def test_who_waits_in_the_mount_gets_the_lock_from_below(
    mount: mo.Mounted, name: str, kind: str
) -> None:
    below, there = File(mount.below(name), kind), File(mount.folder / name, kind)
    below.lock()
    waits = threading.Thread(target=there.lock, kwargs={"waits": True})
    waits.start()
    waits.join(0.05)
    ensure(waits.is_alive(), "both have it")
    below.unlock()
    waits.join(mo.SECONDS_MAX)
    ensure(not waits.is_alive() and below.is_refused(), "it is not locked")
    there.close()
    ensure(until(lambda: not below.is_refused(), mo.SECONDS_MAX), "a close gave nothing back")
    below.close()


def test_a_lock_was_lost_where_a_thread_closed_the_file_while_another_waited(
    mount: mo.Mounted, name: str
) -> None:
    below, there = File(mount.below(name), "ofd"), File(mount.folder / name, "fcntl")
    below.lock()
    waits = threading.Thread(target=there.lock, kwargs={"waits": True})
    waits.start()
    waits.join(0.2)
    File(mount.folder / name, "fcntl").close()
    below.unlock()
    waits.join(mo.SECONDS_MAX)
    ensure(not waits.is_alive() and below.is_refused(), "it is not locked")
    there.close()
    ensure(not below.is_refused(), "a close gave nothing back")
    below.close()
