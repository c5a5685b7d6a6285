"""The ports of commands that look at the machine and its file systems, and all ports together.
Those that running a program takes are in ports.py."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from forebay.common.model.frozen import frozen
from forebay.layout.model import Layout, LayoutChange, WantedLayout
from forebay.ports import RunWorld


@frozen
class QuotaLeft:
    """The `bytes` that are left of a quota; `of` says in words whose quota it is."""

    bytes: int
    of: str


@frozen
class DirectoryFacts:
    """A directory, and the file system that it is on."""

    path: Path
    mount_point: Path
    file_system: str
    device: str
    free_bytes: int | None
    """None if the file system does not say."""
    is_writable: bool
    quota: QuotaLeft | None = None
    """None if there is no quota, or the system does not show it."""


@frozen
class MachineFacts:
    """Facts about kernel and hardware that matter to Forebay. An obstacle is the reason why a
    feature does not work, None if it does."""

    cores: int
    io_uring_obstacle: str | None
    memfd_obstacle: str | None
    shm_bytes: int | None
    shm_free_bytes: int | None


class Machine(Protocol):
    """This machine and its file systems."""

    def facts(self) -> MachineFacts:
        """The facts about kernel and hardware."""

    def directory(self, path: Path) -> DirectoryFacts:
        """The file system that `path` is on. Raises UsageError if there is no such directory."""


class Layouts(Protocol):
    """Layouts of files over storage targets. All methods raise SetupError if the native program is
    missing."""

    def show(self, path: Path) -> Layout:
        """The layout of a file, or of new files in a directory. Raises LayoutError if it cannot be
        read."""

    def set(self, path: Path, wanted: WantedLayout) -> LayoutChange:
        """Sets the layout of a new or empty file, or of a directory. Raises LayoutError if nothing
        was set."""


@frozen
class World(RunWorld):
    """All ports together."""

    machine: Machine
    layouts: Layouts
