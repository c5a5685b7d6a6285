"""Daemons of the pool on this machine. What it takes to talk to them is imported when a pool is
asked for: most runs have none."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from forebay.application.pool_ports import PoolDaemon, PoolSession
from forebay.application.ports import LibraryFinder
from forebay.domain.errors import PoolStartError, SetupError
from forebay.domain.pool import SOCKET_NAME_MAX, PoolPlace

PROGRAM_NAME = "forebayd"
LIBRARY_NAME = "libforebay_posix.so"
_SOCKET_NAME = "pool"


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

    def room(self, *, everywhere: bool = False) -> Path:
        """In the user's runtime folder if there is one, else in /tmp: the name has to be short."""
        for parent in [Path("/tmp")] if everywhere else self._parents():
            try:
                folder = tempfile.mkdtemp(prefix="forebay-pool-", dir=parent)
            except OSError:
                continue
            return Path(folder) / _SOCKET_NAME
        tried = ", ".join(str(parent) for parent in self._parents())
        raise PoolStartError(
            f"cannot make a folder for the daemon's socket (tried {tried}). "
            "Set XDG_RUNTIME_DIR to a folder with a short name in which you may write."
        )

    def remove_room(self, socket: Path) -> None:
        """The folder with all in it."""
        shutil.rmtree(socket.parent, ignore_errors=True)

    def start(self, place: PoolPlace) -> PoolDaemon:
        """A child of ours, or one that starts daemons on several nodes."""
        if place.nodes > 1:
            from forebay.adapters.pool_fleet import start_fleet

            return start_fleet(self.program(), place)
        from forebay.adapters.pool_daemon import start_own

        return start_own(self.program(), place)

    def start_detached(self, place: PoolPlace) -> int:
        """A process of its own."""
        from forebay.adapters.pool_daemon import start_detached

        return start_detached(self.program(), place)

    def usual_socket(self) -> Path:
        """One of the user on this machine."""
        runtime = self._environment.get("XDG_RUNTIME_DIR")
        if runtime and Path(runtime).is_dir():
            return Path(runtime) / "forebay" / _SOCKET_NAME
        return Path("/tmp") / f"forebay-{os.getuid()}" / _SOCKET_NAME

    def connect(self, socket: Path) -> PoolSession:
        """A visit."""
        from forebay.adapters.pool_daemon import Visit

        return Visit(socket)

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
