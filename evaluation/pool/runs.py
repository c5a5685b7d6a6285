"""Runs the loads, plain and through a pool, in pairs."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from evaluation.pool.places import ROOT
from evaluation.program_run import run_program
from forebay.common.model.estimate import paired_ratio
from forebay.common.model.frozen import frozen

BUILD = ROOT / "build" / "release"
OWN_BUILD = {"PYTHONPATH": str(ROOT / "python"), "FOREBAY_LIBDIR": str(BUILD / "lib")}
"""Variables with which `python -m forebay` is this work tree's."""
T = TypeVar("T")


@frozen
class Programs:
    """The compiled programs of the evaluation."""

    loads: Path
    messages: Path
    synced_writes: Path
    slow_fs: Path


@frozen
class Run:
    """One run: the numbers that the load printed, and the seconds until all was written."""

    told: Mapping[str, float]
    whole_s: float


def build(folder: Path) -> Programs:
    """Compiles the programs into `folder`."""
    names = ("loads", "messages", "synced_writes", "slow_fs")
    loads, messages, synced, slow_fs = (folder / name for name in names)
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "fuse3"], check=True, capture_output=True, text=True
    ).stdout.split()
    for program in (loads, messages, synced):
        source = ROOT / "evaluation" / "pool" / f"{program.name}.c"
        subprocess.run(["cc", "-O2", "-o", program, source, "-lpthread"], check=True)
    slow = ROOT / "tests" / "mpi" / "slow_fs.c"
    words = ["cc", "-O2", "-D_FILE_OFFSET_BITS=64", "-o", str(slow_fs), str(slow)]
    words += [*flags, "-lpthread"]
    subprocess.run(words, check=True)
    return Programs(loads=loads, messages=messages, synced_writes=synced, slow_fs=slow_fs)


def run(programs: Programs, words: Sequence[str], at: Path, pool: Mapping[str, str] | None) -> Run:
    """Runs a load in a new folder below `at`. `pool` has the settings of a pool, which is drained
    at the end; None for no pool."""
    with tempfile.TemporaryDirectory(dir=at) as folder:
        return run_in(programs, words, Path(folder).resolve(), pool)


def run_in(
    programs: Programs, words: Sequence[str], folder: Path, pool: Mapping[str, str] | None
) -> Run:
    """As `run`, in this folder, which keeps its files."""
    load = [str(programs.loads), words[0], str(folder), *words[1:]]
    command = load if pool is None else [*_through(folder, pool), "--", *load]
    os.sync()
    done = run_program(shlex.join(command), command, more=OWN_BUILD)
    return Run(told=json.loads(done.output.splitlines()[-1]), whole_s=done.seconds)


def _through(folder: Path, pool: Mapping[str, str]) -> list[str]:
    settings = [word for key, value in pool.items() for word in ("--set", f"{key}={value}")]
    front = [sys.executable, "-m", "forebay", "run", "--pool", str(folder), *settings]
    return [*front, "--format", "json", "--summary", os.devnull]


@frozen
class Daemon:
    """A daemon that no `forebay run` has started."""

    process: int
    environment: Mapping[str, str]
    """The variables that let programs find the daemon."""


@contextlib.contextmanager
def daemon(at: Path, **settings: str) -> Iterator[Daemon]:
    """Starts a daemon for files below `at`, and drains and ends it at exit."""
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "socket"
        more = {f"FOREBAY_{key.upper()}": value for key, value in settings.items()}
        process = subprocess.Popen(
            [BUILD / "lib" / "forebayd", "--socket", socket],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **more},
        )
        try:
            if not process.stdout or not process.stdout.readline():
                raise RuntimeError("forebayd did not start. Run `make build`.")
            yield Daemon(
                process=process.pid,
                environment={
                    "LD_PRELOAD": str(BUILD / "lib" / "libforebay_posix.so"),
                    "FOREBAY_POOL_SOCKET": str(socket),
                    "FOREBAY_POOL_PATHS": str(at.resolve()),
                },
            )
        finally:
            process.terminate()
            process.wait()


def pairs_of(first: Callable[[], T], second: Callable[[], T], pairs: int) -> list[tuple[T, T]]:
    """Runs pairs, each in random order."""
    return [(one, two) for one, two in blocks_of((first, second), pairs)]


def blocks_of(ways: Sequence[Callable[[], T]], blocks: int) -> list[list[T]]:
    """Runs each way once per block, in random order; results are in the order of `ways`."""
    done = []
    for _ in range(blocks):
        order = random.sample(range(len(ways)), len(ways))
        found = {at: ways[at]() for at in order}
        done.append([found[at] for at in range(len(ways))])
    return done


def ratio_of(above: Sequence[float], below: Sequence[float]) -> str:
    """The paired ratio with its interval, or with minimum and maximum if there are few pairs."""
    one = paired_ratio(above, below)
    low, high = one.low or one.least, one.high or one.most
    return f"{one.estimate:.2f} [{low:.2f}, {high:.2f}]"
