"""Facts about a node that matter to those who look after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.frozen import frozen


@frozen
class LimitFacts:
    """A resource limit of this process, which daemons and programs inherit; None: no limit."""

    name: str
    option: str
    """The option of the shell's ulimit that shows it."""
    soft: int | None
    hard: int | None


@frozen
class HugePageFacts:
    """The kernel's settings for large pages; empty texts: it does not say."""

    transparent: str
    shared_memory: str
    reserved_bytes: int


@frozen
class MountFacts:
    """A mounted file system."""

    point: Path
    file_system: str
    device: str


@frozen
class SiteFacts:
    """The facts. An obstacle is the reason why something does not work, None if it does."""

    kernel: str
    distribution: str
    libc: str
    architecture: str
    memory_bytes: int | None
    fuse_obstacle: str | None
    fuse_helper: Path | None
    """fusermount3."""
    fuse_helper_is_setuid: bool
    user_namespace_obstacle: str | None
    huge_pages: HugePageFacts
    limits: tuple[LimitFacts, ...]
    slurm: Mapping[str, str] | None
    """Slurm's configuration; None if there is none here."""
    slurm_obstacle: str | None
    """Why the configuration of an installed Slurm is not known."""
    mounts: tuple[MountFacts, ...]


PARALLEL = frozenset({"lustre", "ceph", "gpfs", "beegfs", "fuse.juicefs", "pvfs2", "wekafs"})
"""Kinds of parallel file systems."""
_NETWORKED = PARALLEL | {"nfs", "nfs4", "fuse.ceph-fuse", "fuse.glusterfs", "smb3", "cifs"}


def networked(mounts: Sequence[MountFacts]) -> tuple[MountFacts, ...]:
    """The mounts of file systems that other nodes may have, too; each device once."""
    return tuple({one.device: one for one in mounts if one.file_system in _NETWORKED}.values())


def slurm_config(text: str) -> Mapping[str, str]:
    """The lines NAME = VALUE that `scontrol show config` prints."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}
