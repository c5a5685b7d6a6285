"""A disk that loses its power: a file system in a file that can be as it was at a moment.

The file lies on a btrfs, which shares the bytes of two files until one of them is changed: so it is
copied at one moment, with all that the file system in it had given to its device by then, and
nothing of what it only had in memory. Needs root and loop devices.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from suite.verdict import Failed

from storm.field import NotHereError

BYTES = 512 << 20
LOOP_DEVICES = Path("/dev/loop-control")
BUSY_SECONDS_MAX = 10.0
LOOK_SECONDS = 0.02


@dataclass(frozen=True, kw_only=True)
class Disk:
    """An ext4, and what is needed to take it back."""

    folder: Path
    image: Path
    device: str

    @property
    def _kept(self) -> Path:
        return self.image.with_name("kept")

    def remember(self) -> None:
        """Keeps it as it is at this moment."""
        _do("cp", "--reflink=always", self.image, self._kept)

    def go_back(self) -> None:
        """It is as it was, after its own journal has been replayed. It has the same name and the
        same device number."""
        _do("umount", self.folder)
        _do("losetup", "--detach", self.device)
        self._kept.replace(self.image)
        _do("losetup", "--direct-io=on", self.device, self.image)
        _do("mount", self.device, self.folder)


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[Disk]:
    """NotHereError: not without root, loop devices and mkfs.btrfs. Failed: not although they are
    there; a storm without power cuts must not pass for one with them."""
    tools = shutil.which("mkfs.btrfs") and shutil.which("losetup")
    if os.geteuid() != 0 or not tools or not LOOP_DEVICES.exists():
        raise NotHereError("no root, no loop devices, no mkfs.btrfs, or no losetup")
    below, outer, inner = folder / "below", folder / "outer", folder / "inner"
    below.mkdir()
    inner.mkdir()
    with contextlib.ExitStack() as stack:
        with outer.open("wb") as file:
            file.truncate(4 * BYTES)
        stack.callback(outer.unlink)
        _do("mkfs.btrfs", "-q", outer)
        _do("mount", "-o", "loop", outer, below)
        stack.callback(_do, "umount", below)
        image = below / "image"
        with image.open("wb") as file:
            file.truncate(BYTES)
        _do("mkfs.ext4", "-q", image)
        device = _do("losetup", "--find", "--show", "--direct-io=on", image)
        stack.callback(_do, "losetup", "--detach", device)
        _do("mount", device, inner)
        stack.callback(_do, "umount", inner)
        yield Disk(folder=inner, image=image, device=device)


def _do(*words: str | Path) -> str:
    """The output of a command. A device that is busy is tried again: another mount namespace may
    have a copy of what is mounted (tools/ci/storm.sh has one of its own)."""
    end = time.monotonic() + BUSY_SECONDS_MAX
    while True:
        done = subprocess.run(
            [str(word) for word in words], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return done.stdout.strip()
        if "busy" not in done.stderr or time.monotonic() > end:
            raise Failed(f"no disk that loses its power: {words[0]} says {done.stderr.strip()}")
        time.sleep(LOOK_SECONDS)
