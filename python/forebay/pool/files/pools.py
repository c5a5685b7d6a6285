"""The port Pools: daemons of the pool on this machine. The modules that talk to daemons are
imported only when a pool is asked for, since most runs have none."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.common.files.own_folders import make_folder, stale_folders
from forebay.common.model.errors import PoolStartError, SetupError
from forebay.common.model.units import counted, human_bytes
from forebay.pool.model.mounting import MountChoice, MountWay
from forebay.pool.model.place import SOCKET_NAME_MAX, PoolPlace, RunningDaemon
from forebay.pool.use_case.ports import PoolDaemon, PoolMount, PoolSession
from forebay.ports import LibraryFinder

if TYPE_CHECKING:  # a program would wait for this
    from forebay.pool.model.pool import PoolEnd

PROGRAM_NAME = "forebayd"
LIBRARY_NAME = "libforebay_posix.so"
_SOCKET_NAME = "pool"
_SOCKET = b"--socket"
_ADDRESSES_LEAST = 36 << 30
"""Bytes of address space. Each client maps a log of 16 GiB (src/pool/protocol/limits.hpp), and the
daemon maps the log of each client, so that this is enough for two of them."""
_FILES_LEAST = 64
_PREFIX = "forebay-pool-"


class LocalPools:
    """The port Pools, over real processes and sockets."""

    def __init__(
        self, libraries: LibraryFinder, *, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._libraries = libraries
        self._environment = environment

    def library(self) -> Path:
        """The library libforebay_posix.so, beside the other native libraries."""
        return self._file(LIBRARY_NAME)

    def program(self) -> Path:
        """The daemon's program, beside the native libraries."""
        return self._file(PROGRAM_NAME)

    def obstacle(self) -> str | None:
        """Why limits of this process, which a daemon inherits, prevent a pool, or None. Of
        RLIMIT_NOFILE only the hard limit matters: the daemon raises the soft one to it."""
        addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
        if addresses != resource.RLIM_INFINITY and addresses < _ADDRESSES_LEAST:
            return (
                "No pool can be used here (the address space is limited to "
                f"{human_bytes(addresses)} by `ulimit -v`, and the pool takes "
                f"{human_bytes(_ADDRESSES_LEAST)} of it, of addresses, not of memory). "
                "Run without this limit."
            )
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY and files < _FILES_LEAST:
            return (
                "No pool can be used here (`ulimit -n` lets a process open "
                f"{counted(files, 'file')}, and the pool's daemon needs {_FILES_LEAST}). "
                "Raise that limit, or lower it behind `forebay run --pool PATH --`."
            )
        return None

    def room(self, *, everywhere: bool = False) -> Path:
        """A socket's path in a new folder: in XDG_RUNTIME_DIR if possible, else in /tmp, since a
        socket's path has to be short."""
        for parent in [Path("/tmp")] if everywhere else self._parents():
            try:
                return make_folder(_PREFIX, parent) / _SOCKET_NAME
            except OSError:
                continue
        tried = ", ".join(str(parent) for parent in self._parents())
        raise PoolStartError(
            f"cannot make a folder for the daemon's socket (tried {tried}). "
            "Set XDG_RUNTIME_DIR to a folder with a short name in which you may write."
        )

    def left_behind(self) -> Sequence[str]:
        """Removes the folders of killed runs whose daemons have ended; returns their losses."""
        told: list[str] = []
        for parent in dict.fromkeys(self._parents()):
            for folder in stale_folders(_PREFIX, parent):
                from forebay.pool.files.daemon import left_of

                told += left_of(folder / _SOCKET_NAME)
                shutil.rmtree(folder, ignore_errors=True)
        return told

    def remove_room(self, socket: Path) -> None:
        """Removes the socket's folder with all its files."""
        shutil.rmtree(socket.parent, ignore_errors=True)

    def start(self, place: PoolPlace) -> PoolDaemon:
        """Starts a child process, or for several nodes one that starts a daemon on each."""
        if place.nodes > 1:
            from forebay.pool.files.fleet import start_fleet

            return start_fleet(self.program(), place)
        from forebay.pool.files.daemon_start import start_own

        return start_own(self.program(), place)

    def start_detached(self, place: PoolPlace) -> int:
        """Starts a daemon that outlives this process; returns its process id."""
        from forebay.pool.files.daemon_start import start_detached

        return start_detached(self.program(), place)

    def mount_obstacle(self, paths: Sequence[Path], choice: MountChoice) -> str | None:
        """Why the paths cannot be mounted over, by what is installed and permitted; or None."""
        from forebay.pool.files.mounts import PROGRAM_NAME, obstacle_to_mount

        return obstacle_to_mount(self._libraries.find().folder / PROGRAM_NAME, paths, choice)

    def mount_ways(self, folder: Path) -> Sequence[MountWay]:
        """Mounts and unmounts, by forebay-mount without a pool."""
        from forebay.pool.files.mount_trial import try_ways
        from forebay.pool.files.mounts import PROGRAM_NAME

        return try_ways(self._libraries.find().folder / PROGRAM_NAME, folder)

    def other_names(self, path: Path) -> Sequence[Path]:
        """By the kernel's list of mounts."""
        from forebay.common.files.machine import mountinfo, other_names

        return list(other_names(path, mountinfo()))

    def mount_limit(self) -> str | None:
        """The kernel serves everybody only where root mounts."""
        if os.geteuid() == 0:
            return None
        return (
            "the mount is yours alone: other users, set-uid programs and root (its backups, `df`, "
            'what a batch system runs before and after a job) get "Permission denied" there. '
            "Their files elsewhere are as ever."
        )

    def mount(
        self, paths: Sequence[Path], choice: MountChoice, *, socket: Path, folder: Path
    ) -> PoolMount:
        """Mounts that end with this process."""
        from forebay.pool.files.mounts import PROGRAM_NAME, mount_over

        return mount_over(self._file(PROGRAM_NAME), paths, socket, folder, choice)

    def mount_detached(self, paths: Sequence[Path], choice: MountChoice, *, socket: Path) -> None:
        """Mounts that outlive this process."""
        from forebay.pool.files.mounts import PROGRAM_NAME, mount_detached

        mount_detached(self._file(PROGRAM_NAME), paths, socket, choice)

    def usual_socket(self) -> Path:
        """The socket that the user's daemon on this machine has by default."""
        runtime = self._environment.get("XDG_RUNTIME_DIR")
        if runtime and Path(runtime).is_dir():
            return Path(runtime) / "forebay" / _SOCKET_NAME
        return Path("/tmp") / f"forebay-{os.getuid()}" / _SOCKET_NAME

    def connect(self, socket: Path) -> PoolSession:
        """A session with the daemon at `socket`."""
        from forebay.pool.files.daemon import Visit

        return Visit(socket)

    def end_by_signal(self, socket: Path) -> PoolEnd | None:
        """How the daemon at `socket` ended, if a signal told it to end and nobody knows it yet."""
        from forebay.pool.files.daemon import end_by_signal

        return end_by_signal(socket)

    def running(self) -> Sequence[RunningDaemon]:
        """The user's daemons, found by their command lines in /proc, which shows only processes of
        the same PID namespace."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                is_own = folder.stat().st_uid == os.getuid()
            except OSError:
                continue  # it has ended
            if is_own and _is_ours(words):
                socket = os.fsdecode(words[words.index(_SOCKET) + 1])
                found.append(RunningDaemon(process=int(folder.name), socket=Path(socket)))
        return sorted(found, key=lambda one: one.process)

    def _parents(self) -> list[Path]:
        runtime = self._environment.get("XDG_RUNTIME_DIR")
        folders = [Path(runtime)] if runtime else []
        longest = len(f"/forebay-pool-12345678/{_SOCKET_NAME}")
        folders = [one for one in folders if len(os.fsencode(one)) + longest <= SOCKET_NAME_MAX]
        return [*folders, Path("/tmp")]

    def _file(self, name: str) -> Path:
        path = self._libraries.find().folder / name
        if not path.is_file():
            raise SetupError(f"cannot use the pool ({path} is missing). Build it (`make build`).")
        return path


def _is_ours(words: Sequence[bytes]) -> bool:
    return Path(os.fsdecode(words[0])).name == PROGRAM_NAME and _SOCKET in words[:-1]
