"""Runs programs as foreground children: on the same terminal, in the same process group. A signal
from the terminal therefore reaches the child by itself; one that was sent to this process alone is
forwarded."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from forebay.common.model.errors import LaunchError, StoppedError
from forebay.ports import Captured, Finished, Hook

_FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_JOB_ENDING = (signal.SIGTERM, signal.SIGUSR1)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_POLL_SECONDS = 1.0  # how often waitpid is polled: SIGCHLD may go to a thread of a library
_SI_KERNEL = 128  # si_code of a signal from the terminal: to the whole group, so the child has it
NOT_EXECUTABLE, NOT_FOUND = 126, 127


class ForegroundProcesses:
    """The port Processes, over real processes."""

    def __init__(self, *, grace_seconds: float = 10) -> None:
        self._grace_seconds = grace_seconds

    def run(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        started: Hook = None,
        job_ending: Hook = None,
    ) -> Finished:
        """Runs `words` to the end; calls `started` when they run, and `job_ending` when this
        process gets SIGTERM or SIGUSR1. Raises LaunchError if the program cannot be started."""
        watched = {*_FORWARDED, signal.SIGCHLD}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
        start = time.monotonic()
        try:
            pid = _spawn(words, environment, before)
            if started is not None:
                started()
            status = _wait(pid, watched, job_ending)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return Finished(status=status, seconds=time.monotonic() - start)

    def capture(
        self, words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
    ) -> Captured:
        """As `capture_started`, but a command that cannot be started is no error: it has the exit
        status and the message that a shell would give."""
        try:
            return self.capture_started(words, environment=environment, seconds_max=seconds_max)
        except LaunchError as error:
            return Captured(status=error.exit_code, output="", errors=str(error))

    def capture_started(
        self, words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
    ) -> Captured:
        """Runs a command with empty standard input. After `seconds_max`, or when a signal asks
        this process to end, the command gets SIGTERM or that signal, and SIGKILL only after a grace
        period: a launcher that is killed at once leaves its ranks running. Raises StoppedError
        after such a signal, and LaunchError if the command cannot be started."""
        watched = {*(one for one in _FORWARDED if not _is_ignored(one)), signal.SIGCHLD}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
        try:
            with TemporaryFile() as output, TemporaryFile() as errors:
                pid = _spawn(words, environment, before, into=(output, errors))
                status = _wait_within(pid, watched, words[0], seconds_max, self._grace_seconds)
                return Captured(status=status, output=_text(output), errors=_text(errors))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_ignored(one: signal.Signals) -> bool:
    """Whether the signal is ignored, as SIGHUP is under nohup: then it stops no command."""
    return signal.getsignal(one) is signal.SIG_IGN


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _spawn(
    words: Sequence[str],
    environment: Mapping[str, str],
    mask: set[signal.Signals | int],
    *,
    into: tuple[IO[bytes], IO[bytes]] | None = None,
) -> int:
    """Starts a child and returns its process id. `into` are files for its standard output and
    error; with them, standard input is empty. `mask` is the child's signal mask."""
    if not words[0]:
        raise LaunchError(
            'cannot run "" (the program\'s name is empty: is a variable not set?). Name a program.',
            exit_code=NOT_FOUND,
        )
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
    if into is not None:
        actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        actions += [(os.POSIX_SPAWN_DUP2, file.fileno(), at) for at, file in enumerate(into, 1)]
    try:
        return os.posix_spawnp(
            shutil.which(words[0], path=environment.get("PATH")) or words[0],
            list(words),
            dict(environment),
            file_actions=actions,
            setsigmask=mask,
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # Python ignores both, a child inherits it
        )
    except FileNotFoundError as error:
        why = _why_not_found(words[0])
        raise LaunchError(f"cannot run {words[0]} {why}", exit_code=NOT_FOUND) from error
    except OSError as error:
        why = _why_refused(words[0], error)
        raise LaunchError(f"cannot run {words[0]} {why}", exit_code=NOT_EXECUTABLE) from error


