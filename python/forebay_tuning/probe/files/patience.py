"""Calls on a file system that may hang. Nothing can end a call that such a file system does not
answer, not even a signal: each is made in a process of its own, which can be left behind."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from forebay.common.model.errors import HangError

ANSWER_SECONDS = 10.0
"""A file system that does not even say how full it is for so long hangs."""
CALL_SECONDS_MAX = 120.0
"""What one call may take where the file system answers others."""
_PIECE = 1 << 16

Result = TypeVar("Result")


def patiently(directory: Path, call: Callable[[], Result]) -> Result:
    """What `call` returns or raises. It may take its time, as long as the file system of
    `directory` answers meanwhile. HangError: that does not."""
    with _Errand(call) as errand:
        deadline = time.monotonic() + CALL_SECONDS_MAX
        while not errand.is_done_within(ANSWER_SECONDS):
            if time.monotonic() > deadline or not _answers(directory):
                raise HangError(
                    f"the file system of {directory} hangs (it did not answer for "
                    f"{ANSWER_SECONDS:.0f} s). Once it answers again, the same command with "
                    "--clean takes away what is left, and with --resume it goes on."
                )
        return errand.result()


def _answers(directory: Path) -> bool:
    with _Errand(lambda: _ask(directory)) as errand:
        return errand.is_done_within(ANSWER_SECONDS)


def _ask(directory: Path) -> None:
    with contextlib.suppress(OSError):
        os.statvfs(directory)


class _Errand(Generic[Result]):
    """A call in a process of its own, and of a group of its own: what it starts ends with it."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._from, to = os.pipe()
        self._text = b""
        self._pid = os.fork()
        if self._pid == 0:
            _do(call, to)
        os.close(to)
        with contextlib.suppress(OSError):  # it may have done so itself, or have ended
            os.setpgid(self._pid, self._pid)

    def __enter__(self) -> _Errand[Result]:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._from)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        if self._text:  # it has said all, and ends
            os.waitpid(self._pid, 0)
        else:
            os.waitpid(self._pid, os.WNOHANG)

    def is_done_within(self, seconds: float) -> bool:
        """Whether it has returned or raised."""
        if not select.select([self._from], [], [], seconds)[0]:
            return False
        while piece := os.read(self._from, _PIECE):
            self._text += piece
        return True

    def result(self) -> Result:
        """When it is done."""
        if not self._text:
            raise OSError("a process of the probing was ended from outside")
        is_well, value = pickle.loads(self._text)
        if not is_well:
            raise value
        found: Result = value
        return found


def _do(call: Callable[[], object], to: int) -> None:
    """In the child. It has to end here, whatever happens."""
    try:
        os.setpgid(0, 0)
        try:
            answer = pickle.dumps((True, call()))
        except Exception as error:  # raised again by result()
            answer = pickle.dumps((False, error))
        with open(to, "wb", closefd=False) as file:
            file.write(answer)
    finally:
        os._exit(0)
