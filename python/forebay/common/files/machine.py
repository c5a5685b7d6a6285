"""Facts about this machine: cores, kernel features, and the file system of a directory."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forebay.common.files.quotas import quota_left
from forebay.common.model.errors import UsageError
from forebay.machine_ports import DirectoryFacts, MachineFacts

_SYS_IO_URING_SETUP = 425
_IO_URING_PARAMS_BYTES = 120
_MOUNTINFO = Path("/proc/self/mountinfo")
_SHM = Path("/dev/shm")


@dataclass(frozen=True)
class Mount:
    """One mount of /proc/self/mountinfo."""

    point: Path
    file_system: str
    device: str
    number: str = ""
    """Major and minor number of the device."""
    root: Path = Path("/")
    """The directory of that device that is seen at the mount point."""


class LocalMachine:
    """The port Machine, over this machine."""

    def facts(self) -> MachineFacts:
        """The facts about kernel and hardware."""
        shm = shutil.disk_usage(_SHM) if _SHM.is_dir() else None
        return MachineFacts(
            cores=len(os.sched_getaffinity(0)),
            io_uring_obstacle=_io_uring_obstacle(),
            memfd_obstacle=_memfd_obstacle(),
            shm_bytes=shm.total if shm else None,
            shm_free_bytes=shm.free if shm else None,
        )

    def directory(self, path: Path) -> DirectoryFacts:
        """The file system of `path`. Raises UsageError if there is no such directory."""
        try:
            real = path.resolve(strict=True)
            if not real.is_dir():
                raise UsageError(
                    f"{path} is not a directory (it is a file). Give the directory that it is in: "
                    f"{path.parent}"
                )
            mount = mount_of(real, mountinfo())
            usage = shutil.disk_usage(real)
            return DirectoryFacts(
                path=real,
                mount_point=mount.point,
                file_system=mount.file_system,
                device=mount.device,
                free_bytes=usage.free if usage.total > 0 else None,
                is_writable=os.access(real, os.W_OK | os.X_OK),
                quota=quota_left(real, mount_point=mount.point, file_system=mount.file_system),
            )
        except OSError as error:
            raise UsageError(
                f"cannot look at {path} ({error.strerror}). Give a directory that is there."
            ) from error


def mountinfo() -> str:
    """The kernel's list of the mounts that this process sees."""
    return _MOUNTINFO.read_text(encoding="utf-8", errors="replace")


def mount_of(path: Path, listed: str) -> Mount:
    """The mount that `path` is on: the one with the longest mount point that is a prefix of it; of
    mounts with the same mount point, the last, which hides the others. Format: proc(5),
    /proc/PID/mountinfo."""
    best = Mount(Path("/"), "unknown", "unknown")
    for mount in mounts_of(listed):
        longer = len(mount.point.parts) >= len(best.point.parts)
        if longer and path.is_relative_to(mount.point):
            best = mount
    return best


def other_names(path: Path, listed: str) -> Iterator[Path]:
    """The paths outside of `path` at which its files, or some of them, are seen too, since their
    device is mounted elsewhere."""
    here = mount_of(path, listed)
    inner = here.root / path.relative_to(here.point)
    for mount in mounts_of(listed):
        if mount.number != here.number or mount.point == here.point:
            continue
        if inner.is_relative_to(mount.root):
            other = mount.point / inner.relative_to(mount.root)
        elif mount.root.is_relative_to(inner):
            other = mount.point
        else:
            continue
        if not other.is_relative_to(path) and mount_of(other, listed) == mount:
            yield other


def mounts_of(listed: str) -> Iterator[Mount]:
    """All mounts in the kernel's list, in its order."""
    for line in listed.splitlines():
        before, dash, after = line.partition(" - ")
        fields, source = before.split(" "), after.split(" ")
        if dash and len(fields) > 4 and len(source) > 1:
            yield Mount(
                point=Path(_unescaped(fields[4])),
                file_system=source[0],
                device=_unescaped(source[1]),
                number=fields[2],
                root=Path(_unescaped(fields[3])),
            )


def _unescaped(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def _io_uring_obstacle() -> str | None:
    """Why io_uring cannot be used, or None. Tries to set up a ring with one entry."""
    libc = ctypes.CDLL(None, use_errno=True)
    parameters = ctypes.create_string_buffer(_IO_URING_PARAMS_BYTES)
    ring = libc.syscall(_SYS_IO_URING_SETUP, 1, parameters)
    if ring >= 0:
        os.close(ring)
        return None
    reasons = {
        errno.ENOSYS: "the kernel has none, or a container hides it",
        errno.EPERM: "forbidden here: kernel.io_uring_disabled or a seccomp profile",
        errno.ENOMEM: "the limit of locked memory is too low",
    }
    number = ctypes.get_errno()
    return reasons.get(number, os.strerror(number))


def _memfd_obstacle() -> str | None:
    try:
        os.close(os.memfd_create("forebay-doctor"))
    except OSError as error:
        return error.strerror or str(error)
    return None
