"""Shows the progress of draining: a bar on a terminal, else a line every ten seconds."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from forebay.common.model.printable import printable_name
from forebay.common.model.units import counted, human_bytes

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from forebay.pool.model.pool import PoolStatus

_SILENT_SECONDS = 1.0
_LINE_SECONDS = 10.0
_NAMED_MAX = 5


def _left_text(status: PoolStatus) -> str:
    """A line that names the files: if everything is killed while draining, it is the last trace."""
    files = sorted(status.files, key=lambda one: -one.outstanding)
    left = [one for one in files if one.outstanding]
    names = [
        f"{printable_name(one.path)} ({human_bytes(one.outstanding)})" for one in left[:_NAMED_MAX]
    ]
    more = len(left) - len(names)
    names += [f"and {counted(more, 'more file')}"] if more else []
    return f"draining the pool, {human_bytes(status.outstanding)} to go: {', '.join(names)}"


def hang_text(status: PoolStatus) -> str:
    """Advice about a file system that does not answer; empty if it answers."""
    file = status.hangs
    if file is None:
        return ""
    seconds = f"{file.silent_seconds:.0f} s"
    return (
        f"the file system has not answered for {seconds} ({printable_name(file.path)}). "
        "Nothing is lost: the pool goes on when it answers. Programs wait once the pool is full. "
        "See whether `ls` answers there, and ask who looks after the file system."
    )


class DrainProgress:
    """The port Progress. Draining that takes less than a second shows nothing."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._since: float | None = None
        self._told = 0.0
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._most = 0
        self._hung = False

    def show(self, status: PoolStatus) -> None:
        """Shows how many bytes are left."""
        now = time.monotonic()
        self._since = self._since or now
        self._most = max(self._most, status.outstanding)
        if now - self._since < _SILENT_SECONDS or not self._most:
            return
        if self._stream.isatty():
            self._show_bar(status)
        elif not self._told or now - self._told >= _LINE_SECONDS:
            self._told = now
            self._say(f"forebay: {hang_text(status) or _left_text(status)}")

    def note(self, text: str) -> None:
        """Prints `text` on a line of its own."""
        if self._bar is not None:
            self._bar.console.print(f"forebay: {text}", markup=False, highlight=False)
        else:
            self._say(f"forebay: {text}")

    def end(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def _show_bar(self, status: PoolStatus) -> None:
        if self._bar is None or self._task is None:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
                TransferSpeedColumn,
            )

            self._bar = Progress(
                TextColumn("draining the pool"),
                TextColumn("{task.description}"),
                BarColumn(),
                DownloadColumn(binary_units=True),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
                console=Console(file=self._stream),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self._most)
            self._bar.start()
        hang = hang_text(status)
        if hang and not self._hung:
            self.note(hang)  # the advice does not fit into the bar, which shows only the seconds
        self._hung = bool(hang)
        what = f"no answer for {status.hangs.silent_seconds:.0f} s" if status.hangs else ""
        self._bar.update(self._task, description=what)
        self._bar.update(self._task, total=self._most, completed=self._most - status.outstanding)
