"""Keys that are pressed on a terminal, one at a time and not shown."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator
from types import FrameType
from typing import Any

_SHELL_SIGNAL = 128
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_BYTES_MAX = 64
_SEQUENCE = re.compile(rb"\x1b[\[O][0-9;]*[A-Za-z~]")
"""Keys that send several bytes, as arrows do. None of these bytes counts as a key."""


class TerminalKeys:
    """The keys of standard input; none if it is no terminal."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._waiting: list[str] = []

    def next(self, seconds: float) -> str:
        """The next key, or no text if none was pressed within that time."""
        if not self._waiting:
            self._waiting = list(self._read(seconds))
        return self._waiting.pop(0) if self._waiting else ""

    def _read(self, seconds: float) -> str:
        if self._descriptor is None:
            time.sleep(seconds)
            return ""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return ""
        try:
            data = os.read(self._descriptor, _BYTES_MAX)
        except OSError:  # the terminal is gone
            data = b""
        if not data:
            self._descriptor = None
        return _SEQUENCE.sub(b"", data).decode("ascii", "replace")


@contextlib.contextmanager
def terminal_keys() -> Iterator[TerminalKeys]:
    """The keys of standard input. The terminal is as it was when this ends, also by SIGTERM."""
    if not sys.stdin or not sys.stdin.isatty():
        with _ended_by_signals():
            yield TerminalKeys(None)
        return
    descriptor = sys.stdin.fileno()
    before: Any = termios.tcgetattr(descriptor)
    with _ended_by_signals():
        try:
            tty.setcbreak(descriptor)
            yield TerminalKeys(descriptor)
        finally:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Signals end this process by SystemExit here, so that the terminal is put back."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(_SHELL_SIGNAL + number)

    before = [(one, signal.signal(one, end)) for one in _ENDING]
    try:
        yield
    finally:
        for one, handler in before:
            signal.signal(one, handler)