def _why_not_found(word: str) -> str:
    path = Path(word)
    if not path.exists():
        return "(there is no such program). Check the name" + (
            " and PATH." if path.name == word else "."
        )
    if path.name == word:  # it is in the working directory, which a shell does not search either
        return f"(no folder of PATH has it). Did you mean ./{shlex.quote(word)}?"
    return (
        "(it is there, but what is to load it is not). Look at its first line, if it is a script; "
        "else at what `file` says of it."
    )


def _why_refused(word: str, error: OSError) -> str:
    path = Path(word)
    if error.errno == errno.EACCES and (folder := _closed_folder(path)) is not None:
        return f"(you may not enter {folder}). Ask its owner, or name a program that is elsewhere."
    if path.is_dir():
        return "(it is a folder). Name the program in it."
    if error.errno == errno.EACCES and path.is_file() and not os.access(path, os.X_OK):
        return f"(it is not executable). Make it so: chmod +x {shlex.quote(word)}"
    if error.errno == errno.ENOEXEC:
        return (
            f"({error.strerror}). Is it an executable for this machine? "
            "A script has to begin with #! and its interpreter."
        )
    return f"({error.strerror}). Is it an executable for this machine?"


def _closed_folder(path: Path) -> Path | None:
    """The first folder on the way to `path`, or to what it links to, that may not be entered."""
    for way in (path.absolute(), path.resolve()):
        for folder in reversed(way.parents):
            if not os.access(folder, os.X_OK):
                return folder
    return None


def next_signal(watched: set[signal.Signals], seconds: float) -> signal.struct_siginfo | None:
    """The signal of `watched` that arrived within `seconds`, or None. If this process was stopped
    (Ctrl-Z) and continued after the time-out, Python's sigtimedwait returns a signal number that
    is not in `watched`."""
    arrived = signal.sigtimedwait(watched, seconds)
    return arrived if arrived is not None and arrived.si_signo in watched else None


def _wait(pid: int, watched: set[signal.Signals], job_ending: Callable[[], None] | None) -> int:
    """Waits for the child, forwarding signals to it, and returns its status as shells give it."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == pid:
            return _as_shells_say(os.waitstatus_to_exitcode(status))
        arrived = next_signal(watched, _POLL_SECONDS)
        if arrived is None:
            continue
        if arrived.si_signo in _JOB_ENDING and job_ending is not None:
            job_ending()
        if arrived.si_signo != signal.SIGCHLD and arrived.si_code != _SI_KERNEL:
            os.kill(pid, arrived.si_signo)


def _wait_within(
    pid: int, watched: set[signal.Signals], name: str, seconds_max: float, grace_seconds: float
) -> int | None:
    """As `_wait`, but after `seconds_max` the child gets SIGTERM, after `grace_seconds` more
    SIGKILL, and the result is None. Raises StoppedError if a signal asked this process to end."""
    deadline = time.monotonic() + seconds_max
    is_late, was_killed, stopped_by = False, False, None
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == pid:
            break
        left = deadline - time.monotonic()
        if left <= 0:
            was_asked = is_late or stopped_by is not None
            if was_killed:
                break  # the child is in an uninterruptible sleep: do not wait for it
            os.kill(pid, signal.SIGKILL if was_asked else signal.SIGTERM)
            was_killed = was_asked
            is_late = is_late or stopped_by is None
            deadline = time.monotonic() + grace_seconds
            continue
        arrived = next_signal(watched, min(left, _POLL_SECONDS))
        if arrived is None or arrived.si_signo == signal.SIGCHLD:
            continue
        if arrived.si_code != _SI_KERNEL:
            os.kill(pid, arrived.si_signo)
        if arrived.si_signo in _ENDING and stopped_by is None:
            stopped_by = signal.Signals(arrived.si_signo)
            deadline = min(deadline, time.monotonic() + grace_seconds)
    if stopped_by is not None:
        raise StoppedError(
            f"stopped by {stopped_by.name} ({name} has been stopped, too). Start again to go on.",
            exit_code=128 + stopped_by,
        )
    return None if is_late else _as_shells_say(os.waitstatus_to_exitcode(status))


def _as_shells_say(code: int) -> int:
    """A shell's exit status: 128+n where Python has -n, which means ended by signal n."""
    return code if code >= 0 else 128 - code
