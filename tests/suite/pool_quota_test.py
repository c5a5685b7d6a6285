"""A quota that is reached while the pool drains, by a user without root: the program is told,
`forebay run` is, and the rescue finishes the work once there is room."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite import mpi as m
from suite.command import environment
from suite.file_systems import python_of_nobody
from suite.mounted import can_mount
from suite.pool_run_test import KEPT, MIB, content
from suite.quota import KINDS, Kind
from suite.verdict import ensure

QUOTA = 8 * MIB
BLOCKS = 256
"""Blocks of 64 KiB: twice the quota."""
EAGER = ("--set", "pool_quiet=0", "--set", "pool_window=1MiB")

# Writes so many blocks of 64 KiB, or as many as it can. Prints what was taken and what each call
# afterwards says.
WRITER = """
import errno, os, sys
def word(call, *arguments):
    try:
        call(*arguments)
        return "fine"
    except OSError as error:
        return errno.errorcode[error.errno]
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
taken, first = 0, "none"
try:
    for number in range(int(sys.argv[2])):
        taken += os.write(file, bytes([number % 251]) * 65536)
except OSError as error:
    first = errno.errorcode[error.errno]
then = word(os.fsync, file), word(os.write, file, b"more"), word(os.close, file)
print(taken, first, *then)
"""


# The packages of forebay are Python only: another interpreter of the machine can use them, too.
PACKAGES = f"{m.ROOT / 'python'}:{sysconfig.get_path('purelib')}"


@dataclass(frozen=True, kw_only=True)
class User:
    """A user who runs `forebay` without root, in a folder of its own."""

    folder: Path
    prefix: Sequence[str]
    python: str

    def forebay(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        program = (self.python, str(m.ROOT / "python" / "forebay"), *map(str, words))
        return subprocess.run(
            [*self.prefix, *program],
            cwd=self.folder,
            env=environment(PYTHONPATH=PACKAGES, XDG_RUNTIME_DIR=str(self.folder)),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )


@pytest.fixture
def user(folder: Path) -> User:
    folder = folder.resolve()
    prefix, python = python_of_nobody(folder)
    return User(folder=folder, prefix=prefix, python=python)


AMOUNTS = pytest.mark.parametrize(
    ("settings", "blocks", "first"),
    [
        # All is acknowledged before anything is drained; a program that syncs gets the error.
        pytest.param(KEPT, BLOCKS, "none", id="kept"),
        # A program that goes on writing gets the error from a write.
        pytest.param(EAGER, 100 * BLOCKS, "EDQUOT", id="eager"),
    ],
)


@pytest.mark.parametrize("kind", [pytest.param(kind, id=name) for name, kind in KINDS.items()])
@AMOUNTS
def test_quota_is_told_and_rescue_finishes_the_work(
    kind: Kind, settings: Sequence[str], blocks: int, first: str, user: User
) -> None:
    with kind(user.folder, QUOTA) as limited:
        out = limited.folder / "out"
        program = [user.python, "-c", WRITER, str(out), str(blocks)]
        told = ("--summary", "summary.json", "--format", "json")
        done = user.forebay("run", *told, *settings, "--pool", limited.folder, "--", *program)
        ensure(done.returncode == 74, f"exit {done.returncode}\n{done.stderr}")
        taken, *words = done.stdout.split()
        ensure(words == [first, "EDQUOT", "EDQUOT", "EDQUOT"], f"the program was told {words}")
        # The file system's own blocks may count, too.
        ensure(QUOTA // 2 < int(taken) <= blocks * 65536, f"{taken} bytes were taken")
        ensure(first != "none" or int(taken) == blocks * 65536, f"{taken} bytes were taken")
        pool = json.loads((user.folder / "summary.json").read_text())["pool"]
        (kept,) = pool["rescued"]
        ensure(kept["path"] == str(out) and kept["bytes"] > 0, kept)
        ensure(kept["error_text"] == "Disk quota exceeded", kept)
        rescue = ("pool", "rescue", kept["file"])
        ensure(kept["command"] == ["forebay", *rescue], kept)

        full = user.forebay(*rescue)
        ensure(full.returncode == 74 and "quota exceeded" in full.stderr, full.stderr)
        limited.lift()
        done = user.forebay(*rescue)
        ensure(done.returncode == 0, done.stderr)
        whole = content(int(taken) // 65536)
        ensure(out.read_bytes() == whole, "other bytes")
        ensure(not list(user.folder.glob("forebay-rescue-*")), "the rescue folder is still there")


@pytest.mark.skipif(not can_mount(), reason="no forebay-mount, or no right to /dev/fuse")
@AMOUNTS
def test_quota_is_told_through_a_mount(
    settings: Sequence[str], blocks: int, first: str, folder: Path
) -> None:
    user = User(folder=folder.resolve(), prefix=(), python=sys.executable)
    with KINDS["pretended"](user.folder, QUOTA) as limited:
        program = [user.python, "-c", WRITER, str(limited.folder / "out"), str(blocks)]
        mounted = ("--set", "pool_mount=require", "--pool", limited.folder)
        done = user.forebay("run", *settings, *mounted, "--", *program)
        ensure(done.returncode == 74, f"exit {done.returncode}\n{done.stderr}")
        taken, *words = done.stdout.split()
        ensure(words == [first, "EDQUOT", "EDQUOT", "EDQUOT"], f"the program was told {words}")
        ensure(QUOTA <= int(taken) <= blocks * 65536, f"{taken} bytes were taken")
        ensure("Disk quota exceeded" in done.stderr, done.stderr)


def test_quota_is_told_to_people(user: User) -> None:
    """File, bytes, reason and what to do."""
    with KINDS["pretended"](user.folder, QUOTA) as limited:
        out = limited.folder / "out"
        program = [user.python, "-c", WRITER, str(out), str(BLOCKS)]
        done = user.forebay("run", *KEPT, "--pool", limited.folder, "--", *program)
        ensure(done.returncode == 74, f"exit {done.returncode}\n{done.stderr}")
        line = f"DID NOT ARRIVE: 8.00 MiB of {out} (Disk quota exceeded)."
        ensure(line in done.stderr and "forebay pool rescue" in done.stderr, done.stderr)
        ensure(out.stat().st_size == QUOTA, "other bytes")
