"""Looks up the facts about this node that `forebay doctor --site` judges."""

from __future__ import annotations

import os
import re
import resource
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from forebay.common.files.commands import answer_of, unloaded_environment
from forebay.common.files.machine import mountinfo, mounts_of
from forebay.doctor.model.site import (
    HugePageFacts,
    LimitFacts,
    MountFacts,
    SiteFacts,
    slurm_config,
)

_FUSE = Path("/dev/fuse")
_HELPER = "fusermount3"
_TRANSPARENT = Path("/sys/kernel/mm/transparent_hugepage")
_OS_RELEASE = Path("/etc/os-release")
_MEMINFO = Path("/proc/meminfo")
_SECONDS_MAX = 10.0
_LIMITS = (
    ("open files", "-n", resource.RLIMIT_NOFILE),
    ("locked memory", "-l", resource.RLIMIT_MEMLOCK),
    ("address space", "-v", resource.RLIMIT_AS),
    ("processes", "-u", resource.RLIMIT_NPROC),
)


class LocalSite:
    """The port SiteProbe, over this node."""

    def facts(self) -> SiteFacts:
        """All facts. What cannot be found out is missing in them."""
        memory = _meminfo()
        helper = shutil.which(_HELPER)
        slurm, slurm_obstacle = _slurm()
        return SiteFacts(
            kernel=os.uname().release,
            distribution=_distribution(),
            libc=_libc(),
            architecture=os.uname().machine,
            memory_bytes=memory.get("MemTotal"),
            fuse_obstacle=_fuse_obstacle(),
            fuse_helper=Path(helper) if helper else None,
            fuse_helper_is_setuid=helper is not None and _is_setuid(Path(helper)),
            user_namespace_obstacle=_user_namespace_obstacle(),
            huge_pages=HugePageFacts(
                transparent=_chosen(_TRANSPARENT / "enabled"),
                shared_memory=_chosen(_TRANSPARENT / "shmem_enabled"),
                reserved_bytes=memory.get("Hugetlb", 0),
            ),
            limits=tuple(_limits()),
            slurm=slurm,
            slurm_obstacle=slurm_obstacle,
            mounts=tuple(
                MountFacts(point=one.point, file_system=one.file_system, device=one.device)
                for one in mounts_of(mountinfo())
            ),
        )


def _distribution() -> str:
    """Its name in /etc/os-release; Python 3.9 has no function for that."""
    found = re.search(r"^PRETTY_NAME=(.*)$", _text(_OS_RELEASE), re.MULTILINE)
    return found[1].strip("\"'") if found else ""


def _libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def _meminfo() -> Mapping[str, int]:
    """The kernel's numbers about memory, in bytes."""
    lines = re.findall(r"^(\w+):\s+(\d+) kB$", _text(_MEMINFO), re.MULTILINE)
    return {name: int(count) << 10 for name, count in lines}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _chosen(path: Path) -> str:
    """The word in brackets, as in "always [madvise] never"."""
    found = re.search(r"\[(\w+)\]", _text(path))
    return found[1] if found else ""


def _fuse_obstacle() -> str | None:
    try:
        os.close(os.open(_FUSE, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return f"{_FUSE}: {error.strerror}"
    return None


def _is_setuid(path: Path) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return bool(found.st_mode & stat.S_ISUID) and found.st_uid == 0


def _user_namespace_obstacle() -> str | None:
    """Makes one. util-linux's unshare is everywhere where there is a shell."""
    words = ("unshare", "--user", "--map-root-user", "true")
    done = answer_of(words, environment=unloaded_environment(), seconds_max=_SECONDS_MAX)
    if done is None:
        return "not tried: there is no unshare"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"unshare: status {done.returncode}"


def _limits() -> Iterator[LimitFacts]:
    for name, option, number in _LIMITS:
        soft, hard = resource.getrlimit(number)
        yield LimitFacts(name=name, option=option, soft=_bounded(soft), hard=_bounded(hard))


def _bounded(limit: int) -> int | None:
    return None if limit == resource.RLIM_INFINITY else limit


def _slurm() -> tuple[Mapping[str, str] | None, str | None]:
    if shutil.which("scontrol") is None:
        return None, None
    words = ("scontrol", "show", "config")
    done = answer_of(words, environment=unloaded_environment(), seconds_max=_SECONDS_MAX)
    if done is None:
        return None, "`scontrol show config` does not answer"
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return None, f"`scontrol show config`: {lines[-1] if lines else done.returncode}"
    return slurm_config(done.stdout), None
