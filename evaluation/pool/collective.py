"""Collective calls with small pieces: when writes return, and when all bytes are on the file
system; the time of reads; and the gain of windows in the pool's own memory."""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

from evaluation import mpis
from evaluation.launch import Bench
from evaluation.model import (
    INCUMBENTS,
    MPICH_402,
    OMPI_414,
    Case,
    Operation,
    Outcome,
    Sample,
    Stack,
    StorageKind,
)
from evaluation.pool.places import ROOT, Place, chosen_places, drop_caches
from evaluation.pool.runs import BUILD, Programs, daemon, pairs_of, ratio_of
from evaluation.suites import size_label
from evaluation.tables import TextTable
from forebay.common.model.frozen import frozen

MIB = 1 << 20
PIECES = (256, 1024)
RANKS, TOTAL_BYTES = 4, 256 * MIB
STEADY_RANKS, STEADY_PIECE, STEADY_TOTALS = (2, 4), 1024, (64 * MIB, 256 * MIB)
STEADY_WARM_UP, STEADY_REPETITIONS = 2, 6
PLAIN = tuple(stack for stack in INCUMBENTS if stack.mpi in (MPICH_402, OMPI_414))
ONE_CALL = Case(
    suite="pool",
    label="",
    operation=Operation.WRITE,
    ranks=RANKS,
    storage=StorageKind.DISK,
    total=TOTAL_BYTES,
    warm_up=0,
    seconds_max=300,
)
POOLED = Stack(name="forebay+ompi414", label="pool", mpi=OMPI_414, forebay=True)


@frozen
class Way:
    """A stack and its kind of call. With `lends`, the windows of a stack with a pool are assembled
    in the pool's memory (pool_lends_windows)."""

    stack: Stack
    nonblocking: bool = False
    lends: bool = True

    def label(self, operation: Operation = Operation.WRITE) -> str:
        """The name in a table."""
        call = f"{'i' if self.nonblocking else ''}{operation}_all"
        return f"{self.stack.label}, {call}{'' if self.lends else ', copied twice'}"


TWICE = Way(stack=POOLED, lends=False)
CALLS = tuple(
    Way(stack=stack, nonblocking=nonblocking)
    for stack in (*PLAIN, POOLED)
    for nonblocking in (False, True)
)
WAYS = (*CALLS, TWICE)


