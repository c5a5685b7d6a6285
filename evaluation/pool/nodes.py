"""Measures the cost of daemons on other nodes: the same loads with one, two and four daemons of a
job, which stand for nodes, on one machine."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from evaluation.pool.places import chosen_places, drop_caches, tmpfs
from evaluation.pool.runs import BUILD, Programs, ratio_of, run_in
from evaluation.tables import TextTable
from forebay.common.model.frozen import frozen
from forebay.pool.files.fleet import put_together

MIB = 1 << 20
DAEMONS = (1, 2, 4)
OPENS = 2000
STARTING_S = 0.2
PLAIN = 0
"""The number of daemons that stands for a run without a pool."""
NODES, SHARED_BYTES = 4, 256 * MIB
READERS = (PLAIN, -1, 1, 2)
"""Values of pool_readers; PLAIN stands for no pool, -1 for a pool in which each node reads all
that it needs itself."""


@frozen
class Fleet:
    """Daemons that know each other, and the environments in which programs find each of them."""

    processes: tuple[subprocess.Popen[str], ...]
    environments: tuple[Mapping[str, str], ...]

    def end(self) -> list[Mapping[str, Any]]:
        """Ends all of them at once, which drains them, and returns their reports."""
        for one in self.processes:
            one.terminate()
        reports = [one.communicate()[0] for one in self.processes]
        if len(reports) == 1:
            return [json.loads(text.splitlines()[-1]) for text in reports if text]
        lines = [line for text in reports for line in text.splitlines()]
        return [json.loads(line) for line in put_together(lines)]


@contextlib.contextmanager
def fleet(count: int, at: Path, **settings: str) -> Iterator[Fleet]:
    """Starts `count` daemons. Those that have not ended at exit are killed."""
    variables = {f"FOREBAY_{key.upper()}": value for key, value in settings.items()}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        processes = []
        for node in range(count):
            socket = folder / str(node) / "s"
            job = ["--node", str(node), "--nodes", str(count), "--host", "127.0.0.1"]
            process = subprocess.Popen(
                [BUILD / "lib" / "forebayd", "--socket", socket, *(job if count > 1 else [])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **variables},
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            processes.append(process)
        _introduce(processes)
        environments = [
            {
                "LD_PRELOAD": str(BUILD / "lib" / "libforebay_posix.so"),
                "FOREBAY_POOL_SOCKET": str(folder / str(node) / "s"),
                "FOREBAY_POOL_PATHS": str(at.resolve()),
            }
            for node in range(count)
        ]
        yield Fleet(processes=tuple(processes), environments=tuple(environments))


def _introduce(processes: Sequence[subprocess.Popen[str]]) -> None:
    ready = [json.loads(_line_of(one)) for one in processes]
    if len(processes) == 1:
        return
    said = {
        "schema": "forebay.pool.peers/1",
        "secret": secrets.token_hex(32),
        "addresses": [one["address"] for one in ready],
    }
    for one in processes:
        if one.stdin:
            one.stdin.write(json.dumps(said) + "\n")
            one.stdin.flush()
    for one in processes:
        _line_of(one)


def _line_of(process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise RuntimeError("forebayd did not start. Run `make build`.")
    return line


def _run(programs: Programs, words: Sequence[str], at: Path, daemons: int) -> tuple[float, ...]:
    """The numbers that the load printed, and the seconds until all was on the file system."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=at))).resolve()
        through = stack.enter_context(fleet(daemons, folder)) if daemons != PLAIN else None
        os.sync()
        begin = time.monotonic()
        done = subprocess.run(
            [programs.loads, words[0], folder, *words[1:]],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **(through.environments[0] if through else {})},
        )
        if through:
            through.end()
        told = json.loads(done.stdout.splitlines()[-1])
        return (*told.values(), time.monotonic() - begin)


def _in_turn(
    programs: Programs, words: Sequence[str], at: Path, ways: Sequence[int], times: int
) -> dict[int, list[tuple[float, ...]]]:
    """Runs each number of daemons `times` times, in random order."""
    found: dict[int, list[tuple[float, ...]]] = {way: [] for way in ways}
    for _ in range(times):
        for way in random.sample(ways, len(ways)):
            found[way].append(_run(programs, words, at, way))
    return found


