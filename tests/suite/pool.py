"""A pool for a test: the node's daemon, and what a program's environment needs to go through it."""

from __future__ import annotations

import contextlib
import json
import secrets
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forebay.pool.files.daemon_socket import PoolSocket
from forebay.pool.model.pool import PoolStatus
from suite import mpi as m
from suite.verdict import ensure

CAPTURE = m.LIBRARIES / "libforebay_posix.so"
DAEMON = m.LIBRARIES / "forebayd"
SECONDS_MAX = 200


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A daemon, the folder below which files are pooled, and where it puts what it cannot write."""

    folder: Path
    rescue: Path
    socket: Path
    said: Path
    process: subprocess.Popen[str]

    def environment(self, *, behind: str = "") -> dict[str, str]:
        """The variables that a program needs; libraries `behind` the capturing one are preloaded,
        too."""
        return {
            "LD_PRELOAD": ":".join(filter(None, [*m.PRELOAD_FIRST, str(CAPTURE), behind])),
            "FOREBAY_POOL_SOCKET": str(self.socket),
            "FOREBAY_POOL_PATHS": str(self.folder),
        }

    def with_mpi(self, environment: Mapping[str, str]) -> dict[str, str]:
        """That of `m.forebay`, through the pool as well."""
        return {**environment, **self.environment(behind=environment["LD_PRELOAD"])}

    def status(self) -> PoolStatus:
        with PoolSocket(self.socket) as daemon:
            return daemon.status()

    def has_open(self, path: Path) -> bool:
        """Whether the daemon has it open."""
        for link in Path("/proc", str(self.process.pid), "fd").iterdir():
            with contextlib.suppress(OSError):
                if link.readlink() == path:
                    return True
        return False

    def taken(self) -> int:
        """Bytes that were deposited, of all files."""
        return self.status().taken

    def end(self) -> int:
        """Drains and ends; the daemon's exit status."""
        self.process.terminate()
        return self.process.wait(SECONDS_MAX)

    def stop(self) -> None:
        """Drains and ends; everything has to arrive."""
        self.process.terminate()
        self.has_stopped()

    def has_stopped(self) -> None:
        """It was told to end; everything has to arrive."""
        status = self.process.wait(SECONDS_MAX)
        ensure(status == 0, f"forebayd ended with {status}:\n{self.said.read_text()[-1500:]}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS_MAX)


@dataclass(frozen=True, kw_only=True)
class Daemon:
    """A daemon that is there, and what its first line said."""

    private: Path
    socket: Path
    said: Path
    process: subprocess.Popen[str]
    ready: str

    @property
    def address(self) -> str:
        """Where the other daemons of a job reach it."""
        return str(json.loads(self.ready).get("address", ""))

    @classmethod
    @contextlib.contextmanager
    def started(
        cls,
        settings: Mapping[str, str] | None = None,
        *,
        rescue: Path | None = None,
        front: Sequence[str] = (),
        node: int = 0,
        nodes: int = 1,
        host: str = "127.0.0.1",
    ) -> Iterator[Daemon]:
        """Killed behind, unless it has ended. Settings as in FOREBAY_<NAME>."""
        ensure(CAPTURE.exists(), f"no {CAPTURE} (Forebay is not built). Run `make build`.")
        variables = {f"FOREBAY_{key.upper()}": value for key, value in (settings or {}).items()}
        job = ["--node", str(node), "--nodes", str(nodes), "--host", host]
        # A socket's name is short.
        with tempfile.TemporaryDirectory(prefix="forebay-test-", dir="/tmp") as private:
            said, socket, kept = Path(private, "said"), Path(private, "s"), rescue or Path(private)
            words = [str(DAEMON), "--socket", str(socket), "--rescue", str(kept)]
            words += job if nodes > 1 else []
            with said.open("w") as errors:
                process = subprocess.Popen(
                    [*front, *words],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    env={**m.clean_environment(), **variables},
                )
            try:
                ready = process.stdout.readline() if process.stdout else ""
                ensure(ready != "", f"forebayd does not start:\n{said.read_text()[-1500:]}")
                yield cls(
                    private=kept,
                    socket=socket,
                    said=said,
                    process=process,
                    ready=ready,
                )
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
                for pipe in (process.stdin, process.stdout):
                    if pipe:
                        pipe.close()

    def say(self, line: str) -> None:
        """On its standard input."""
        if self.process.stdin:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def tell(self, addresses: Sequence[str], secret: str) -> None:
        """Sends the daemon the addresses of the job's nodes and their secret."""
        said = {"schema": "forebay.pool.peers/1", "secret": secret, "addresses": addresses}
        self.say(json.dumps(said))

    def pool(self, folder: Path) -> Pool:
        return Pool(
            folder=folder.resolve(),
            rescue=self.private,
            socket=self.socket,
            said=self.said,
            process=self.process,
        )


@contextlib.contextmanager
def pool(
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    rescue: Path | None = None,
    front: Sequence[str] = (),
) -> Iterator[Pool]:
    """A daemon for a folder, drained and ended behind, unless the test did so. `front` comes before
    it on its command line; settings as in FOREBAY_<NAME>."""
    with Daemon.started(settings, rescue=rescue, front=front) as daemon:
        made = daemon.pool(folder)
        yield made
        if made.process.poll() is None:
            made.stop()


def introduce(daemons: Sequence[Daemon]) -> None:
    """They are told that they are a job."""
    addresses = [daemon.address for daemon in daemons]
    key = secrets.token_hex(32)
    for daemon in daemons:
        daemon.tell(addresses, key)


@contextlib.contextmanager
def pools(
    folder: Path, count: int, settings: Mapping[str, str], *, judged: bool = True
) -> Iterator[list[Pool]]:
    """The daemons of a job, which stand for nodes; drained and ended behind, all together."""
    with contextlib.ExitStack() as stack:
        daemons = [
            stack.enter_context(Daemon.started(settings, node=node, nodes=count))
            for node in range(count)
        ]
        introduce(daemons)
        made = [daemon.pool(folder) for daemon in daemons]
        yield made
        if judged:
            for one in made:
                one.process.terminate()
            for one in made:
                one.has_stopped()
