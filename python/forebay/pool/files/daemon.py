"""Sends requests to daemons of the pool, and ends them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from forebay.common.files.processes import next_signal
from forebay.common.files.safe_files import read_own
from forebay.common.model.errors import PoolError
from forebay.common.model.printable import printable_name, shell_words
from forebay.common.model.record import PoolSample
from forebay.common.model.units import human_bytes
from forebay.pool.files.daemon_document import decode_ready, decode_samples, decode_status
from forebay.pool.files.daemon_socket import DirectoryWatch, PoolSocket
from forebay.pool.files.daemon_start import death_of, log_of, messages_in, report_of
from forebay.pool.model.messages import QuestionKind
from forebay.pool.model.pool import Lost, PoolEnd, PoolStatus
from forebay.pool.use_case.ports import Progress

_POLL_SECONDS = 0.1
_ANSWER_SECONDS_MAX = 0.5
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ENDED_BY_ITSELF = (0, 1)


def watch_of(
    socket: Path, daemon: int, ready: str, directory: int | None = None
) -> DirectoryWatch | None:
    """The directory of a daemon that has printed the line `ready`; `directory` is a descriptor of
    it, which is closed, or None. None if it cannot be had: the daemon may have died already, which
    `finish` reports."""
    try:
        if directory is not None:
            try:
                return DirectoryWatch(directory, decode_ready(ready).directory)
            finally:
                os.close(directory)
        with PoolSocket(socket, daemon=daemon) as connection:
            return connection.watch(decode_ready(ready).directory)
    except (PoolError, OSError):
        return None


def finish(
    process: subprocess.Popen[bytes],
    socket: Path,
    watch: DirectoryWatch | None,
    progress: Progress,
) -> PoolEnd:
    """Drains everything and ends the daemon, which is a child process. The first signal that asks
    this process to end only prints a note; the second one makes the daemon write the rest to rescue
    files."""
    begin = time.monotonic()
    with signals_held() as arrived:
        _drain(process, socket, progress, arrived)
    progress.end()
    status, death = _report(socket), None
    if process.returncode not in _ENDED_BY_ITSELF or status is None:
        death, status = death_of(process.returncode), None
    lost = watch.outstanding() if death and watch else ()
    if watch:
        watch.close()
    return PoolEnd(
        status=status,
        seconds=time.monotonic() - begin,
        death=death,
        lost=lost,
        messages=messages_in(log_of(socket)),
    )


def _drain(
    process: subprocess.Popen[bytes],
    socket: Path,
    progress: Progress,
    arrived: Callable[[float], signal.Signals | None],
) -> None:
    interrupts = DrainInterrupts(process.terminate, progress)
    with contextlib.ExitStack() as stack:
        asked = _ask_to_stop(process, socket, stack)
        poll = stack.enter_context(_StatusPoll(socket, progress))
        while process.poll() is None:
            poll.again()
            if asked is not None and _is_refused(asked):
                asked = None
                process.terminate()
            if arrived(_POLL_SECONDS) is not None:
                interrupts.arrived()


def _ask_to_stop(
    process: subprocess.Popen[bytes], socket: Path, stack: contextlib.ExitStack
) -> PoolSocket | None:
    """Asks the daemon to stop, and returns the connection on which its answer will come. Returns
    None if it was asked by SIGTERM instead, since it has no connection left for us, or has died."""
    try:
        asked = stack.enter_context(PoolSocket(socket, daemon=process.pid))
        asked.ask(QuestionKind.STOP)
    except PoolError:
        process.terminate()
        return None
    return asked


class DrainInterrupts:
    """Handles signals that ask this process to end while a pool is drained: the first one prints a
    note, each further one calls `give_up`."""

    def __init__(self, give_up: Callable[[], object], progress: Progress) -> None:
        self._give_up = give_up
        self._progress = progress
        self._is_told = False

    def arrived(self) -> None:
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
            connection.ask(QuestionKind.DRAIN)
            with _StatusPoll(self._socket, progress) as poll:
                while (answer := connection.answer(_POLL_SECONDS)) is None:
                    poll.again()
            progress.end()
            return answer.reply.error

    def stop(self, progress: Progress) -> PoolEnd:
        """Drains everything and ends the daemon."""
        begin = time.monotonic()
        death, last = None, self.status()
        with PoolSocket(self._socket) as connection, _StatusPoll(self._socket, progress) as poll:
            connection.ask(QuestionKind.STOP)
            try:
                while connection.answer(_POLL_SECONDS) is None:
                    last = poll.again() or last
            except PoolError as error:
                death = str(error)
        progress.end()
        status, samples = _report(self._socket), _samples(self._socket)
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
            samples=samples,
        )


class _StatusPoll:
    """Shows a daemon's status from time to time. It never waits long for an answer, since the
    daemon may be about to end, or be blocked in its file system."""

    def __init__(self, socket: Path, progress: Progress) -> None:
        self._socket = socket
        self._progress = progress
        self._connection: PoolSocket | None = None
        self._is_asked = False

    def __enter__(self) -> _StatusPoll:
        return self

    def __exit__(self, *_: object) -> None:
        self._hang_up()

    def again(self) -> PoolStatus | None:
        """Shows the daemon's status and returns it, or None if it does not answer in time."""
        try:
            if self._connection is None:
                self._connection = PoolSocket(self._socket)
            if not self._is_asked:
                self._connection.ask(QuestionKind.STATUS)
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


def _samples(socket: Path) -> tuple[PoolSample, ...]:
    """The counts over the life of a daemon that has ended; empty if it kept none."""
    try:
        return decode_samples(read_own(report_of(socket)))
    except (OSError, PoolError):
        return ()


def end_by_signal(socket: Path) -> PoolEnd | None:
    """How the daemon at `socket` ended that a signal told to end, as its report says; None if there
    is no report. The report is removed, so that the end is told once."""
    status, samples = _report(socket), _samples(socket)
    if status is None:
        return None
    report_of(socket).unlink(missing_ok=True)
    return PoolEnd(status=status, seconds=0.0, samples=samples)


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
