"""Starts daemons of the pool as child processes. A program waits for what is imported before it, so
that speaking to a daemon is another module (`daemon`), which comes when the program runs."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from forebay.common.files.safe_files import make_private, open_own, read_own
from forebay.common.files.servers import ending_with_parent, without_preload
from forebay.common.model.errors import PoolError, PoolStartError
from forebay.common.model.launcher import PRELOAD_VARIABLE, preload_without
from forebay.pool.model.place import LIBRARY_PREFIX, READY_SCHEMA, PoolPlace
from forebay.pool.use_case.ports import Progress

if TYPE_CHECKING:
    from forebay.pool.files.daemon_socket import DirectoryWatch
    from forebay.pool.files.sampler import PoolSampler
    from forebay.pool.model.pool import PoolEnd

_READY_SECONDS_MAX = 600.0
"""Long, because the daemon replays its journal before it is ready."""
_END_SECONDS_MAX = 10.0
"""The longest wait for a daemon that has been told to end before it was ready."""
_DIRECTORY_NAME = "/memfd:forebay-directory"
_MESSAGES_MAX = 20


def log_of(socket: Path) -> Path:
    """The path of the log to which the daemon at `socket` writes its messages."""
    return socket.with_name(socket.name + ".log")


def report_of(socket: Path) -> Path:
    """The path of the report that the daemon at `socket` writes when it ends."""
    return socket.with_name(socket.name + ".report")


def warned_marker_of(socket: Path) -> Path:
    """A marker file: exists once a program has warned the user that the daemon at `socket` was
    stopped, so that a shell that keeps the pool's variables sees the warning only once
    (src/pool/capture/connection/connection.cpp)."""
    return socket.with_name(socket.name + ".told")


class OwnDaemon:
    """The port PoolDaemon: a child process in a session of its own."""

    def __init__(self, process: subprocess.Popen[bytes], place: PoolPlace, ready: str) -> None:
        self._process = process
        self._socket = place.socket
        self._ready = ready
        self._is_sampled = place.is_sampled
        self._sampler: PoolSampler | None = None
        self._directory = _directory_of(process.pid)
        self._watch: DirectoryWatch | None = None

    @property
    def process(self) -> int:
        """The daemon's process id."""
        return self._process.pid

    def program_started(self) -> None:
        """Maps the daemon's directory, so that it is known what it has taken along if it dies, and
        begins to sample its counts if they are wanted."""
        begin = time.monotonic()
        from forebay.pool.files.daemon import watch_of

        self._watch = watch_of(self._socket, self.process, self._ready, self._directory)
        if self._is_sampled:
            from forebay.pool.files.sampler import PoolSampler

            self._sampler = PoolSampler(self._socket, self.process, begin)

    def close_down(self) -> None:
        """Makes the daemon take no more deposits and drain those that it has."""
        self._process.send_signal(signal.SIGUSR1)

    def finish(self, progress: Progress) -> PoolEnd:
        """Drains everything and ends the daemon."""
        from forebay.pool.files.daemon import finish

        end = finish(self._process, self._socket, self._watch, progress)
        if self._sampler is None:
            return end
        return replace(end, samples=self._sampler.finish(end.status))


def _directory_of(process: int) -> int | None:
    """A descriptor of the daemon's directory, which keeps it if the daemon dies before it can be
    asked. The daemon is not asked here: the program would wait for what that has to import. None
    if the system does not show it."""
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            if str(descriptor.readlink()).startswith(_DIRECTORY_NAME):
                return os.open(descriptor, os.O_RDONLY | os.O_CLOEXEC)
    return None


def start_own(program: Path, place: PoolPlace) -> OwnDaemon:
    """Starts a daemon that drains and ends when this process dies (PR_SET_PDEATHSIG). Raises
    PoolStartError with the daemon's messages."""
    process, ready = _start(program, place, ending_with_parent())
    return OwnDaemon(process, place, ready)


def start_detached(program: Path, place: PoolPlace) -> int:
    """Starts a daemon that outlives this process, and returns its process id. It keeps samples of
    its counts until its end. Raises PoolStartError with the daemon's messages."""
    from forebay.pool.model.sampling import SAMPLES_MAX

    return _start(program, place, None, "--samples", str(SAMPLES_MAX))[0].pid


