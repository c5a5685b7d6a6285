"""A disk that behaves as a parallel file system does to one of its clients (a limited disk), and a
meter of what reaches it."""

import contextlib
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from demo.errors import DemoError
from forebay.common.model.frozen import frozen

MEBIBYTES_PER_SECOND, DIRTY_MEBIBYTES = 48, 32
_NOT_POSSIBLE = 77
_SECTOR_BYTES = 512
_SECTORS_WRITTEN = 6  # word of /sys/block/*/stat
_PERIOD_SECONDS = 0.05


@frozen
class Written:
    """Bytes on the disk at each moment: seconds of the monotonic clock, bytes since the run began.
    At the last moment everything is on the disk."""

    begin: float
    seconds: tuple[float, ...]
    bytes: tuple[int, ...]

    @property
    def whole(self) -> float:
        """Seconds from the run's begin until everything was on the disk."""
        return self.seconds[-1] - self.begin


@frozen
class LimitedDisk:
    """Where it is mounted, and its name in /sys/block."""

    folder: Path
    device: str


class DiskMeter:
    """Looks at a disk's counter, in a thread, until the block is left. No device: does nothing."""

    def __init__(self, device: str) -> None:
        self._stat = Path(f"/sys/block/{device}/stat") if device else None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._seconds: list[float] = []
        self._bytes: list[int] = []
        self._begin = time.monotonic()

    def __enter__(self) -> Self:
        if self._stat:
            self._note(self._stat)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._stat:
            self._thread.join()
            self._note(self._stat)

    def written(self) -> Written:
        """All that was seen."""
        return Written(
            begin=self._begin,
            seconds=tuple(self._seconds),
            bytes=tuple(one - self._bytes[0] for one in self._bytes),
        )

    def _look(self) -> None:
        while self._stat and not self._done.wait(_PERIOD_SECONDS):
            self._note(self._stat)

    def _note(self, stat: Path) -> None:
        sectors = int(stat.read_text(encoding="ascii").split()[_SECTORS_WRITTEN])
        self._seconds.append(time.monotonic())
        self._bytes.append(sectors * _SECTOR_BYTES)


@contextlib.contextmanager
def limited_disk(script: Path) -> Iterator[LimitedDisk | str]:
    """The disk; where this machine cannot have one, the reason. It is taken away at the end."""
    with tempfile.TemporaryDirectory(prefix="forebay-disk-") as folder:
        options = ["--rate", str(MEBIBYTES_PER_SECOND << 20)]
        options += ["--dirty", str(DIRTY_MEBIBYTES << 20)]
        done = subprocess.run(
            [script, "up", folder, *options], capture_output=True, text=True, check=False
        )
        try:
            if done.returncode == _NOT_POSSIBLE:
                yield done.stderr.strip().removeprefix("limited_disk.sh: ")
                return
            if done.returncode != 0:
                raise DemoError(
                    f"cannot make a limited disk ({done.stderr.strip()}). See {script}."
                )
            device = Path(Path(folder, "loop").read_text(encoding="utf-8").strip()).name
            yield LimitedDisk(folder=Path(folder, "disk"), device=device)
        finally:
            if os.geteuid() == 0:
                subprocess.run([script, "down", folder], capture_output=True, check=False)
