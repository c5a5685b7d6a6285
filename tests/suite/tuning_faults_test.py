"""Probing where something goes wrong: each time it says what happened and what to do, keeps to its
budget, and leaves no files or knows those that it leaves."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Literal

import pytest

from suite import mpi as m
from suite.file_systems import mounted_tmpfs, served_file_system, until
from suite.on import BENCHMARK, FULL
from suite.prober import (
    RANKS,
    SECONDS,
    SECONDS_MAX,
    Prober,
    can_end,
    children,
    is_there,
    state,
    unprivileged,
)
from suite.quota import KINDS, Kind
from suite.striping import striped_file_system
from suite.verdict import ensure

MIB = 1 << 20
LITTLE_SECONDS = 60
"""Seconds that an end may take beyond the budget: a launcher is given time, and so is the file
system."""


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_directory_that_may_not_be_written(folder: Path) -> None:
    prober = unprivileged(folder)
    where = folder / "roots"
    where.mkdir(mode=0o555)
    said = prober.run(prober.words(where), status=1)
    ensure("may not be written" in said and "directory of your own" in said, said)
    ensure(not prober.journal.exists() and names(where) == [], "something was left")


REAL_QUOTAS = ("ext4", "btrfs")


@pytest.mark.parametrize("kind", [pytest.param(KINDS[name], id=name) for name in REAL_QUOTAS])
@FULL
def test_quota_of_100_megabytes(kind: Kind, folder: Path) -> None:
    """The user has a little of the quota left, in which no probe fits, and then all for small ones:
    the estimate names the quota."""
    prober = unprivileged(folder)
    with kind(prober.folder, 100 * MIB) as limited, m.cores(m.MPICH, RANKS):
        mine = limited.folder / "mine"
        mine.write_bytes(bytes(90 * MIB))
        os.chown(mine, limited.folder.stat().st_uid, -1)
        os.sync()
        words = prober.words(limited.folder, "--bytes", "960m")
        said = prober.run(words, status=1)
        ensure("budget is too small" in said and "quota" in said and "make room" in said, said)
        ensure(names(limited.folder) == ["mine"], "files were left")
        ensure(not prober.journal.exists(), "there is a journal of nothing")
        mine.unlink()
        os.sync()
        said = prober.run(words, status=0)
        ensure("The limit of bytes is --share, 100% of what is left of the" in said, said)
        ensure("Disk quota exceeded" not in said, said)
        ensure(names(limited.folder) == [], "files were left")


@FULL
def test_quota_that_is_reached_in_the_middle(folder: Path) -> None:
    """By something else of the same user; the same command goes on once that is gone."""
    prober = unprivileged(folder)
    with KINDS["btrfs"](prober.folder, 100 * MIB) as limited, m.cores(m.MPICH, RANKS):
        words = prober.words(limited.folder, "--bytes", "90m")
        with prober.started(words) as (process, errors):
            prober.await_probes(process, 3)
            ended = until(lambda: fills_again(limited.folder / "mine", process), SECONDS_MAX)
            ensure(ended, "it goes on for ever")
        said = errors.read_text()
        ensure(process.returncode == 1 and "Disk quota exceeded" in said, said)
        ensure("--resume" in said and "Traceback" not in said, said)
        ensure(names(limited.folder) == ["mine"], "files were left")
        (limited.folder / "mine").unlink()
        os.sync()
        prober.run(resumed(words), status=0)
        ensure(names(limited.folder) == [] and not prober.journal.exists(), "something was left")


def fills_again(path: Path, process: subprocess.Popen[bytes]) -> bool:
    """Fills the quota again; whether the prober has ended. The room of removed probes counts until
    the file system has looked."""
    os.sync()
    fill(path, mode="ab")
    return process.poll() is not None


@FULL
def test_quota_that_nothing_tells_of(folder: Path) -> None:
    """It lets the launcher be tried, and no probe."""
    prober = Prober(folder=folder)
    with KINDS["pretended"](folder, 128 << 10) as limited, m.cores(m.MPICH, RANKS):
        words = prober.words(limited.folder, "--bytes", "62m")
        said = prober.run(words, status=1)
        ensure("Disk quota exceeded" in said and "--resume" in said, said)
        ensure(len(prober.discarded()) == prober.measured() > 0, "what was not written counts")
        ensure(names(limited.folder) == [], "files were left")
        limited.lift()
        prober.run(resumed(words), status=0)
        ensure(names(limited.folder) == [] and not prober.journal.exists(), "something was left")


def resumed(words: list[str]) -> list[str]:
    """The same command, going on."""
    at = words.index("--")
    return [*words[:at], "--resume", *words[at:]]


@FULL
def test_disk_that_fills_in_the_middle(folder: Path) -> None:
    prober = Prober(folder=folder)
    with mounted_tmpfs(folder / "disk", "64m") as disk, m.cores(m.MPICH, RANKS):
        words = prober.words(disk, "--bytes", "62m")
        with prober.started(words) as (process, errors):
            prober.await_probes(process, 3)
            fill(disk / "stranger")
            ensure(until(lambda: process.poll() is not None, SECONDS_MAX), "it goes on for ever")
        said = errors.read_text()
        ensure(process.returncode == 1 and "No space left on device" in said, said)
        ensure("--resume" in said and "Traceback" not in said, said)
        ensure(names(disk) == ["stranger"], "files were left")
        (disk / "stranger").unlink()
        prober.run(resumed(words), status=0)
        ensure(names(disk) == [] and not prober.journal.exists(), "something was left")


def fill(path: Path, mode: Literal["wb", "ab"] = "wb") -> None:
    """Until there is no space for one byte."""
    with path.open(mode, buffering=0) as file:
        for size in (MIB, 4096, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


@FULL
@BENCHMARK
def test_file_system_that_hangs(mpi: m.Mpi, folder: Path) -> None:
    prober = Prober(folder=folder, launcher=mpi.start(RANKS, {}))
    slow = ("500", "200e6")
    with served_file_system(folder, "slow_fs.c", *slow) as (mount, server), m.cores(mpi, RANKS):
        words = prober.words(mount, "--bytes", "200m")
        seen: set[int] = set()

        def is_over() -> bool:
            seen.update(children(process.pid))
            return process.poll() is not None

        with prober.started(words) as (process, errors):
            prober.await_probes(process, 3)
            server.send_signal(signal.SIGSTOP)
            try:
                began = time.monotonic()
                ensure(until(is_over, SECONDS_MAX), "it waits for ever")
                took = time.monotonic() - began
                ensure(until(lambda: not any(map(can_end, seen)), 60), "processes were left")
            finally:
                server.send_signal(signal.SIGCONT)
        said = errors.read_text()
        ensure(process.returncode == 1 and "Traceback" not in said, said)
        ensure(took < SECONDS + LITTLE_SECONDS, f"{took:.0f} s")
        ensure(f"the file system of {mount} hangs" in said and "--clean" in said, said)
        ensure(until(lambda: not any(map(is_there, seen)), 180), "processes were left")
        ensure(names(mount) != [], "who has removed the files?")
        prober.run(prober.forebay("probe", "--clean", "-o", str(prober.portrait)), status=0)
        ensure(names(mount) == [] and not prober.journal.exists(), "something was left")


@FULL
def test_file_system_that_hangs_from_the_beginning(folder: Path) -> None:
    prober = Prober(folder=folder)
    with served_file_system(folder, "slow_fs.c", "500", "200e6") as (mount, server):
        server.send_signal(signal.SIGSTOP)
        try:
            said = prober.run(prober.words(mount), status=1)
        finally:
            server.send_signal(signal.SIGCONT)
        ensure(f"the file system of {mount} hangs" in said, said)
        ensure(names(mount) == [] and not prober.journal.exists(), "something was left")


# As a batch system that has fewer places than were asked for.
SHORT_LAUNCHER = """#!/bin/sh
shift 2
exec {launcher} -n 1 "$@"
"""


def test_launcher_that_gives_fewer_ranks(folder: Path) -> None:
    launcher = folder / "mpiexec"
    launcher.write_text(SHORT_LAUNCHER.format(launcher=m.MPICH.launcher))
    launcher.chmod(0o755)
    where = folder / "where"
    where.mkdir()
    prober = Prober(folder=folder, launcher=(str(launcher), "-n", "2"))
    said = prober.run(prober.words(where), status=1)
    ensure("1 of 2 ranks" in said and "Ask for as many as it has" in said, said)
    ensure(names(where) == [] and not prober.journal.exists(), "something was left")


@BENCHMARK
def test_rank_that_dies(mpi: m.Mpi, folder: Path) -> None:
    """One probe is lost, and told; the others make a portrait."""
    where = folder / "where"
    where.mkdir()
    prober = Prober(folder=folder, launcher=mpi.start(RANKS, {}))
    with m.cores(mpi, RANKS):
        words = prober.words(where, "--bytes", "120m", "--seconds", "100")
        with prober.started(words) as (process, errors):
            prober.await_probes(process, 3)

            def has_died() -> bool:  # it may have done its work when it was killed: then the next
                if "forebay-ior failed with status" in errors.read_text():
                    return True
                kill_a_rank(process.pid)
                return process.poll() is not None

            ensure(until(has_died, SECONDS_MAX), "there is no rank")
            ensure(until(lambda: process.poll() is not None, SECONDS_MAX), "it waits for ever")
    said = errors.read_text()
    ensure(process.returncode == 0 and "Traceback" not in said, said)
    told = prober.portrait.read_text()
    ensure("forebay-ior failed with status" in told and "left out" in told, said)
    ensure(names(where) == [] and not prober.journal.exists(), "something was left")


def kill_a_rank(parent: int) -> None:
    for pid in children(parent):
        with contextlib.suppress(OSError):
            is_rank = Path(f"/proc/{pid}/comm").read_text().startswith("forebay-ior")
            if is_rank and state(pid) not in "ZX":
                os.kill(pid, signal.SIGKILL)
                return


def test_layout_that_is_refused(folder: Path) -> None:
    """By a file system whose directories have no layouts, for a program that sets none itself."""
    prober = Prober(folder=folder)
    probing = ("probe", "--simulate", "tsubame-2.5-thin", "--formulas", "-o", "model.toml")
    prober.run(prober.forebay(*probing), status=0)
    words = ("--ranks", "2", "--bytes", "64g", "-o", "advice.json")
    prober.run(prober.forebay("advise", "--portrait", "model.toml", *words), status=0)
    program = [*m.MPICH.start(RANKS, {}), str(m.LIBRARIES / "mpich" / "forebay-ior")]
    ior = ("-w", "-k", "-t", "64k", "-b", "1m", "-o", "{out}/f")
    with striped_file_system(folder) as mount, m.cores(m.MPICH, RANKS):
        where = ("advice.json", "--output-dir", str(mount))
        said = prober.run(prober.forebay("apply", *where, "--", *program, *ior), status=5)
        ensure("not seen to take effect (cannot set lustre.lov" in said, said)
        ensure("layout of f: " in said and "was asked for, it is 1 stripes" in said, said)
        ensure(names(mount) == ["f"], "the program's file is gone")
