"""A pool for a test: the node's daemon, and what a program's environment needs to go through it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite import mpi as m
from suite.verdict import ensure

DAEMON = m.LIBRARIES / "forebayd"
CAPTURE = m.LIBRARIES / "libforebay_posix.so"
DRAIN_SECONDS_MAX = 60


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A daemon that listens."""

    socket: Path
    rescue: Path
    """The folder in which it leaves what it could not write."""
    covered: tuple[Path, ...]
    daemon: subprocess.Popen[str]

    def environment(self, libraries: str = "") -> dict[str, str]:
        """What a program has to find; `libraries` are preloaded behind the capturing one."""
        return {
            "LD_PRELOAD": ":".join([*m.PRELOAD_FIRST, str(CAPTURE), *filter(None, [libraries])]),
            "FOREBAY_POOL_SOCKET": str(self.socket),
            "FOREBAY_POOL_PATHS": ",".join(map(str, self.covered)),
        }

    def with_mpi(self, environment: dict[str, str]) -> dict[str, str]:
        """That of `m.forebay`, through the pool as well."""
        return {**environment, **self.environment(environment["LD_PRELOAD"])}

    def stop(self) -> int:
        """Drains and ends it; its exit status."""
        self.daemon.terminate()
        return self.daemon.wait(DRAIN_SECONDS_MAX)


@contextlib.contextmanager
def pool(*covered: Path, front: Sequence[str] = (), **settings: str) -> Iterator[Pool]:
    """A daemon for these folders, drained at the end; `front` comes before it on its command line;
    settings as in FOREBAY_<NAME>. Fails if a byte did not arrive, unless the test ended the daemon
    itself."""
    ensure(DAEMON.exists(), f"no {DAEMON} (Forebay is not built). Run `make build`.")
    more = {f"FOREBAY_{key.upper()}": value for key, value in settings.items()}
    with (
        tempfile.TemporaryDirectory(prefix="forebay-") as place,
        (Path(place, "said")).open("w+") as said,
    ):
        socket = Path(place, "socket")
        daemon = subprocess.Popen(
            [*front, DAEMON, "--socket", socket, "--rescue", place],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            start_new_session=True,
            env={**m.clean_environment(), **more},
        )
        try:
            ready = daemon.stdout.readline() if daemon.stdout else ""
            ensure(ready != "", f"the daemon did not start: {Path(said.name).read_text()}")
            one = Pool(
                socket=socket,
                rescue=Path(place),
                covered=tuple(Path(os.path.realpath(path)) for path in covered),
                daemon=daemon,
            )
            yield one
            if daemon.poll() is None:
                status = one.stop()
                ensure(
                    status == 0, f"the daemon ended with {status}: {Path(said.name).read_text()}"
                )
        finally:
            m.end_group(daemon)
