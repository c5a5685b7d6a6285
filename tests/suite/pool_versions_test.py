"""A daemon and programs of different versions: what an upgrade under running jobs looks like. The
other version is a copy of the same library, or of the daemon, with another number of its format."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pool as daemon
from suite import pooled
from suite.command import forebay
from suite.verdict import ensure

WRITER = """
import os, sys
with open(sys.argv[1], "wb") as file:
    file.write(b"x" * 300000)
    os.fsync(file.fileno())
"""


def _format() -> int:
    text = (m.ROOT / "schema" / "pool_messages.toml").read_text("utf-8")
    return int(tomllib.loads(text)["format"])


HOLDER = """
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.pwrite(file, b"1" * 300000, 0)
print("ready", flush=True)
sys.stdin.readline()
"""
OTHER = """
import sys
with open(sys.argv[1], "r+b") as file:
    seen = file.read()
    file.seek(0)
    file.write(b"2" * 1000)
assert seen == b"1" * 300000, (len(seen), seen[:9])
"""


def of_older_version(path: Path, folder: Path) -> Path:
    """A copy of the file, of which the format is one less."""
    own, older = (number.to_bytes(8, "little") for number in (_format(), _format() - 1))
    content = path.read_bytes()
    ensure(own in content, f"{path} has no {own!r}")
    copy = folder / path.name
    copy.write_bytes(content.replace(own, older))
    copy.chmod(0o755)
    return copy


def _goes_without(served: pooled.Pool, library: Path) -> None:
    """A program with that library says that it does without the pool, and its file is whole."""
    file = served.folder / "file"
    environment = {**served.environment(), "LD_PRELOAD": str(library)}
    said = pooled.run([sys.executable, "-c", WRITER, file], served.folder, environment)
    ensure(said.count("this program does without the pool") == 1, said)
    ensure(file.read_bytes() == b"x" * 300000, "bytes are missing")
    note = "it may be of another version"
    ensure(note in served.said.read_text(), f"the daemon says {served.said.read_text()!r}")


def test_a_program_of_an_older_version_goes_without_a_newer_daemon(folder: Path) -> None:
    older = of_older_version(daemon.CAPTURE, folder)
    with pooled.pool(folder) as served:
        _goes_without(served, older)
        ensure(served.taken() == 0, "something was deposited")


def test_a_newer_program_goes_without_an_older_daemon(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = of_older_version(daemon.DAEMON, folder)
    monkeypatch.setattr(daemon, "DAEMON", older)
    with pooled.pool(folder) as served:
        _goes_without(served, daemon.CAPTURE)
        done = forebay("pool", "status", "--socket", served.socket, cwd=folder)
        ensure(done.returncode == 1, done.stdout)
        ensure("another version" in done.stderr, done.stderr)
        told = ("pool", "status", "--format", "openmetrics", "--socket", served.socket)
        done = forebay(*told, cwd=folder)
        ensure(done.returncode == 1, done.stdout)


def test_programs_of_two_versions_see_each_others_bytes(folder: Path) -> None:
    """The older one read zeros, and its write was lost when the pool was drained later."""
    older = of_older_version(daemon.CAPTURE, folder)
    with pooled.pool(folder, pooled.KEPT) as served:
        file = served.folder / "file"
        words: list[str | Path] = [sys.executable, "-c", HOLDER, file]
        with subprocess.Popen(
            words,
            env={**os.environ, **served.environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as holder:
            ensure(holder.stdout is not None and holder.stdout.readline() == "ready\n", "no start")
            environment = {**served.environment(), "LD_PRELOAD": str(older)}
            pooled.run([sys.executable, "-c", OTHER, file], served.folder, environment)
            holder.communicate("\n")
        ensure(served.taken() > 0, "nothing was deposited")
    ensure(file.read_bytes() == b"2" * 1000 + b"1" * 299000, "bytes are lost")
