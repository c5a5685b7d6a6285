"""The ports to daemons of the pool. They are not in forebay/ports.py, since their values are the
pool's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from forebay.pool.model.mounting import MountChoice, MountWay
from forebay.pool.model.place import PoolPlace, RunningDaemon

if TYPE_CHECKING:  # a program would wait for this
    from forebay.pool.model.pool import PoolEnd, PoolStatus


class Progress(Protocol):
    """Shows the progress of draining."""

    def show(self, status: PoolStatus) -> None:
        """Shows the present status; is called several times per second."""

    def note(self, text: str) -> None:
        """Tells the user something at once."""

    def end(self) -> None:
        """Ends the display, whether draining succeeded or not."""


class PoolDaemon(Protocol):
    """A daemon that this process started, and that ends with it."""

    @property
    def process(self) -> int | None:
        """The process id, or None if there are several daemons on several nodes."""

    def program_started(self) -> None:
        """The program runs: does what it need not wait for. Raises nothing."""

    def close_down(self) -> None:
        """Makes the daemon take no more deposits and drain: later writes go to the file system."""

    def finish(self, progress: Progress) -> PoolEnd:
        """Drains everything and ends the daemon. Raises nothing: the result says what failed."""


class PoolMount(Protocol):
    """The mounts over the folders of a pool. If the working directory is in such a folder, this
    process is in the mount while it exists."""

    def entering(self, words: Sequence[str]) -> Sequence[str]:
        """The command that runs `words` where the mounts are seen."""

    def finish(self) -> Sequence[str]:
        """Unmounts, even if processes still use the mounts. Returns messages for the user about
        mounts that had ended before."""


class PoolSession(Protocol):
    """A connection to a daemon that may have been started by another process."""

    def status(self) -> PoolStatus:
        """The daemon's status. Raises PoolError if it does not answer."""

    def drain(self, progress: Progress) -> int:
        """Waits until everything is drained; returns an errno, or 0. Raises PoolError if the daemon
        does not answer."""

    def stop(self, progress: Progress) -> PoolEnd:
        """Drains everything and ends the daemon. Raises PoolError if it does not answer."""


class Pools(Protocol):
    """The daemons of the pool on this machine."""

    def library(self) -> Path:
        """The library to preload that captures file calls. Raises SetupError if it is missing."""

    def program(self) -> Path:
        """The daemon's program. Raises SetupError if it is missing."""

    def obstacle(self) -> str | None:
        """Which limits of this process prevent programs that it starts from using a pool, or
        None."""

    def room(self, *, everywhere: bool = False) -> Path:
        """A socket's path in a new folder that only the user can enter. With `everywhere`, its
        parent exists on other nodes as well."""

    def left_behind(self) -> Sequence[str]:
        """Removes the folders of this user's killed runs, and returns messages about their losses
        for the user."""

    def remove_room(self, socket: Path) -> None:
        """Removes the folder of `socket`, which `room` made."""

    def start(self, place: PoolPlace) -> PoolDaemon:
        """Starts a daemon that drains and ends when this process dies. Raises PoolStartError with
        the daemon's messages."""

    def start_detached(self, place: PoolPlace) -> int:
        """Starts a daemon that outlives this process, and returns its process id. Raises
        PoolStartError with the daemon's messages."""

    def mount_obstacle(self, paths: Sequence[Path], choice: MountChoice) -> str | None:
        """Why nothing can be mounted over the paths, or None if nothing that can be checked forbids
        it."""

    def mount_ways(self, folder: Path) -> Sequence[MountWay]:
        """The ways to mount, each tried over a new folder in `folder`."""

    def other_names(self, path: Path) -> Sequence[Path]:
        """Paths at which files below `path` are seen too, past a mount over it."""

    def mount_limit(self) -> str | None:
        """The users that a mount of this user refuses, in words; None if all users are served."""

    def mount(
        self, paths: Sequence[Path], choice: MountChoice, *, socket: Path, folder: Path
    ) -> PoolMount:
        """Mounts over the paths, for the daemon at `socket`, until this process dies. Raises
        MountRefusedError with the reason."""

    def mount_detached(self, paths: Sequence[Path], choice: MountChoice, *, socket: Path) -> None:
        """As `mount`, but the mounts last until the daemon ends."""

    def usual_socket(self) -> Path:
        """The default socket of the user's daemon."""

    def connect(self, socket: Path) -> PoolSession:
        """A session with the daemon at `socket`. Raises PoolError if nobody listens there."""

    def end_by_signal(self, socket: Path) -> PoolEnd | None:
        """How the daemon at `socket` ended, if a signal told it to end and nobody knows it yet;
        else None. Each end is told once."""

    def running(self) -> Sequence[RunningDaemon]:
        """All daemons of the user on this machine, also those of single runs."""


class Silent:
    """A Progress that shows nothing."""

    def show(self, status: PoolStatus) -> None:
        """Does nothing."""

    def note(self, text: str) -> None:
        """Does nothing."""

    def end(self) -> None:
        """Does nothing."""


def resolved(paths: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """The absolute paths with symbolic links resolved, each once."""
    return tuple(dict.fromkeys((folder / path).resolve() for path in paths))
