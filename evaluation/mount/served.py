"""A pool with its mount over a folder, there before a program starts and gone after it."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from evaluation.pool.runs import BUILD, daemon

PROGRAM = BUILD / "lib" / "forebay-mount"
END_SECONDS_MAX = 600
"""A drain of some hundred MiB at 50 MB/s, many times over."""


class MountError(RuntimeError):
    """A mount that does not come, or does not go."""


def is_mounted(folder: Path) -> bool:
    """By the kernel's list, since a mount that hangs would not answer."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[4] == str(folder) for line in lines)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[None]:
    """A daemon, and a mount of its pool over `folder`, which has no symbolic link in its path. At
    exit the mount is gone, and all that was written lies in the files below. Raises MountError."""
    with daemon(folder, pool_paths=str(folder)) as one:
        words = [str(PROGRAM), "--socket", one.environment["FOREBAY_POOL_SOCKET"], str(folder)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
            try:
                if not server.stdout or not server.stdout.readline() or not is_mounted(folder):
                    raise MountError(
                        f"forebay-mount does not mount over {folder} (see above). Be root, and "
                        "run `make build`."
                    )
                yield
            finally:
                _end(server, folder)


def _end(server: subprocess.Popen[str], folder: Path) -> None:
    server.terminate()
    try:
        server.wait(END_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if is_mounted(folder):
        words = ["umount", "-l"] if os.geteuid() == 0 else ["fusermount3", "-u", "-z"]
        subprocess.run([*words, str(folder)], check=False)
        raise MountError(f"{folder} was still mounted when its server had ended. It is not now.")
