"""The file systems on which the pool is measured. They are made for a measurement and removed."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from forebay.common.model.frozen import frozen

ROOT = Path(__file__).resolve().parents[2]
LIMITED_DISK = str(ROOT / "tools" / "limited_disk.sh")
LATENCY_SECONDS = 1e-3
"""The latency of one request to the FUSE file system."""
SECTOR_BYTES = 512
UNLIMITED = 1_000_000
"""MB/s that no loop device reaches: it is then as fast as the storage below it."""


@frozen
class Place:
    """A folder on such a file system."""

    folder: Path
    device: str = ""
    """The name of a limited disk in /sys/block; empty for other file systems."""
    request_seconds: float = 0
    """The latency of a request, 0 if not known."""

    def bytes_read(self) -> int:
        """Bytes that the disk has delivered so far."""
        return int(Path(f"/sys/block/{self.device}/stat").read_text().split()[2]) * SECTOR_BYTES


def drop_caches() -> None:
    """Drops the page caches, so that reads reach the file system."""
    subprocess.run([LIMITED_DISK, "drop"], check=True)


@contextlib.contextmanager
def limited(rate: int) -> Iterator[Place]:
    """A limited disk with `rate` MB/s."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["up", folder, "--rate", str(rate * 1_000_000)]
        try:
            subprocess.run([LIMITED_DISK, *words], check=True)
            device = Path(Path(folder, "loop").read_text().strip()).name
            yield Place(folder=Path(folder) / "disk", device=device)
        finally:
            subprocess.run([LIMITED_DISK, "down", folder], check=False)


@contextlib.contextmanager
def fuse(slow_fs: Path, rate: int) -> Iterator[Place]:
    """A write-through FUSE file system over tmpfs, with a latency and `rate` MB/s."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        mount, backing = Path(folder) / "mount", Path(folder) / "backing"
        mount.mkdir()
        backing.mkdir()
        numbers = [f"{LATENCY_SECONDS * 1e6:.0f}", str(rate * 1_000_000)]
        server = subprocess.Popen([slow_fs, mount, backing, *numbers])
        try:
            while not os.path.ismount(mount):
                if server.poll() is not None:
                    raise RuntimeError("no FUSE file system here. Run as root, see /dev/fuse.")
                time.sleep(0.01)
            yield Place(folder=mount, request_seconds=LATENCY_SECONDS)
        finally:
            subprocess.run(["umount", "-l", str(mount)], check=False)
            server.wait()


@contextlib.contextmanager
def tmpfs() -> Iterator[Place]:
    """A file system in memory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Place(folder=Path(folder))


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[Place]:
    """The machine's own disk, which has no limits of ours."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        yield Place(folder=Path(made))


def places(
    slow_fs: Path, *, ceph: Path | None = None, own_disk: Path | None = None
) -> Mapping[str, Callable[[], AbstractContextManager[Place]]]:
    """The file systems by name, as context managers: those that are made for a measurement, and of
    `ceph` and `disk` those whose folder is given."""
    known: dict[str, Callable[[], AbstractContextManager[Place]]] = {
        "limited50": lambda: limited(50),
        "limited200": lambda: limited(200),
        "loop": lambda: limited(UNLIMITED),
        "fuse": lambda: fuse(slow_fs, 100),
        "fuse400": lambda: fuse(slow_fs, 400),
        "tmpfs": tmpfs,
    }
    if ceph is not None:
        known["ceph"] = lambda: contextlib.nullcontext(Place(folder=ceph))
    if own_disk is not None:
        known["disk"] = lambda: disk(own_disk)
    return known


PLACE_NAMES = tuple(places(Path(), ceph=Path(), own_disk=Path()))


def chosen_places(
    slow_fs: Path, chosen: argparse.Namespace
) -> Mapping[str, Callable[[], AbstractContextManager[Place]]]:
    """All of PLACE_NAMES that a benchmark's options --disk and --ceph allow."""
    return places(slow_fs, ceph=chosen.ceph, own_disk=chosen.disk)
