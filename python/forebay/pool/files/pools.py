"""Daemons of the pool on this machine. The modules that talk to them are imported when a pool
is asked for: most runs have none."""

import os
import resource
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.files.own_folders import make_folder, stale_folders
from forebay.common.model.errors import PoolStartError, SetupError
from forebay.common.model.units import counted, human_bytes
from forebay.pool.model.pool import SOCKET_NAME_MAX, PoolPlace, RunningDaemon
from forebay.pool.use_case.ports import PoolDaemon, PoolMount, PoolSession
from forebay.ports import LibraryFinder

PROGRAM_NAME = "forebayd"
LIBRARY_NAME = "libforebay_posix.so"
_SOCKET_NAME = "pool"
_SOCKET = b"--socket"
_ADDRESSES_LEAST = 36 << 30
"""Each process of a program maps a log of 16 GiB (src/pool/protocol/limits.hpp), and the daemon
that of each: less than two of them are of no use."""
_FILES_LEAST = 64
_PREFIX = "forebay-pool-"


class LocalPools:
    """The port Pools over real processes and sockets."""

    def __init__(
        self, libraries: LibraryFinder, *, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._libraries = libraries
        self._environment = environment

    def library(self) -> Path:
        """Beside the other native libraries."""
        return self._file(LIBRARY_NAME)

    def program(self) -> Path:
        """Beside the native libraries."""
        return self._file(PROGRAM_NAME)

    def obstacle(self) -> str | None:
        """Limits of this process, which a daemon would inherit: the soft one on addresses, and the
        hard one on files, since it raises the soft one."""
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
        """In the user's runtime folder if there is one, else in /tmp: the name has to be short."""
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
        """The rooms of runs that were killed, and whose daemons have ended."""
        from forebay.pool.files.daemon import left_of

        told: list[str] = []
        for parent in dict.fromkeys(self._parents()):
            for folder in stale_folders(_PREFIX, parent):
                told += left_of(folder / _SOCKET_NAME)
                shutil.rmtree(folder, ignore_errors=True)
        return told

    def remove_room(self, socket: Path) -> None:
        """The folder with all in it."""
        shutil.rmtree(socket.parent, ignore_errors=True)

    def start(self, place: PoolPlace) -> PoolDaemon:
        """A child of ours, or one that starts daemons on several nodes."""
        if place.nodes > 1:
            from forebay.pool.files.fleet import start_fleet

            return start_fleet(self.program(), place)
        from forebay.pool.files.daemon import start_own

        return start_own(self.program(), place)

    def start_detached(self, place: PoolPlace) -> int:
        """A process of its own."""
        from forebay.pool.files.daemon import start_detached

        return start_detached(self.program(), place)

    def mount_obstacle(self, paths: Sequence[Path]) -> str | None:
        """By what is installed and may be used."""
        from forebay.pool.files.mounts import PROGRAM_NAME, obstacle_to_mount

        return obstacle_to_mount(self._libraries.find().folder / PROGRAM_NAME, paths)

    def mount(self, paths: Sequence[Path], *, socket: Path, folder: Path) -> PoolMount:
        """Children of ours."""
        from forebay.pool.files.mounts import PROGRAM_NAME, mount_over

        return mount_over(self._file(PROGRAM_NAME), paths, socket, folder)

    def mount_detached(self, paths: Sequence[Path], *, socket: Path) -> None:
        """Processes of their own."""
        from forebay.pool.files.mounts import PROGRAM_NAME, mount_detached

        mount_detached(self._file(PROGRAM_NAME), paths, socket)

    def usual_socket(self) -> Path:
        """One of the user on this machine."""
        runtime = self._environment.get("XDG_RUNTIME_DIR")
        if runtime and Path(runtime).is_dir():
            return Path(runtime) / "forebay" / _SOCKET_NAME
        return Path("/tmp") / f"forebay-{os.getuid()}" / _SOCKET_NAME

    def connect(self, socket: Path) -> PoolSession:
        """A visit."""
        from forebay.pool.files.daemon import Visit

        return Visit(socket)

    def running(self) -> Sequence[RunningDaemon]:
        """By their command lines; /proc shows no others than those that can be reached."""
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
