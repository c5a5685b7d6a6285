"""Starts daemons of the pool as child processes, sends them requests, and ends them."""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Self

from forebay.common.files.processes import next_signal
from forebay.common.files.safe_files import make_private, open_own, read_own
from forebay.common.model.errors import PoolError, PoolStartError
from forebay.common.model.launcher import PRELOAD_VARIABLE, preload_without
from forebay.common.model.printable import printable_name, shell_words
from forebay.common.model.units import human_bytes
from forebay.pool.files.daemon_document import Ready, decode_ready, decode_status
from forebay.pool.files.daemon_socket import DirectoryWatch, PoolSocket
from forebay.pool.model.messages import Ask
from forebay.pool.model.pool import LIBRARY_PREFIX, Lost, PoolEnd, PoolPlace, PoolStatus
from forebay.pool.use_case.ports import Progress

_READY_SECONDS_MAX = 600.0
"""Long, because the daemon replays its journal before it is ready."""
_POLL_SECONDS = 0.1
_ANSWER_SECONDS_MAX = 0.5
_END_SECONDS_MAX = 10.0
"""The longest wait for a daemon that has been told to end before it was ready."""
_PR_SET_PDEATHSIG = 1
_MESSAGES_MAX = 20
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ENDED_BY_ITSELF = (0, 1)


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

    def __init__(self, process: subprocess.Popen[bytes], socket: Path, ready: Ready) -> None:
        self._process = process
        self._socket = socket
        self._watch = _watch(socket, ready, process.pid)

    @property
    def process(self) -> int:
        """The daemon's process id."""
        return self._process.pid

    def close_down(self) -> None:
        """Makes the daemon take no more deposits and drain those that it has."""
        self._process.send_signal(signal.SIGUSR1)

    def finish(self, progress: Progress) -> PoolEnd:
        """Drains everything and ends the daemon. The first signal that asks this process to end
        only prints a note; the second one makes the daemon write the rest to rescue files."""
        begin = time.monotonic()
        with signals_held() as arrived:
            self._drain(progress, arrived)
        progress.end()
        status, death = _report(self._socket), None
        if self._process.returncode not in _ENDED_BY_ITSELF or status is None:
            death, status = death_of(self._process.returncode), None
        lost = self._watch.outstanding() if death and self._watch else ()
        if self._watch:
            self._watch.close()
        return PoolEnd(
            status=status,
            seconds=time.monotonic() - begin,
            death=death,
            lost=lost,
            messages=messages_in(log_of(self._socket)),
        )

    def _drain(self, progress: Progress, arrived: Callable[[float], signal.Signals | None]) -> None:
        patience = Patience(self._process.terminate, progress)
        with contextlib.ExitStack() as stack:
            asked = self._ask_to_stop(stack)
            poll = stack.enter_context(_StatusPoll(self._socket, progress))
            while self._process.poll() is None:
                poll.again()
                if asked is not None and _is_refused(asked):
                    asked = None
                    self._process.terminate()
                if arrived(_POLL_SECONDS) is not None:
                    patience.tried()

    def _ask_to_stop(self, stack: contextlib.ExitStack) -> PoolSocket | None:
        """Asks the daemon to stop, and returns the connection on which its answer will come.
        Returns None if it was asked by SIGTERM instead, since it has no connection left for us, or
        has died."""
        try:
            asked = stack.enter_context(PoolSocket(self._socket, daemon=self.process))
            asked.ask(Ask.STOP)
        except PoolError:
            self._process.terminate()
            return None
        return asked


class Patience:
    """Handles signals that ask this process to end while a pool is drained: the first one prints a
    note, each further one calls `give_up`."""

    def __init__(self, give_up: Callable[[], object], progress: Progress) -> None:
        self._give_up = give_up
        self._progress = progress
        self._is_told = False

    def tried(self) -> None:
        """Handles one such signal."""
        if self._is_told:
            self._give_up()
        else:
            self._is_told = True
            self._progress.note(
                "the pool is being drained. Once more, and what is left goes to rescue files."
            )


def _is_refused(asked: PoolSocket) -> bool:
    """Whether the daemon does not understand the request, or has closed the connection. Both can
    also happen when it is about to end."""
    try:
        answer = asked.answer(0)
    except PoolError:
        return True
    return answer is not None and answer.reply.error != 0


