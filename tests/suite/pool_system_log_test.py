"""Lost bytes stand in the system's log, too: a socket takes the place of systemd's journal, in a
mount namespace of the test's own."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from suite.command import FOREBAY, environment
from suite.verdict import ensure

# Kills the daemon that has its bytes.
KILLER = """
import os
file = os.open("file", os.O_RDWR | os.O_CREAT)
os.write(file, b"x" * 70000)
os.pread(file, 1, 0)  # what the daemon has not looked at cannot be read
os.kill(int(open(os.environ["FOREBAY_POOL_SOCKET"] + ".lock").read()), 9)
"""
KEPT = ("--set", "pool_quiet=60000", "--set", "pool_window=1GiB")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root may mount")


def _logged(steps: Sequence[str], folder: Path, cwd: Path) -> tuple[str, list[str]]:
    """The commands' output, and the messages that the journal's socket gets."""
    place = folder / "journal"
    place.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(str(place / "socket"))
        log.setblocking(False)
        first = (
            "mount -t tmpfs none /run",
            "mkdir -p /run/systemd/journal",
            f"mount --bind {shlex.quote(str(place))} /run/systemd/journal",
        )
        done = subprocess.run(
            ["unshare", "--mount", "bash", "-c", "\n".join(("set -e", *first, "set +e", *steps))],
            cwd=cwd,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        if "Operation not permitted" in done.stderr:
            pytest.skip("no mount namespace can be made here")
        got = []
        try:
            while True:
                got.append(log.recv(65536).decode())
        except BlockingIOError:
            return done.stdout + done.stderr, got


def test_what_a_daemon_takes_with_it_is_in_the_journal(folder: Path) -> None:
    line = [*FOREBAY, "run", "--pool", ".", *KEPT, "--", sys.executable, "-c", KILLER]
    said, got = _logged([shlex.join(line)], folder, folder)
    ensure("THE POOL'S DAEMON DIED" in said, said)
    ensure(len(got) == 1, f"{got}\n{said}")
    fields = dict(text.partition("=")[::2] for text in got[0].splitlines())
    ensure(fields["FOREBAY_FILE"] == str(folder / "file"), got[0])
    ensure(fields["FOREBAY_BYTES"] == "70000", got[0])
    ensure(fields["PRIORITY"] == "3", got[0])


def test_a_run_that_loses_nothing_says_nothing(folder: Path) -> None:
    line = [*FOREBAY, "run", "--pool", ".", "--", "dd", "if=/dev/zero", "of=file", "count=10"]
    said, got = _logged([shlex.join(line)], folder, folder)
    ensure(not got, f"{got}\n{said}")
