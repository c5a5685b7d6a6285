"""Starts programs in the foreground, as a shell's `exec` would look to them: same terminal, same
process group, same signals. Signals that are sent to us alone are sent on."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from forebay.application.ports import Captured, Finished
from forebay.domain.errors import LaunchError

_FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_BY_KERNEL = 128  # si_code of what the terminal sends: the program has it already
NOT_EXECUTABLE, NOT_FOUND = 126, 127


class ForegroundProcesses:
    """The port Processes over real ones."""

    def run(self, words: Sequence[str], *, environment: Mapping[str, str]) -> Finished:
        """Runs `words` to the end. LaunchError: cannot be started."""
        watched = {*_FORWARDED, signal.SIGCHLD}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
        start = time.monotonic()
        try:
            pid = _spawn(words, environment, before)
            status = _wait(pid, watched)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return Finished(status=status, seconds=time.monotonic() - start)

    def capture(
        self, words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
    ) -> Captured:
        """Runs a short command without input."""
        try:
            done = subprocess.run(
                list(words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                env=dict(environment),
                timeout=seconds_max,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Captured(status=None, output="", errors="")
        except OSError as error:
            return Captured(status=NOT_FOUND, output="", errors=str(error))
        return Captured(
            status=_as_shells_say(done.returncode), output=done.stdout, errors=done.stderr
        )


def _spawn(
    words: Sequence[str], environment: Mapping[str, str], mask: set[signal.Signals | int]
) -> int:
    try:
        return os.posix_spawnp(
            words[0],
            list(words),
            dict(environment),
            setsigmask=mask,
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # Python ignores them
        )
    except FileNotFoundError as error:
        raise LaunchError(
            f"cannot run {words[0]} (there is no such program). Check the name and PATH.",
            exit_code=NOT_FOUND,
        ) from error
    except OSError as error:
        raise LaunchError(
            f"cannot run {words[0]} ({error.strerror}). Is it an executable for this machine?",
            exit_code=NOT_EXECUTABLE,
        ) from error


def _wait(pid: int, watched: set[signal.Signals]) -> int:
    """The child's status as shells say it. Signals that arrive meanwhile go to the child."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == pid:
            return _as_shells_say(os.waitstatus_to_exitcode(status))
        arrived = signal.sigwaitinfo(watched)
        if arrived.si_signo != signal.SIGCHLD and arrived.si_code != _BY_KERNEL:
            os.kill(pid, arrived.si_signo)


def _as_shells_say(code: int) -> int:
    """128+n for what Python calls -n: ended by signal n."""
    return code if code >= 0 else 128 - code
