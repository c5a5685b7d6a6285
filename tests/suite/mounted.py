"""The mount over a folder, alone or before a pool; never left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import until
from suite.pool import Pool, pool
from suite.verdict import ensure

PROGRAM = m.LIBRARIES / "forebay-mount"
CAPTURES = "--captured"
SECONDS_MAX = 180
DIFFERENT: Mapping[str, object] = {
    # docs/internals/mount.md, "What is different".
    "copying_to_another_file_system": "EXDEV",
    "collapsing": "ENOTSUP",
    "not_caching": "ENOTSUP",
    "seeking_beyond_all_files": 1 << 60,
    "birth_time": False,
    "extents_on_the_device": "ENOTSUP",
    "reading_what_is_there_at_once": "ENOTSUP",
    "unaligned_without_a_cache": [3, "0abc4"],
}
"""Differences that tests/posix/mount_observer.py finds through the mount only, by observation."""
CAPTURED = """
import fcntl, os
fd = os.open("out", os.O_RDWR | os.O_CREAT)
os.write(fd, b"x" * (1 << 20))
fcntl.ioctl(fd, 0x8028fb02, bytearray(40))  # FOREBAY_POOL_GET, which the capture answers
assert os.pread(fd, 1 << 20, 0) == b"x" * (1 << 20)
"""
"""A program that fails unless it is captured in the mount."""


def can_mount() -> bool:
    """Whether it was built, and this user may mount."""
    return PROGRAM.exists() and os.access("/dev/fuse", os.R_OK | os.W_OK)


needs_mount = pytest.mark.skipif(
    not can_mount(), reason="no forebay-mount, or no right to /dev/fuse. Build it; be root."
)


def is_mounted(folder: Path, *, process: int | None = None) -> bool:
    """By the kernel's list for that process or this one: the mount itself may not answer."""
    listed = Path("/proc", str(process or "self"), "mountinfo")
    lines = listed.read_text(encoding="utf-8").splitlines()
    return any(line.split()[4] == str(folder) for line in lines)


def unmount(folder: Path) -> None:
    """Whatever state it is in."""
    for _ in range(3):
        if is_mounted(folder):
            words = ["umount", "-l"] if os.geteuid() == 0 else ["fusermount3", "-u", "-z"]
            subprocess.run([*words, str(folder)], check=False, timeout=SECONDS_MAX)


def until_unmounted(folder: Path) -> None:
    """Waits for it."""
    ensure(until(lambda: not is_mounted(folder), SECONDS_MAX), "it is still mounted")


@dataclass(frozen=True, kw_only=True)
class Mounted:
    """A folder under a mount, and the process that serves it."""

    folder: Path
    process: subprocess.Popen[str]
    pool: Pool | None = None
    captures: bool = False

    def captured(self) -> dict[str, str]:
        """The environment of a program that is to be captured in the mount."""
        ensure(self.captures and self.pool is not None, "nobody is captured here")
        return self.pool.environment() if self.pool else {}

    def run(
        self,
        *words: str,
        given: str | None = None,
        check: bool = True,
        environment: Mapping[str, str] | None = None,
        seconds_max: float = SECONDS_MAX,
    ) -> subprocess.CompletedProcess[str]:
        """In the folder; captured, if it can be."""
        told = {**(self.captured() if self.captures else {}), **(environment or {})}
        return run_in(
            self.folder,
            *words,
            given=given,
            check=check,
            environment=told,
            seconds_max=seconds_max,
        )

    def below(self, name: str) -> Path:
        """The file below the mount, by a descriptor of the process that serves it."""
        for link in Path(f"/proc/{self.process.pid}/fd").iterdir():
            if link.readlink() == self.folder:
                return link / name
        ensure(False, "the mount has no descriptor of its directory")
        raise AssertionError

    def has_ended(self) -> int:
        """Its exit status, once nobody uses the mount any more."""
        return self.process.wait(SECONDS_MAX)


def run_in(
    folder: Path,
    *words: str,
    given: str | None = None,
    check: bool = True,
    environment: Mapping[str, str] | None = None,
    seconds_max: float = SECONDS_MAX,
) -> subprocess.CompletedProcess[str]:
    """A program there, for a bounded time."""
    done = subprocess.run(
        words,
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        timeout=seconds_max,
        check=False,
        env={**m.clean_environment(), "LC_ALL": "C.UTF-8", **(environment or {})},
    )
    ensure(
        not check or done.returncode == 0,
        f"{' '.join(words)[:200]} ended with {done.returncode}:\n{done.stdout[-500:]}"
        f"{done.stderr[-1500:]}",
    )
    return done


@contextlib.contextmanager
def served(
    folder: Path,
    before: Pool | None = None,
    options: Sequence[str] = (),
    *,
    program: Sequence[str] = (str(PROGRAM),),
) -> Iterator[Mounted]:
    """A mount over that folder, with these options of forebay-mount; it is gone behind."""
    pooled = ["--socket", str(before.socket)] if before else []
    words = [*program, *pooled, *options, str(folder)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            _, said = process.communicate(timeout=SECONDS_MAX)
            ensure(False, f"forebay-mount does not mount:\n{said}")
        captures = CAPTURES in options
        yield Mounted(folder=folder, process=process, pool=before, captures=captures)
    finally:
        unmount(folder)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        if process.poll() is None:
            process.kill()
            process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


@contextlib.contextmanager
def mounted(
    *,
    before_pool: bool,
    captures: bool = False,
    settings: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> Iterator[Mounted]:
    """A new folder below a mount; it and the mount are gone behind. Settings are the pool's, and
    options those of forebay-mount. If it captures, what is run in it is captured, too."""
    with tempfile.TemporaryDirectory(prefix="mount.", dir="/tmp") as made:
        folder = Path(made, "below")
        folder.mkdir()
        with contextlib.ExitStack() as stack:
            paths = {"pool_paths": str(folder), **(settings or {})}
            before = stack.enter_context(pool(folder, paths)) if before_pool else None
            all_options = [*options, *([CAPTURES] if captures else [])]
            yield stack.enter_context(served(folder, before, all_options))
