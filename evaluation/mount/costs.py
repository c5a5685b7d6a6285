"""Measures what everyday work costs through the mount: plain, through it, and in the page cache."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from statistics import median

from evaluation.mount.databases import pgbench
from evaluation.mount.loads import (
    FULL,
    QUICK,
    LoadSizes,
    TimedLoad,
    asked,
    everyday,
    make_sources,
    run,
    shown,
)
from evaluation.mount.served import served
from evaluation.pool.places import Place, chosen_places, tmpfs
from evaluation.pool.runs import Programs, blocks_of, ratio_of
from evaluation.tables import TextTable


def costs(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """A row for each load and file system. Each run has a new folder, and each that goes through
    the mount a new daemon and a new mount over it. These are there before the clock starts, so the
    times are those of the work alone; draining and unmounting follow after it has stopped."""
    rows = []
    sizes = QUICK if chosen.quick else FULL
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made:
        loads = _loads(chosen, sizes, Path(made))
        known = chosen_places(programs.slow_fs, chosen)
        for name in chosen.on:
            with known[name]() as place, tmpfs() as memory:
                for load in loads:
                    rows.append(_row(load, name, place, memory, chosen.pairs))
                    print(" | ".join(rows[-1]), file=sys.stderr)
    return TextTable(
        title=f"Everyday work through the mount, {chosen.pairs} pairs",
        header=(
            "work", "file system", "unit", "plain", "mount", "mount by plain, time", "asked",
            "the limit: plain in the page cache (tmpfs)", "mount by this limit, time",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _loads(chosen: argparse.Namespace, sizes: LoadSizes, folder: Path) -> tuple[TimedLoad, ...]:
    loads = everyday(sizes, make_sources(folder, sizes))
    database = pgbench(transactions=sizes.transactions)
    if database is None:
        print("left out: pgbench (no initdb, pg_ctl and pgbench in PATH)", file=sys.stderr)
    else:
        loads = (*loads, database)
    wanted = [load for load in loads if chosen.only in load.name]
    if not wanted:
        raise RuntimeError(f"No work has {chosen.only} in its name. See docs/performance/mount.md.")
    return tuple(wanted)


def _row(load: TimedLoad, name: str, place: Place, memory: Place, pairs: int) -> tuple[str, ...]:
    in_memory = name == "tmpfs"
    ways = [
        partial(timed, load, place.folder, through=plain),
        partial(timed, load, place.folder, through=served),
    ]
    if not in_memory:
        ways.append(partial(timed, load, memory.folder, through=plain))
    blocks = blocks_of(ways, pairs)
    alone, mounted = ([block[way] for block in blocks] for way in (0, 1))
    cached = alone if in_memory else [block[2] for block in blocks]
    ratio = ratio_of(mounted, alone)
    return (
        load.name,
        name,
        load.shown_in,
        *(shown(load, median(times)) for times in (alone, mounted)),
        ratio,
        asked(load, in_memory=in_memory),
        "plain" if in_memory else shown(load, median(cached)),
        ratio if in_memory else ratio_of(mounted, cached),
    )


def plain(_: Path) -> AbstractContextManager[None]:
    """Puts nothing over the folder."""
    return contextlib.nullcontext()


def timed(
    load: TimedLoad, at: Path, *, through: Callable[[Path], AbstractContextManager[None]]
) -> float:
    """The seconds of the load in a new folder below `at`, through what is put over it."""
    with tempfile.TemporaryDirectory(dir=at) as made:
        folder = Path(made).resolve()
        folder.chmod(0o755)
        load.prepare(folder)
        os.sync()
        with through(folder):
            return run(load, folder)
