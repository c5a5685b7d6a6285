"""Daemons of the pool as processes: started, talked to, and brought to an end."""

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
"""The daemon replays its journal before it is ready."""
_LOOK_SECONDS = 0.1
_ANSWER_SECONDS_MAX = 0.5
_PR_SET_PDEATHSIG = 1
_MESSAGES_MAX = 20
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ENDED_BY_ITSELF = (0, 1)


def log_of(socket: Path) -> Path:
    """Where the messages of the daemon at `socket` go."""
    return socket.with_name(socket.name + ".log")


def report_of(socket: Path) -> Path:
    """Where the daemon at `socket` says how it ended."""
    return socket.with_name(socket.name + ".report")


def told_of(socket: Path) -> Path:
    """There once a program has told that the daemon at `socket` was stopped: programs of a shell
    that keeps its variables tell it once (src/pool/capture/connection/connection.cpp)."""
    return socket.with_name(socket.name + ".told")


class OwnDaemon:
    """The port PoolDaemon: a child of ours, in a session of its own."""

    def __init__(self, process: subprocess.Popen[bytes], socket: Path, ready: Ready) -> None:
        self._process = process
        self._socket = socket
        self._watch = _watch(socket, ready, process.pid)

    @property
    def process(self) -> int:
        """Its number."""
        return self._process.pid

    def close_down(self) -> None:
        """Has it take nothing more, and drain what it has."""
        self._process.send_signal(signal.SIGUSR1)

    def finish(self, progress: Progress) -> PoolEnd:
        """Has everything drained. The first signal that asks us to end is told, the second one
        has the daemon put what is left into a rescue file."""
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
            look = stack.enter_context(_Look(self._socket, progress))
            while self._process.poll() is None:
                look.again()
                if asked is not None and _is_refused(asked):
                    asked = None
                    self._process.terminate()
                if arrived(_LOOK_SECONDS) is not None:
                    patience.tried()

    def _ask_to_stop(self, stack: contextlib.ExitStack) -> PoolSocket | None:
        """Where the answer comes; None: it was told by a signal, since no connection is left for
        us, or since it has died."""
        try:
            asked = stack.enter_context(PoolSocket(self._socket, daemon=self.process))
            asked.ask(Ask.STOP)
        except PoolError:
            self._process.terminate()
            return None
        return asked


class Patience:
    """Handles signals that ask us to end while a pool is drained: the first one prints a note, the
    next ones are passed on."""

    def __init__(self, give_up: Callable[[], object], progress: Progress) -> None:
        self._give_up = give_up
        self._progress = progress
        self._is_told = False

    def tried(self) -> None:
        """One has come."""
        if self._is_told:
            self._give_up()
        else:
            self._is_told = True
            self._progress.note(
                "the pool is being drained. Once more, and what is left goes to rescue files."
            )


def _is_refused(asked: PoolSocket) -> bool:
    """Whether it does not understand us, or has hung up; both also when it is about to end."""
    try:
        answer = asked.answer(0)
    except PoolError:
        return True
    return answer is not None and answer.reply.error != 0


class Visit:
    """The port PoolSession: a daemon that somebody else has started."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        PoolSocket(socket).close()

    def status(self) -> PoolStatus:
        """How it is."""
        with PoolSocket(self._socket) as connection:
            return connection.status()

    def drain(self, progress: Progress) -> int:
        """Waits until all is drained."""
        with PoolSocket(self._socket) as connection:
            connection.ask(Ask.DRAIN)
            with _Look(self._socket, progress) as look:
                while (answer := connection.answer(_LOOK_SECONDS)) is None:
                    look.again()
            progress.end()
            return answer.reply.error

    def stop(self, progress: Progress) -> PoolEnd:
        """Has everything drained; it ends then."""
        begin = time.monotonic()
        report_of(self._socket).unlink(missing_ok=True)
        death, last = None, self.status()
        with PoolSocket(self._socket) as connection, _Look(self._socket, progress) as look:
            connection.ask(Ask.STOP)
            try:
                while connection.answer(_LOOK_SECONDS) is None:
                    last = look.again() or last
            except PoolError as error:
                death = str(error)
        progress.end()
        status = _report(self._socket)
        if status is not None:
            death = None  # it has ended before its answer was read
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
    """A daemon that is told to drain and end when we die. PoolStartError says what it said."""
    prctl = ctypes.CDLL(None).prctl
    process, ready = _start(program, place, lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM))
    return OwnDaemon(process, place.socket, ready)


def start_detached(program: Path, place: PoolPlace) -> int:
    """A daemon that outlives us; its process. PoolStartError says what it said."""
    return _start(program, place, None)[1].process


def _start(
    program: Path, place: PoolPlace, prepare: Callable[[], object] | None
) -> tuple[subprocess.Popen[bytes], Ready]:
    log = log_of(place.socket)
    told_of(place.socket).unlink(missing_ok=True)
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
    except PoolError as error:
        process.terminate()
        process.wait()
        raise PoolStartError(str(error)) from error


def started(
    words: Sequence[str],
    place: PoolPlace,
    *,
    stdin: int,
    prepare: Callable[[], object] | None = None,
) -> subprocess.Popen[bytes]:
    """In a session of its own, with the log for its complaints. OSError: it cannot be."""
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
    """In a folder that may have been there before, and may be another user's."""
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
    """The daemon's own file calls are not to be captured."""
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
        return None  # it has died already, which is told later


class _Look:
    """Shows from time to time how a daemon is, as far as it answers: it may be about to end, or
    hang with its file system. Never waits long."""

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
        """The daemon's status now; None: it does not answer."""
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
    """Messages about a daemon whose run was killed, and which has ended since: its losses, which
    were not reported to anyone."""
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
    """Why a daemon that has not ended by itself has ended."""
    if code is not None and code < 0:
        return f"{signal.Signals(-code).name} ended it"
    return f"it ended with status {code}"


def messages_in(log: Path) -> tuple[str, ...]:
    """The last lines that a daemon wrote."""
    try:
        lines = read_own(log).splitlines()
    except OSError:
        return ()
    return tuple(line.removeprefix("forebayd: ") for line in lines[-_MESSAGES_MAX:])


@contextlib.contextmanager
def signals_held() -> Iterator[Callable[[float], signal.Signals | None]]:
    """Gives a function that waits so many seconds, or until a child ends, for a signal that asks
    us to end."""
    wanted = [one for one in _ENDING if signal.getsignal(one) is not signal.SIG_IGN]
    watched = {*wanted, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)

    def arrived(seconds: float) -> signal.Signals | None:
        one = signal.sigtimedwait(watched, seconds)
        if one is None or one.si_signo == signal.SIGCHLD:
            return None
        return signal.Signals(one.si_signo)

    try:
        yield arrived
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
