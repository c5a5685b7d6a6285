"""Ports for the daemons of the pool. Apart from forebay/ports.py because a run without a pool needs
none of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from forebay.pool.model.pool import PoolEnd, PoolPlace, PoolStatus, RunningDaemon


class Progress(Protocol):
    """Shows how a pool drains."""

    def show(self, status: PoolStatus) -> None:
        """How it is now; several times a second."""

    def note(self, text: str) -> None:
        """Something that a person has to know at once."""

    def end(self) -> None:
        """It is over, one way or the other."""


class PoolDaemon(Protocol):
    """A daemon that we have started, and that ends with us."""

    @property
    def process(self) -> int | None:
        """Its number; None: there are several, on several nodes."""

    def close_down(self) -> None:
        """Has it take nothing more, and drain what it has: writes go to the file system then."""

    def finish(self, progress: Progress) -> PoolEnd:
        """Has everything drained, and ends it. Raises nothing: what went wrong is in the end."""


class PoolMount(Protocol):
    """The mount over the folders of a pool. While it is there, we stand in it if we stood below."""

    def finish(self) -> None:
        """Unmounts, whoever still uses it."""


class PoolSession(Protocol):
    """A conversation with a daemon that somebody has started."""

    def status(self) -> PoolStatus:
        """PoolError: it does not answer."""

    def drain(self, progress: Progress) -> int:
        """Waits until everything is drained; an errno, or 0. PoolError: it does not answer."""

    def stop(self, progress: Progress) -> PoolEnd:
        """Has everything drained and ends it. PoolError: it does not answer."""


class Pools(Protocol):
    """Daemons of the pool on this machine."""

    def library(self) -> Path:
        """The library that is preloaded to send files through a pool. SetupError: it is missing."""

    def program(self) -> Path:
        """The daemon. SetupError: it is missing."""

    def obstacle(self) -> str | None:
        """Why what is started from here could not use a pool: limits that we have been given. None:
        it can."""

    def room(self, *, everywhere: bool = False) -> Path:
        """A socket's path, in a new folder that only the user can enter; `everywhere`: in one that
        other nodes have as well."""

    def left_behind(self) -> Sequence[str]:
        """Removes what runs of this user that were killed have left in such folders; what a person
        has to know of them."""

    def remove_room(self, socket: Path) -> None:
        """Removes that folder."""

    def start(self, place: PoolPlace) -> PoolDaemon:
        """Starts a daemon that drains and ends when we die. PoolStartError says what it said."""

    def start_detached(self, place: PoolPlace) -> int:
        """Starts one that stays; its process. PoolStartError says what it said."""

    def mount_obstacle(self, paths: Sequence[Path]) -> str | None:
        """Why nothing can be mounted over the paths; None: it can, as far as can be seen."""

    def mount(self, paths: Sequence[Path], *, socket: Path, folder: Path) -> PoolMount:
        """Mounts over the paths, before the daemon that listens there; it ends when we die.
        PoolStartError says what was wrong."""

    def mount_detached(self, paths: Sequence[Path], *, socket: Path) -> None:
        """The same, until that daemon ends."""

    def usual_socket(self) -> Path:
        """Where a user's daemon listens if nobody says otherwise."""

    def connect(self, socket: Path) -> PoolSession:
        """PoolError: nobody listens there."""

    def running(self) -> Sequence[RunningDaemon]:
        """All daemons of the user on this machine, also those of single runs."""


class Silent:
    """A Progress that shows nothing."""

    def show(self, status: PoolStatus) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


def resolved(paths: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """Absolute paths without links, each once: the kernel's own names of them."""
    return tuple(dict.fromkeys((folder / path).resolve() for path in paths))
