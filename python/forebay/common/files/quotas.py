"""Reads how much of a quota is left, as far as a user without root can see it: quotas of the kernel
(ext4, XFS …), of a btrfs subvolume, of CephFS directories, and of Lustre users and groups."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import struct
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from forebay.common.model.newer_python import zip_of
from forebay.machine_ports import QuotaLeft

_SYS_QUOTACTL_FD = 443
_GET_QUOTA = 0x800007
_KINDS = (("user", 0), ("group", 1))
_DQBLK = struct.Struct("=8QI4x")
"""<linux/quota.h>, struct if_dqblk: hard and soft limit in KiB, bytes used …"""
_KIB = 1 << 10

_BTRFS_FS_INFO = 0x8400941F
_BTRFS_FS_INFO_BYTES = 1024
_BTRFS_INO_LOOKUP = 0xD0009412
_BTRFS_INO_LOOKUP_BYTES = 4096
_BTRFS_FIRST_INODE = 256
_BTRFS_SYSFS = Path("/sys/fs/btrfs")
_BTRFS_LIMITS = {1: ("max_referenced", "referenced"), 2: ("max_exclusive", "exclusive")}
"""For each bit of `limit_flags`, the files with the limit and with the bytes used of it."""

_LFS_SECONDS_MAX = 10


def quota_left(directory: Path, *, mount_point: Path, file_system: str) -> QuotaLeft | None:
    """The tightest quota for new files of the user in `directory`. Returns None if there is no
    quota, or the system does not show it."""
    found: list[QuotaLeft] = []
    with contextlib.suppress(OSError):
        found += _kernel(directory)
    if file_system == "btrfs":
        found += _btrfs(directory)
    elif "ceph" in file_system:
        found += _ceph(directory, mount_point)
    elif file_system == "lustre":
        found += _lustre(mount_point)
    return min(found, key=lambda one: one.bytes, default=None)


def _kernel(directory: Path) -> Iterator[QuotaLeft]:
    """Quotas by quotactl_fd(2), which lets users query their own user and group."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for (name, kind), who in zip_of(_KINDS, (os.geteuid(), os.getegid()), strict=True):
            answer = ctypes.create_string_buffer(_DQBLK.size)
            command = ctypes.c_uint(_GET_QUOTA << 8 | kind)
            if libc.syscall(_SYS_QUOTACTL_FD, descriptor, command, who, answer) == 0:
                hard, soft, used, *_ = _DQBLK.unpack(answer.raw)
                left = _left(hard * _KIB, soft * _KIB, used)
                if left is not None:
                    yield QuotaLeft(bytes=left, of=f"the {name}'s quota")
    finally:
        os.close(descriptor)


def _left(hard: int, soft: int, used: int) -> int | None:
    """Bytes up to the lower of the limits that are set, None if none is. The soft limit counts,
    since beyond it only a grace period is left."""
    limits = [limit for limit in (hard, soft) if limit]
    return max(0, min(limits) - used) if limits else None


def _btrfs(directory: Path) -> Iterator[QuotaLeft]:
    """The quotas of the subvolume. Its ioctls and the files in /sys need no privileges."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            info = bytearray(_BTRFS_FS_INFO_BYTES)
            fcntl.ioctl(descriptor, _BTRFS_FS_INFO, info)
            lookup = bytearray(struct.pack("=QQ", 0, _BTRFS_FIRST_INODE))
            lookup += bytes(_BTRFS_INO_LOOKUP_BYTES - len(lookup))
            fcntl.ioctl(descriptor, _BTRFS_INO_LOOKUP, lookup)
        finally:
            os.close(descriptor)
        system = uuid.UUID(bytes=bytes(info[16:32]))
        (subvolume,) = struct.unpack_from("=Q", lookup)
        yield from subvolume_quota(_BTRFS_SYSFS / str(system) / "qgroups" / f"0_{subvolume}")


def subvolume_quota(folder: Path) -> Iterator[QuotaLeft]:
    """The limits in the files of a quota group (qgroup)."""

    def number(name: str) -> int:
        return int((folder / name).read_text())

    flags = number("limit_flags")
    for bit, (limit, used) in _BTRFS_LIMITS.items():
        if flags & bit:
            left = max(0, number(limit) - number(used))
            yield QuotaLeft(bytes=left, of="the subvolume's quota")


Attributes = Callable[[Path, str], bytes]


def _ceph(directory: Path, mount_point: Path) -> Iterator[QuotaLeft]:
    return directory_quotas(directory, mount_point, os.getxattr)


def directory_quotas(
    directory: Path, mount_point: Path, attribute: Attributes
) -> Iterator[QuotaLeft]:
    """The quotas of the directory and of its parents up to the mount point. A directory without
    quota lacks the attribute."""
    for folder in (directory, *directory.parents):
        with contextlib.suppress(OSError, ValueError):
            limit = int(attribute(folder, "ceph.quota.max_bytes"))
            used = int(attribute(folder, "ceph.dir.rbytes"))
            if limit > 0:
                yield QuotaLeft(bytes=max(0, limit - used), of=f"the quota of {folder}")
        if folder == mount_point:
            return


def _lustre(mount_point: Path) -> Iterator[QuotaLeft]:
    environment: Mapping[str, str] = {**os.environ, "LC_ALL": "C"}
    asks = (("user", "-u", os.geteuid()), ("group", "-g", os.getegid()))
    for name, option, who in asks:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(
                ["lfs", "quota", "-q", option, str(who), str(mount_point)],
                capture_output=True, text=True, check=True, env=environment,
                timeout=_LFS_SECONDS_MAX,
            )  # fmt: skip
            left = lfs_quota_left(done.stdout, str(mount_point))
            if left is not None:
                yield QuotaLeft(bytes=left, of=f"the {name}'s quota")


def lfs_quota_left(output: str, mount_point: str) -> int | None:
    """Bytes left by the output of `lfs quota -q`, or None. Its fields are the mount point, KiB used
    (with a star if over the limit), soft limit, hard limit, grace … A long mount point is on a line
    of its own."""
    _, found, rest = output.partition(mount_point)
    numbers = [word.strip("*[]") for word in rest.split()[:3]]
    if not found or len(numbers) < 3 or not all(number.isdigit() for number in numbers):
        return None
    used, soft, hard = (int(number) * _KIB for number in numbers)
    return _left(hard, soft, used)
