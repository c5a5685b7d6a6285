"""Samples a daemon's status while a program runs, in a thread, for the record of the run."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

from forebay.common.model.errors import PoolError
from forebay.common.model.record import PoolSample
from forebay.pool.files.daemon_socket import PoolSocket
from forebay.pool.model.messages import QuestionKind
from forebay.pool.model.pool import PoolStatus
from forebay.pool.model.sampling import AT_START, PoolSampling, sample_of

_ANSWER_SECONDS_MAX = 5.0
_STOP_SECONDS_MAX = 1.0


class PoolSampler:
    """Asks the daemon at `socket` for its status until it is stopped or the daemon has gone. What
    fails leaves a gap in the samples, and nothing else."""

    def __init__(self, socket: Path, daemon: int, begin: float) -> None:
        """`begin` is when the program started, by the monotonic clock."""
        self._socket = socket
        self._daemon = daemon
        self._begin = begin
        self._sampling = PoolSampling()
        self._sampling.add(AT_START)  # the first answer may come late
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pool sampler", daemon=True)
        # Signals are for the thread that waits for the program.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._thread.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def finish(self, last: PoolStatus | None) -> tuple[PoolSample, ...]:
        """Stops, and returns the samples. `last` is what the daemon has said at its end."""
        now = time.monotonic() - self._begin
        self._stopped.set()
        self._thread.join(_STOP_SECONDS_MAX)
        with self._lock:
            if last is not None:
                self._sampling.add(sample_of(last, now))
            return tuple(self._sampling.samples)

    def _run(self) -> None:
        try:
            with PoolSocket(self._socket, daemon=self._daemon) as connection:
                pause = 0.0
                while not self._stopped.wait(pause):
                    before = time.thread_time()
                    self._ask(connection)
                    pause = self._sampling.pause_seconds(time.thread_time() - before)
        except (PoolError, OSError):
            return

    def _ask(self, connection: PoolSocket) -> None:
        """Takes one sample, unless it is stopped before the daemon has answered."""
        connection.ask(QuestionKind.STATUS)
        while (status := connection.status_answer(_ANSWER_SECONDS_MAX)) is None:
            if self._stopped.is_set():
                return
        now = time.monotonic()
        with self._lock:
            if not self._stopped.is_set():
                self._sampling.add(sample_of(status, now - self._begin))