def collective(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Each block runs every way once; ratios are those within blocks."""
    return TextTable(
        title=f"write_all and iwrite_all with a wait of 256 MiB by {RANKS} ranks, "
        f"{chosen.pairs} blocks",
        header=(
            "file system", "pieces", "how", "returns after, s", "all written after, s",
            "best incumbent's return by its", "its all written by best incumbent's",
            "its write_all's return by its", "return of the pool that copies twice by its",
        ),
        rows=_on_each(programs, chosen, _rows),
    )  # fmt: skip


def windows(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Writes one file again and again: windows are in the aggregator's own memory and are copied
    into the pool, or they are in the pool's memory. Warm-up calls, which touch memory for the first
    time, do not count.
    """
    built = {OMPI_414.name: mpis.prepare(OMPI_414, build=ROOT / "build")}
    rows = []
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            for ranks in STEADY_RANKS:
                for total in STEADY_TOTALS:
                    case = _steady(total, ranks)
                    twice = partial(_median, case, TWICE, place, built)
                    once = partial(_median, case, Way(stack=POOLED), place, built)
                    done = pairs_of(twice, once, chosen.pairs)
                    copy = _memcpy_seconds(total, ranks)
                    rows.append((name, str(ranks), size_label(total), *_beside(done, copy)))
    return TextTable(
        title=f"write_all of 1 KiB pieces into the pool, milliseconds: median of "
        f"{STEADY_REPETITIONS} calls behind {STEADY_WARM_UP} that do not count; of {chosen.pairs} "
        "pairs of programs",
        header=(
            "file system", "ranks", "of", "copied twice", "windows in the pool", "ratio",
            "a memcpy of all", "ratio that saving one memcpy makes",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def nonblocking(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Writes one file again and again, by blocking and by nonblocking calls."""
    built = {OMPI_414.name: mpis.prepare(OMPI_414, build=ROOT / "build")}
    rows = []
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            for ranks in STEADY_RANKS:
                for piece in PIECES:
                    case = replace(_steady(64 * MIB, ranks), region=piece)
                    first, second = Way(stack=POOLED), Way(stack=POOLED, nonblocking=True)
                    waits = partial(_median, case, first, place, built)
                    goes_on = partial(
                        _median, replace(case, nonblocking=True), second, place, built
                    )
                    done = pairs_of(waits, goes_on, chosen.pairs)
                    own = [[pair[at] for pair in done] for at in range(2)]
                    times = [f"{median(one) * 1e3:.1f}" for one in own]
                    rows.append((name, str(ranks), size_label(piece), *times, ratio_of(*own)))
    return TextTable(
        title=f"64 MiB into the pool, milliseconds: median of {STEADY_REPETITIONS} calls behind "
        f"{STEADY_WARM_UP} that do not count; of {chosen.pairs} pairs of programs",
        header=(
            "file system", "ranks", "pieces", "write_all", "iwrite_all with a wait", "its speed",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def collective_reads(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Reads a file that is on the file system only, with dropped page caches."""
    return TextTable(
        title=f"read_all and iread_all with a wait of 256 MiB by {RANKS} ranks, "
        f"{chosen.pairs} blocks",
        header=(
            "file system", "pieces", "how", "s", "best incumbent's by its", "its read_all's by its",
        ),
        rows=_on_each(programs, chosen, _read_rows),
    )  # fmt: skip


def _on_each(
    programs: Programs,
    chosen: argparse.Namespace,
    rows_of: Callable[[argparse.Namespace, str, Place, int], list[tuple[str, ...]]],
) -> tuple[tuple[str, ...], ...]:
    """The rows for every file system and size of pieces."""
    rows: list[tuple[str, ...]] = []
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            for piece in PIECES:
                rows += rows_of(chosen, name, place, piece)
    return tuple(rows)


def _read_rows(
    chosen: argparse.Namespace, name: str, place: Place, piece: int
) -> list[tuple[str, ...]]:
    built = {mpi.name: mpis.prepare(mpi, build=ROOT / "build") for mpi in (MPICH_402, OMPI_414)}
    seconds: dict[Way, list[float]] = {way: [] for way in CALLS}
    with tempfile.TemporaryDirectory(dir=place.folder) as folder:
        kept = Path(folder).resolve() / "file"
        first = Way(stack=PLAIN[0])
        _measured(_case(piece, first), first, 0, place, built, kept)
        for _ in range(chosen.pairs):
            for way in random.sample(CALLS, len(CALLS)):
                drop_caches()
                case = replace(_case(piece, way), operation=Operation.READ)
                sample = _measured(case, way, 0, place, built, kept)
                if sample.outcome is Outcome.OK:
                    seconds[way].append(sample.measured[0].call_seconds)
                else:
                    _complain(way, sample)
    whole = [way for way in CALLS if len(seconds[way]) == chosen.pairs]
    plain = [way for way in whole if way.stack in PLAIN]
    best = min(plain, key=lambda way: median(seconds[way]))
    return [
        (
            name,
            size_label(piece),
            way.label(Operation.READ),
            f"{median(seconds[way]):.3f}",
            ratio_of(seconds[best], seconds[way]),
            ratio_of(seconds[Way(stack=way.stack)], seconds[way]),
        )
        for way in whole
    ]


def _beside(pairs: list[tuple[float, float]], copy: float) -> tuple[str, ...]:
    twice, once = [one for one, _ in pairs], [other for _, other in pairs]
    most = 1 + copy / median(once)
    milliseconds = [f"{seconds * 1e3:.1f}" for seconds in (median(twice), median(once), copy)]
    return (*milliseconds[:2], ratio_of(twice, once), milliseconds[2], f"{most:.2f}")


def _memcpy_seconds(total: int, threads: int, *, times: int = 5) -> float:
    """Seconds to copy `total` bytes with `threads` threads, between warm buffers."""
    source, target = (ctypes.create_string_buffer(total) for _ in range(2))
    ctypes.memset(source, 1, total)
    share = total // threads

    def copy(number: int) -> None:
        at = number * share
        ctypes.memmove(ctypes.addressof(target) + at, ctypes.addressof(source) + at, share)

    def once(pool: ThreadPoolExecutor) -> float:
        begin = time.perf_counter()
        list(pool.map(copy, range(threads)))
        return time.perf_counter() - begin

    with ThreadPoolExecutor(threads) as pool:
        once(pool)
        return median(once(pool) for _ in range(times))


def _steady(total: int, ranks: int) -> Case:
    return replace(
        ONE_CALL,
        label=size_label(total),
        ranks=ranks,
        region=STEADY_PIECE,
        total=total,
        warm_up=STEADY_WARM_UP,
        repetitions=STEADY_REPETITIONS,
    )


def _median(case: Case, way: Way, place: Place, built: Mapping[str, mpis.BuiltMpi]) -> float:
    sample = _measured(case, way, 0, place, built)
    if sample.outcome is not Outcome.OK:
        _complain(way, sample)
    return median([one.call_seconds for one in sample.measured])


def _rows(chosen: argparse.Namespace, name: str, place: Place, piece: int) -> list[tuple[str, ...]]:
    build = ROOT / "build"
    built = {mpi.name: mpis.prepare(mpi, build=build) for mpi in (MPICH_402, OMPI_414)}
    returns: dict[Way, list[float]] = {way: [] for way in WAYS}
    ends: dict[Way, list[float]] = {way: [] for way in WAYS}
    crashed: set[Way] = set()
    for block in range(chosen.pairs):
        for way in WAYS:
            sample = _measured(_case(piece, way), way, block, place, built)
            if sample.outcome is not Outcome.OK:
                _complain(way, sample)
                crashed.add(way)
                continue
            one = sample.measured[0]
            returns[way].append(one.call_seconds)
            ends[way].append(one.call_seconds + one.sync_seconds + one.close_seconds)
    plain = [way for way in WAYS if way.stack in PLAIN and way not in crashed]
    first = min(plain, key=lambda way: median(returns[way]))
    soonest = min(plain, key=lambda way: median(ends[way]))
    return [
        (
            name,
            size_label(piece),
            way.label(),
            f"{median(returns[way]):.3f}",
            f"{median(ends[way]):.2f}",
            ratio_of(returns[first], returns[way]),
            ratio_of(ends[way], ends[soonest]),
            ratio_of(returns[Way(stack=way.stack)], returns[way]),
            ratio_of(returns[TWICE], returns[way]) if way.stack == POOLED else "",
        )
        for way in WAYS
        if way not in crashed
    ]


def _complain(way: Way, sample: Sample) -> None:
    """Reports a failed launch. With the pool, it is an error; an MPI alone may fail."""
    if way.stack == POOLED:
        raise RuntimeError(f"{way.label()}: {sample.message}")
    print(
        f"{way.stack.label}, {sample.case} is left out: {sample.message.splitlines()[0]}",
        file=sys.stderr,
    )


def _case(piece: int, way: Way) -> Case:
    return replace(ONE_CALL, label=size_label(piece), region=piece, nonblocking=way.nonblocking)


def _measured(
    case: Case,
    way: Way,
    block: int,
    place: Place,
    built: Mapping[str, mpis.BuiltMpi],
    kept: Path | None = None,
) -> Sample:
    stack = way.stack
    limits, folders = mpis.prepare_limits(build=ROOT / "build"), {StorageKind.DISK: place.folder}
    if not stack.forebay:
        bench = Bench(mpis=built, limits_program=limits, folders=folders, kept=kept)
        return bench.measure(case=case, stack=stack, block=block)
    with daemon(place.folder, pool_window="1GiB", pool_cap="2GiB") as one:
        settings = {**one.environment, "FOREBAY_POOL_LENDS_WINDOWS": str(way.lends).lower()}
        library = Path(f"{settings.pop('LD_PRELOAD')}:{BUILD / 'lib' / 'libforebay_mpi.so'}")
        bench = Bench(
            mpis=built, limits_program=limits, folders=folders, settings=settings,
            library=library, kept=kept,
        )  # fmt: skip
        return bench.measure(case=case, stack=stack, block=block)
