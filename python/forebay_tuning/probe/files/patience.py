"""Calls on a file system that may hang. A process that waits for such a file system is in
uninterruptible sleep, which not even SIGKILL ends. Each call is therefore made in a child process,
which can be left behind."""

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
"""A file system hangs if it does not answer statvfs(3) for this time."""
CALL_SECONDS_MAX = 120.0
"""The limit of one call on a file system that answers others."""
_PIECE = 1 << 16

Result = TypeVar("Result")


def patiently(directory: Path, call: Callable[[], Result]) -> Result:
    """The result of `call`, or its exception. The call may be slow as long as the file system of
    `directory` answers other calls. Raises HangError if that does not answer."""
    with _ChildCall(call) as child:
        deadline = time.monotonic() + CALL_SECONDS_MAX
        while not child.is_done_within(ANSWER_SECONDS):
            if time.monotonic() > deadline or not _answers(directory):
                raise HangError(
                    f"the file system of {directory} hangs (it did not answer for "
                    f"{ANSWER_SECONDS:.0f} s). Once it answers again, the same command with "
                    "--clean takes away what is left, and with --resume it goes on."
                )
        return child.result()


def _answers(directory: Path) -> bool:
    with _ChildCall(lambda: _ask(directory)) as child:
        return child.is_done_within(ANSWER_SECONDS)


def _ask(directory: Path) -> None:
    with contextlib.suppress(OSError):
        os.statvfs(directory)


class _ChildCall(Generic[Result]):
    """A call in a child process, which leads a process group, so that its own children end, too."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._from, to = os.pipe()
        self._text = b""
        self._pid = os.fork()
        if self._pid == 0:
            _do(call, to)
        os.close(to)
        with contextlib.suppress(OSError):  # the child may have done it, or have ended
            os.setpgid(self._pid, self._pid)

    def __enter__(self) -> _ChildCall[Result]:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._from)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        if self._text:  # the child has sent its result, so it ends at once
            os.waitpid(self._pid, 0)
        else:
            os.waitpid(self._pid, os.WNOHANG)

    def is_done_within(self, seconds: float) -> bool:
        """Whether the call has returned or raised within `seconds`."""
        if not select.select([self._from], [], [], seconds)[0]:
            return False
        while piece := os.read(self._from, _PIECE):
            self._text += piece
        return True

    def result(self) -> Result:
        """The call's result, once it is done. Raises the call's exception."""
        if not self._text:
            raise OSError("a process of the probing was ended from outside")
        is_well, value = pickle.loads(self._text)
        if not is_well:
            raise value
        found: Result = value
        return found


def _do(call: Callable[[], object], to: int) -> None:
    """Runs in the child. It must not return, whatever happens."""
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