def opens(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Microseconds to open a file that the node does not know, and those of plain messages."""
    ways: dict[str, Callable[[], tuple[float, float]]] = {}
    with tmpfs() as place:
        for count in (PLAIN, *DAEMONS):
            ways[_through(count)] = partial(_opened, programs, place.folder, count)
        for kind, name in (("unix", UNIX), ("tcp", "TCP on this machine")):
            ways[_message(name)] = partial(_told, programs, f"{kind}_", "alone")
        for others in (one - 1 for one in DAEMONS if one > 1):
            ways[_passed_on(others)] = partial(_told, programs, "", "passed", str(others))
        idle: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        busy: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(chosen.pairs):
            for name in random.sample(list(ways), len(ways)):
                idle[name].append(ways[name]())
                with busy_cores():
                    busy[name].append(ways[name]())
    return TextTable(
        title=f"Files that are made and opened on tmpfs, {chosen.pairs} times {OPENS}",
        header=("through", "p50, us", "p90, us", "p50 beside busy cores, us", "p90, us"),
        rows=tuple(
            (name, *(f"{median(one[i] for one in runs[name]):.1f}" for runs in (idle, busy)
                     for i in (0, 1)))
            for name in ways
        ),
    )  # fmt: skip


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    """Keeps every core busy, as a computing program does."""
    with contextlib.ExitStack() as stack:
        for core in os.sched_getaffinity(0):
            process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(process.wait)
            stack.callback(process.kill)
            os.sched_setaffinity(process.pid, {core})
        time.sleep(STARTING_S)
        yield


UNIX = "a Unix socket"


def _through(daemons: int) -> str:
    return {PLAIN: "plain", 1: "one daemon"}.get(daemons, f"{daemons} daemons")


def _message(over: str) -> str:
    return f"(a message and its answer over {over})"


def _passed_on(others: int) -> str:
    among = "another process" if others == 1 else f"one of {others} other processes"
    return _message(f"{UNIX}, passed on to {among} by TCP")


def _opened(programs: Programs, at: Path, daemons: int) -> tuple[float, float]:
    """Microseconds to open a file, p50 and p90."""
    p50, p90, _ = _run(programs, ["opens", str(OPENS)], at, daemons)
    return p50 / 1e3, p90 / 1e3


def _told(programs: Programs, kind: str, word: str, *words: str) -> tuple[float, float]:
    command = [str(programs.messages), word, str(OPENS), *words]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return told[f"{kind}p50_ns"] / 1e3, told[f"{kind}p90_ns"] / 1e3


def nodes(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """The output of one node's program, with idle daemons of other nodes."""
    rows = []
    words = ["burst", "2", "10", str(64 * MIB), str(chosen.compute)]
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            found = _in_turn(programs, words, place.folder, DAEMONS, chosen.pairs)
        for way in DAEMONS:
            output, whole = ([one[part] for one in found[way]] for part in (0, -1))
            base_output, base_whole = ([one[part] for one in found[1]] for part in (0, -1))
            rows.append(
                (
                    name,
                    str(way),
                    f"{median(output):.3f}",
                    f"{median(whole):.2f}",
                    ratio_of(output, base_output),
                    ratio_of(whole, base_whole),
                )
            )
    return TextTable(
        title=f"2 ranks × 10 steps × 64 MiB beside other daemons, {chosen.pairs} times each",
        header=(
            "file system", "daemons", "output, s", "all written after, s",
            "output by that with one", "all written by that with one",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _read_by_all(programs: Programs, folder: Path, readers: int) -> tuple[float, float]:
    """Seconds from the programs' start to the end of the last, and MiB that the daemons read."""
    words = [str(programs.loads), "once", str(folder), "1", str(SHARED_BYTES), "cached"]
    with contextlib.ExitStack() as stack:
        through = (
            stack.enter_context(fleet(NODES, folder, pool_readers=str(max(readers, 0))))
            if readers != PLAIN
            else None
        )
        drop_caches()
        begin = time.monotonic()
        programs_of_nodes = [
            subprocess.Popen(
                words,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **(through.environments[node] if through else {})},
            )
            for node in range(NODES)
        ]
        if any([one.wait() != 0 for one in programs_of_nodes]):  # noqa: C419  all of them
            raise RuntimeError("a program could not read the file. See what it said.")
        seconds = time.monotonic() - begin
        if not through:
            return seconds, 0
        delivered = sum(one["read_ahead"] - one["read_from_nodes"] for one in through.end())
        return seconds, delivered / MIB


def readers(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """One file that a program on each of four nodes reads, in each way, in random order."""
    rows = []
    for name in chosen.on:
        found: dict[int, list[tuple[float, float]]] = {way: [] for way in READERS}
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(chosen_places(programs.slow_fs, chosen)[name]())
            text = stack.enter_context(tempfile.TemporaryDirectory(dir=place.folder))
            folder = Path(text).resolve()
            run_in(programs, ["transfers", "1", str(SHARED_BYTES), str(MIB), "sequential",
                       "write"], folder, None)  # fmt: skip
            for _ in range(chosen.pairs):
                for way in random.sample(READERS, len(READERS)):
                    found[way].append(_read_by_all(programs, folder, way))
        alone = [one[0] for one in found[-1]]
        for way in READERS:
            seconds = [one[0] for one in found[way]]
            rows.append(
                (
                    name,
                    {PLAIN: "plain", -1: "pool, each node"}.get(way, f"pool, {way} of {NODES}"),
                    f"{median(seconds):.2f}",
                    "1" if way == -1 else ratio_of(alone, seconds),
                    "–" if way == PLAIN else f"{median(one[1] for one in found[way]):.0f}",
                )
            )
    return TextTable(
        title=f"A file of 256 MiB, read on each of {NODES} nodes, {chosen.pairs} times",
        header=(
            "file system", "who reads it there", "s", "as fast as each node for itself",
            "MiB that daemons read",
        ),
        rows=tuple(rows),
    )  # fmt: skip