def _start(
    program: Path, place: PoolPlace, prepare: Callable[[], object] | None, *more: str
) -> tuple[subprocess.Popen[bytes], str]:
    log = log_of(place.socket)
    warned_marker_of(place.socket).unlink(missing_ok=True)
    report_of(place.socket).unlink(missing_ok=True)  # it was another daemon's
    try:
        process = started(
            [str(program), "--socket", str(place.socket), *more],
            place,
            stdin=subprocess.DEVNULL,
            prepare=prepare,
        )
    except OSError as error:
        raise PoolStartError(
            f"cannot start the daemon of the pool ({error.filename or program}: "
            f"{error.strerror}). `forebay doctor` looks at the installation."
        ) from error
    try:
        return process, _ready(process, log)
    except BaseException as error:
        _end_unready(process)
        if isinstance(error, PoolError):
            raise PoolStartError(str(error)) from error
        raise


def _end_unready(process: subprocess.Popen[bytes]) -> None:
    """Ends a daemon that is not wanted any more before it was ready. It is not killed: a replay of
    the journal goes on to its end, and only then does the daemon see SIGTERM."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS_MAX)


def started(
    words: Sequence[str],
    place: PoolPlace,
    *,
    stdin: int,
    prepare: Callable[[], object] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts `words` in a session of its own, with standard error in the daemon's log. `prepare`
    runs in the child before exec. Raises OSError if it cannot be started."""
    with _log_to_write(place.socket) as errors:
        return subprocess.Popen(
            words,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=place.folder,
            env=environment_of(place),
            start_new_session=True,
            preexec_fn=prepare,
        )


def _log_to_write(socket: Path) -> BinaryIO:
    """Opens the daemon's log. Its folder may exist already, and may be another user's."""
    folder = socket.parent
    try:
        make_private(folder)
    except OSError as error:
        raise PoolStartError(
            f"cannot start a daemon of the pool in {folder} ({error.strerror}). Name a socket in a "
            "folder of your own, with mode 0700, by --socket, or set XDG_RUNTIME_DIR to one."
        ) from error
    log = log_of(socket)
    try:
        return os.fdopen(open_own(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab")
    except OSError as error:
        raise PoolStartError(
            f"cannot write the messages of the pool's daemon to {log} ({error.strerror}). "
            "Remove it."
        ) from error


def environment_of(place: PoolPlace) -> dict[str, str]:
    """The daemon's environment: without our libraries in LD_PRELOAD, since its own file calls must
    not be captured."""
    others = preload_without(place.environment.get(PRELOAD_VARIABLE), LIBRARY_PREFIX)
    kept = without_preload(place.environment)
    return {**kept, PRELOAD_VARIABLE: others} if others else kept


def _ready(process: subprocess.Popen[bytes], log: Path) -> str:
    """The line that the daemon prints once it listens."""
    assert process.stdout is not None
    deadline = time.monotonic() + _READY_SECONDS_MAX
    text = b""
    with process.stdout as output:
        while not text.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([output], [], [], left)[0]:
                raise PoolStartError(
                    "cannot start the daemon of the pool (it was not ready after "
                    f"{_READY_SECONDS_MAX:.0f} s). Is the machine very busy?"
                )
            more = os.read(output.fileno(), 1 << 16)
            if not more:
                process.wait()
                said = " ".join(messages_in(log)) or death_of(process.returncode)
                raise PoolStartError(f"the daemon of the pool has not started. It says: {said}")
            text += more
    line = text.decode("utf-8", "replace")
    if READY_SCHEMA not in line:
        from forebay.pool.files.daemon_document import decode_ready

        decode_ready(line)  # raises PoolError, which says why it is none
    return line


def death_of(code: int | None) -> str:
    """Why a daemon ended that did not end by itself, from its return code."""
    if code is not None and code < 0:
        is_named = -code in set(signal.Signals)  # real-time signals are not
        return f"{signal.Signals(-code).name if is_named else f'signal {-code}'} ended it"
    return f"it ended with status {code}"


def messages_in(log: Path) -> tuple[str, ...]:
    """The last lines in a daemon's log."""
    try:
        lines = read_own(log).splitlines()
    except OSError:
        return ()
    return tuple(line.removeprefix("forebayd: ") for line in lines[-_MESSAGES_MAX:])
