"""File systems that tests make: small ones, and those of tests/mpi that fail or stripe."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suite import mpi as m
from suite.verdict import ensure

NOBODY = 65534
NOT_POSSIBLE = 77
"""Exit status of tools/limited_disk.sh where there is no root, or no such limits."""


def as_nobody(folder: Path, *, reads_all: bool = False) -> Sequence[str]:
    """The prefix for a command that is to run without root; the folder is given to that user.
    `reads_all`: it may read what it has no permission for, as a checkout below /root."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("no setpriv")
    os.chown(folder, NOBODY, NOBODY)
    nobody = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if reads_all:
        nobody += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    prefix = ["setpriv", *nobody, "env", f"HOME={folder}"]
    program = subprocess.run([*prefix, "test", "-x", folder], check=False)
    if program.returncode != 0:
        pytest.skip(f"nobody cannot see {folder}. Set FOREBAY_TEST_DIR.")
    return prefix


def python_of_nobody(folder: Path) -> tuple[Sequence[str], str]:
    """The prefix for a Python program that is to run without root, and an interpreter that such a
    user may run; the folder is given to that user. It may read the checkout wherever that is."""
    prefix = as_nobody(folder, reads_all=True)
    for python in (sys.executable, "/usr/bin/python3"):
        starts = subprocess.run([*prefix, python, "-c", ""], check=False, capture_output=True)
        if starts.returncode == 0:
            return prefix, python
    pytest.skip("nobody may run no Python here. Install python3.")


@contextlib.contextmanager
def mounted_tmpfs(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "forebay-test", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"cannot mount a tmpfs ({done.stderr.strip()}). Run as root.")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@contextlib.contextmanager
def mounted_ext2(folder: Path) -> Iterator[Path]:
    """An ext2 with blocks of 1 KiB: the longest file has 16 GiB and a little."""
    if os.geteuid() != 0 or shutil.which("mkfs.ext2") is None:
        pytest.skip("cannot make a file system (not root, or no mkfs.ext2). Install it, be root.")
    image, mount = folder / "image", folder / "mount"
    mount.mkdir(parents=True)
    with image.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ext2", "-q", "-b", "1024", image], check=True)
    done = subprocess.run(
        ["mount", "-o", "loop", image, mount], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"cannot mount a loop device ({done.stderr.strip()}).")
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


@contextlib.contextmanager
def limited_disk(folder: Path, rate: int) -> Iterator[Path]:
    """An ext4 of 512 MiB that moves `rate` bytes a second."""
    program = m.ROOT / "tools" / "limited_disk.sh"
    made = subprocess.run(
        [program, "up", folder, "--rate", str(rate), "--size", str(512 << 20)],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        if made.returncode == NOT_POSSIBLE:
            pytest.skip(made.stderr.strip())
        ensure(made.returncode == 0, made.stderr)
        yield folder / "disk"
    finally:
        subprocess.run([program, "down", folder], check=False)


@contextlib.contextmanager
def fuse_file_system(folder: Path, source: str, *arguments: str | Path) -> Iterator[Path]:
    """A file system of tests/mpi over a folder of its own."""
    with served_file_system(folder, source, *arguments) as (mount, _):
        yield mount


@contextlib.contextmanager
def served_file_system(
    folder: Path, source: str, *arguments: str | Path
) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """As fuse_file_system(), with the process that serves it: stopped, the file system hangs."""
    backing, mount = folder / "backing", folder / "mount"
    backing.mkdir()
    mount.mkdir()
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True, check=False
    ).stdout.split()
    if not flags or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("no FUSE (libfuse3-dev or /dev/fuse is missing). Install it, run as root.")
    program = m.build_with(
        ["cc", *m.C_FLAGS, "-D_FILE_OFFSET_BITS=64"],
        source,
        m.BUILD / "bin",
        libraries=flags,
    )
    process = subprocess.Popen([program, mount, backing, *arguments], stderr=subprocess.DEVNULL)
    try:
        if not until(lambda: os.path.ismount(mount), 10):
            pytest.skip("cannot mount a FUSE file system here. Run as root.")
        yield mount, process
    finally:
        subprocess.run(["umount", "-l", mount], check=False)
        m.end_process(process)


@contextlib.contextmanager
def full_when_asked(small: Path, mark: Path) -> Iterator[None]:
    """Whoever makes the file `mark` has the tmpfs `small` full as soon as `mark` is gone. That
    happens at one moment: a disk that fills slowly is drained to by a daemon while there is
    room."""

    over = threading.Event()

    def fill() -> bool:
        while not mark.exists():
            if over.wait(0.02):
                return False
        subprocess.run(["mount", "-o", "remount,size=1m", small], check=True)
        mark.unlink()
        return True

    with ThreadPoolExecutor() as beside:
        filled = beside.submit(fill)
        try:
            yield
        finally:
            over.set()
        ensure(filled.result(), "nobody asked for a full disk")


def until(holds: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
