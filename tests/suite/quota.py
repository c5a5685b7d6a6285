"""File systems whose users may hold only so much: what real ones have, and one that answers as they
do, for kernels that have no quotas."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite.file_systems import NOBODY, fuse_file_system
from suite.verdict import ensure

IMAGE_BYTES = 2 << 30
# <linux/quota.h>: Q_SETQUOTA of USRQUOTA, and QIF_BLIMITS; struct if_dqblk counts in KiB.
SET_USER_QUOTA = 0x800008 << 8
BLOCK_LIMITS = 1
UNLIMITED = 0


@dataclass(frozen=True, kw_only=True)
class Limited:
    folder: Path
    """In which nobody may write, up to a quota."""
    lift: Callable[[], object]
    """Ends the quota."""


@contextlib.contextmanager
def _mounted(folder: Path, *make: str, options: str = "") -> Iterator[Path]:
    """A new file system by a loop device. `make` is what makes it; the image comes behind it."""
    if os.geteuid() != 0 or shutil.which(make[0]) is None:
        pytest.skip(f"cannot make a file system (not root, or no {make[0]}). Install it, be root.")
    image, mount = folder / "image", folder / "mount"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    subprocess.run([*make, image], check=True, capture_output=True)
    mount.mkdir()
    with_options = ",".join(filter(None, ["loop", options]))
    done = subprocess.run(
        ["mount", "-o", with_options, image, mount], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"cannot mount {make[0]}'s with quotas here. Use a kernel that has them.")
    try:
        yield mount
    finally:
        if subprocess.run(["umount", mount], check=False).returncode != 0:
            subprocess.run(["umount", "-l", mount], check=True)


@contextlib.contextmanager
def ext4(folder: Path, bytes_max: int) -> Iterator[Limited]:
    """A user's quota."""
    make = ("mkfs.ext4", "-q", "-O", "quota", "-E", "quotatype=usrquota")
    with _mounted(folder, *make, options="usrquota") as mount:
        found = subprocess.run(
            ["findmnt", "-no", "SOURCE", mount], check=True, capture_output=True, text=True
        )
        device = found.stdout.strip()

        def limit(kib: int) -> None:
            wanted = struct.pack("=8QI4x", kib, kib, *[0] * 6, BLOCK_LIMITS)
            libc = ctypes.CDLL(None, use_errno=True)
            done = libc.quotactl(SET_USER_QUOTA, device.encode(), NOBODY, wanted)
            ensure(done == 0, f"quotactl: {os.strerror(ctypes.get_errno())}")

        limit(bytes_max >> 10)
        inside = mount / "inside"
        inside.mkdir()
        os.chown(inside, NOBODY, NOBODY)
        yield Limited(folder=inside, lift=lambda: limit(UNLIMITED))


@contextlib.contextmanager
def btrfs(folder: Path, bytes_max: int) -> Iterator[Limited]:
    """A subvolume's quota."""

    def tell(*words: str | Path) -> None:
        subprocess.run(["btrfs", *words], check=True, capture_output=True)

    with _mounted(folder, "mkfs.btrfs", "-q") as mount:
        inside = mount / "inside"
        tell("quota", "enable", mount)
        tell("subvolume", "create", inside)
        tell("qgroup", "limit", str(bytes_max), inside)
        os.chown(inside, NOBODY, NOBODY)
        yield Limited(folder=inside, lift=lambda: tell("qgroup", "limit", "none", inside))


@contextlib.contextmanager
def pretended(folder: Path, bytes_max: int) -> Iterator[Limited]:
    """tests/mpi/failing_fs.c: a quota of each file."""
    quota = folder / "quota"
    quota.touch()
    with fuse_file_system(folder, "failing_fs.c", str(bytes_max), quota) as mount:
        yield Limited(folder=mount, lift=quota.unlink)


Kind = Callable[[Path, int], contextlib.AbstractContextManager[Limited]]
KINDS: Mapping[str, Kind] = {"ext4": ext4, "btrfs": btrfs, "pretended": pretended}
