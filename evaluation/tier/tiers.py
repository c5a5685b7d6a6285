"""A tier over a folder, there before a program starts and gone after it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from evaluation.mount.served import END_SECONDS_MAX, PROGRAM, MountError, is_mounted
from forebay.common.model.frozen import frozen

_ORDER, _STATUS = "user.forebay.order", "user.forebay.status"


@frozen
class Tier:
    """One that is mounted over `folder`. `started_s` is how long that took."""

    folder: Path
    fast: Path
    process: int
    started_s: float

    def status(self, below: Path | None = None) -> dict[str, int]:
        """Its status of a folder; of the whole one if None."""
        found: dict[str, int] = json.loads(os.getxattr(below or self.folder, _STATUS))
        return found

    def order(self, path: Path, what: str) -> None:
        """Carries out `fill`, `move` or `evict`."""
        os.setxattr(path, _ORDER, what.encode())

    def resident_bytes(self) -> int:
        """Memory of the process that serves it."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        (line,) = (line for line in lines if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024


@contextlib.contextmanager
def tier(folder: Path, fast: Path, policy: str) -> Iterator[Tier]:
    """Mounts one, and at exit moves everything. Raises MountError, also if a file was not moved."""
    fast.mkdir(mode=0o700, parents=True, exist_ok=True)
    words = [str(PROGRAM), "--fast", str(fast), "--policy", policy, str(folder)]
    begin = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            if not server.stdout or not server.stdout.readline() or not is_mounted(folder):
                raise MountError(f"no tier over {folder} (see above). Be root, and `make build`.")
            started = time.monotonic() - begin
            yield Tier(folder=folder, fast=fast, process=server.pid, started_s=started)
        finally:
            server.terminate()
            try:
                server.wait(END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                server.kill()
            if is_mounted(folder):
                subprocess.run(["umount", "-l", str(folder)], check=False)
    if server.returncode != 0:
        raise MountError(f"the tier over {folder} ended with {server.returncode} (see above)")