class Visit:
    """The port PoolSession: a daemon that another process started."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        PoolSocket(socket).close()

    def status(self) -> PoolStatus:
        """The daemon's status."""
        with PoolSocket(self._socket) as connection:
            return connection.status()

    def drain(self, progress: Progress) -> int:
        """Waits until all deposits are drained; returns an errno, or 0."""
        with PoolSocket(self._socket) as connection:
            connection.ask(Ask.DRAIN)
            with _StatusPoll(self._socket, progress) as poll:
                while (answer := connection.answer(_POLL_SECONDS)) is None:
                    poll.again()
            progress.end()
            return answer.reply.error

    def stop(self, progress: Progress) -> PoolEnd:
        """Drains everything and ends the daemon."""
        begin = time.monotonic()
        report_of(self._socket).unlink(missing_ok=True)
        death, last = None, self.status()
        with PoolSocket(self._socket) as connection, _StatusPoll(self._socket, progress) as poll:
            connection.ask(Ask.STOP)
            try:
                while connection.answer(_POLL_SECONDS) is None:
                    last = poll.again() or last
            except PoolError as error:
                death = str(error)
        progress.end()
        status = _report(self._socket)
        if status is not None:
            death = None  # the daemon ended normally, before its answer was read
            report_of(self._socket).unlink(missing_ok=True)
        elif death is None:
            death = "it has written no report"
        left = tuple(Lost(path=one.path, bytes=one.outstanding) for one in last.files)
        return PoolEnd(
            status=status,
            seconds=time.monotonic() - begin,
            death=death,
            lost=tuple(one for one in left if one.bytes > 0) if death else (),
            messages=messages_in(log_of(self._socket)) if death else (),
        )


def start_own(program: Path, place: PoolPlace) -> OwnDaemon:
    """Starts a daemon that drains and ends when this process dies (PR_SET_PDEATHSIG). Raises
    PoolStartError with the daemon's messages."""
    prctl = ctypes.CDLL(None).prctl
    process, ready = _start(program, place, lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM))
    return OwnDaemon(process, place.socket, ready)


def start_detached(program: Path, place: PoolPlace) -> int:
    """Starts a daemon that outlives this process, and returns its process id. Raises PoolStartError
    with the daemon's messages."""
    return _start(program, place, None)[1].process


def _start(
    program: Path, place: PoolPlace, prepare: Callable[[], object] | None
) -> tuple[subprocess.Popen[bytes], Ready]:
    log = log_of(place.socket)
    warned_marker_of(place.socket).unlink(missing_ok=True)
    try:
        process = started(
            [str(program), "--socket", str(place.socket)],
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
    kept = {name: text for name, text in place.environment.items() if name != PRELOAD_VARIABLE}
    return {**kept, PRELOAD_VARIABLE: others} if others else kept


def _ready(process: subprocess.Popen[bytes], log: Path) -> Ready:
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
    return decode_ready(text.decode("utf-8", "replace"))


def _watch(socket: Path, ready: Ready, daemon: int) -> DirectoryWatch | None:
    try:
        with PoolSocket(socket, daemon=daemon) as connection:
            return connection.watch(ready.directory)
    except PoolError:
        return None  # the daemon has died already, which `finish` reports


class _StatusPoll:
    """Shows a daemon's status from time to time. It never waits long for an answer, since the
    daemon may be about to end, or be blocked in its file system."""

    def __init__(self, socket: Path, progress: Progress) -> None:
        self._socket = socket
        self._progress = progress
        self._connection: PoolSocket | None = None
        self._is_asked = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._hang_up()

    def again(self) -> PoolStatus | None:
        """Shows the daemon's status and returns it, or None if it does not answer in time."""
        try:
            if self._connection is None:
                self._connection = PoolSocket(self._socket)
            if not self._is_asked:
                self._connection.ask(Ask.STATUS)
                self._is_asked = True
            status = self._connection.status_answer(_ANSWER_SECONDS_MAX)
        except PoolError:
            self._hang_up()
            return None
        if status is not None:
            self._is_asked = False
            self._progress.show(status)
        return status

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._is_asked = None, False


def _report(socket: Path) -> PoolStatus | None:
    try:
        return decode_status(read_own(report_of(socket)))
    except (OSError, PoolError):
        return None


def left_of(socket: Path) -> list[str]:
    """Messages about the losses of a daemon whose run was killed, and which has ended since, so
    that nobody reported them."""
    status = _report(socket)
    if status is None and socket.with_name(socket.name + ".lock").exists():
        return [
            "a run before this one was killed, and so was its pool's daemon. What that had not "
            "drained is lost, unless it kept a journal."
        ]
    return [
        f"a run before this one was killed, and {human_bytes(one.bytes)} of "
        f"{printable_name(one.path)} did not arrive ({one.error_text or 'it was told to end'}). "
        + (f"Write them by: {shell_words(one.next_step)}" if one.file else "They are lost.")
        for one in (status.rescued if status else ())
    ]


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


@contextlib.contextmanager
def signals_held() -> Iterator[Callable[[float], signal.Signals | None]]:
    """Blocks the signals that ask this process to end, and yields a function that waits for one of
    them: at most so many seconds, or until a child ends; it returns the signal or None."""
    wanted = [one for one in _ENDING if signal.getsignal(one) is not signal.SIG_IGN]
    watched = {*wanted, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)

    def arrived(seconds: float) -> signal.Signals | None:
        one = next_signal(watched, seconds)
        if one is None or one.si_signo == signal.SIGCHLD:
            return None
        return signal.Signals(one.si_signo)

    try:
        yield arrived
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
