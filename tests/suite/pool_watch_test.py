"""`forebay pool status --watch` on a terminal and without one, beside a daemon that drains."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from suite.command import FOREBAY, environment
from suite.pool import Pool
from suite.pooled import KEPT, pool
from suite.verdict import Failed, ensure

SECONDS_MAX = 180
LEAVES_SCREEN = "\x1b[?1049l"
WRITE = """import sys
file = open(sys.argv[1], 'wb', 0)
file.write(bytes(int(sys.argv[2])))
print(flush=True)
sys.stdin.read()"""


def _variables() -> dict[str, str]:
    """Without the variables that have a terminal's size."""
    kept = {key: value for key, value in environment().items() if key not in ("COLUMNS", "LINES")}
    return {**kept, "TERM": "xterm", "LC_ALL": "C.UTF-8"}


def _heed_ctrl_c() -> None:
    """Shells start what is in the background with SIGINT ignored, these tests too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _at_its_terminal() -> None:
    _heed_ctrl_c()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A command on a pseudo terminal of 120 columns and 30 lines."""

    def __init__(self, *words: str, cwd: Path) -> None:
        self._end, self._line = pty.openpty()
        fcntl.ioctl(self._line, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
        self.modes: Any = termios.tcgetattr(self._line)
        self.text = ""
        self.process = subprocess.Popen(
            [*FOREBAY, *words],
            cwd=cwd,
            env=_variables(),
            stdin=self._line,
            stdout=self._line,
            stderr=self._line,
            start_new_session=True,
            preexec_fn=_at_its_terminal,
        )

    def press(self, key: str) -> None:
        os.write(self._end, key.encode())

    def until(self, pattern: str) -> None:
        """Reads until the pattern is in what was written since the last call."""
        begin = time.monotonic()
        while not re.search(pattern, self.text):
            self._read(0.2)
            if time.monotonic() - begin > SECONDS_MAX:
                raise Failed(f"{pattern} does not come: {self.text[-3000:]!r}")
        self.text = self.text[re.search(pattern, self.text).end() :]  # type: ignore[union-attr]

    def _read(self, seconds: float) -> None:
        if select.select([self._end], [], [], seconds)[0]:
            self.text += os.read(self._end, 1 << 16).decode(errors="replace")

    def ended(self) -> int:
        """The exit status, when the terminal is as it was before."""
        begin = time.monotonic()
        while self.process.poll() is None and time.monotonic() - begin < SECONDS_MAX:
            self._read(0.1)
        status = self.process.wait(1)
        self._read(0.1)
        ensure(LEAVES_SCREEN in self.text, f"it has not left the screen: {self.text[-500:]!r}")
        ensure(termios.tcgetattr(self._line) == self.modes, "the terminal has other modes")
        return status

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._end)
        os.close(self._line)


@contextlib.contextmanager
def terminal(*words: str, cwd: Path) -> Iterator[Terminal]:
    one = Terminal(*words, cwd=cwd)
    try:
        yield one
    finally:
        one.close()


@contextlib.contextmanager
def written(made: Pool, name: str, count: int) -> Iterator[None]:
    """A file of zeros that a program has written and still has open, so that it is not drained."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, str(made.folder / name), str(count)],
        env={**environment(), **made.environment()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        if process.stdout and process.stdin:
            process.stdout.readline()
            yield
            process.stdin.close()
    ensure(process.returncode == 0, f"{name} was not written")


def watch(made: Pool, *more: str) -> tuple[str, ...]:
    return ("pool", "status", "--watch", "--interval", "0.1", "--socket", str(made.socket), *more)


def test_the_screen_has_files_by_lag_and_takes_keys(folder: Path) -> None:
    with (
        pool(folder, KEPT) as made,
        written(made, "small", 1000),
        written(made, "large", 3 << 20),
        terminal(*watch(made), cwd=folder) as screen,
    ):
        screen.until(r"s: sort \(now by what is to go\)")
        screen.until(r"memory +█+░+  [^\n]* of [^\n]* reserved")
        screen.until(r"3\.00 MiB +3\.00 MiB[^\n]*/large *\r\n[^\n]*1000 B[^\n]*/small")
        screen.press("s")
        screen.until(r"sort \(now by age\)")
        with written(made, "later", 1 << 20):
            screen.until(r"deposits[^\n]*[▂▃▄▅▆▇█]")
            screen.until("/later")
        screen.press("\x1b[A")  # an arrow, which is neither quitting nor sorting
        screen.press("q")
        ensure(screen.ended() == 0, "status")


def test_a_signal_leaves_the_terminal_as_it_was(folder: Path) -> None:
    with pool(folder, KEPT) as made, terminal(*watch(made), cwd=folder) as screen:
        screen.until("q: quit")
        screen.process.send_signal(signal.SIGTERM)
        ensure(screen.ended() == 128 + signal.SIGTERM, "status")


def test_ctrl_c_and_the_end_of_the_daemon_end_it(folder: Path) -> None:
    with pool(folder, KEPT) as made:
        with terminal(*watch(made), cwd=folder) as screen:
            screen.until("q: quit")
            screen.press("\x03")
            ensure(screen.ended() == 0, "status after Ctrl-C")
        with terminal(*watch(made), cwd=folder) as screen:
            screen.until("q: quit")
            made.stop()
            ensure(screen.ended() == 0, "status after the daemon's end")
            ensure("has ended" in screen.text, screen.text[-300:])


def test_without_a_terminal_it_is_a_line_an_interval(folder: Path) -> None:
    with pool(folder, KEPT) as made:
        with (
            written(made, "large", 3 << 20),
            subprocess.Popen(
                [*FOREBAY, *watch(made)],
                cwd=folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
                preexec_fn=_heed_ctrl_c,
            ) as process,
        ):
            lines = [process.stdout.readline() for _ in range(3)] if process.stdout else []
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS_MAX)
        ensure(process.returncode == 0, f"status {process.returncode}")
        for line in lines:
            ensure(line.startswith(f"daemon {made.process.pid} up "), line)
            ensure("3.00 MiB to go" in line, line)
            ensure(line.rstrip().endswith("/large (3.00 MiB)"), line)
