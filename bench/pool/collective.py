"""Collective writes of small pieces: when they return, and when everything is written."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from bench import mpis
from bench.launch import Bench
from bench.model import (
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
from bench.pool.places import ROOT, Place, places
from bench.pool.runs import BUILD, Programs, daemon, ratio_of
from bench.suites import size_label
from bench.tables import TextTable

MIB = 1 << 20
PIECES = (256, 1024)
RANKS, TOTAL_BYTES = 4, 256 * MIB
PLAIN = tuple(stack for stack in INCUMBENTS if stack.mpi in (MPICH_402, OMPI_414))
POOLED = Stack(name="forebay+ompi414", label="pool", mpi=OMPI_414, forebay=True)


def collective(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Each block runs every stack once; ratios are those of the blocks to the best incumbent."""
    rows = []
    for name in chosen.on:
        with places(programs.slow_fs, chosen.ceph)[name]() as place:
            for piece in PIECES:
                rows += _rows(chosen, name, place, piece)
    return TextTable(
        title=f"write_all of 256 MiB by {RANKS} ranks, {chosen.pairs} blocks",
        header=(
            "file system", "pieces", "how", "returns after, s", "all written after, s",
            "best incumbent's return by its", "its all written by best incumbent's",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _rows(chosen: argparse.Namespace, name: str, place: Place, piece: int) -> list[tuple[str, ...]]:
    case = Case(
        suite="pool",
        label=size_label(piece),
        operation=Operation.WRITE,
        ranks=RANKS,
        storage=StorageKind.DISK,
        region=piece,
        total=TOTAL_BYTES,
        warm_up=0,
        repetitions=1,
        seconds_max=300,
    )
    build = ROOT / "build"
    built = {mpi.name: mpis.prepare(mpi, build=build) for mpi in (MPICH_402, OMPI_414)}
    returns: dict[str, list[float]] = {one.name: [] for one in (*PLAIN, POOLED)}
    ends: dict[str, list[float]] = {one.name: [] for one in (*PLAIN, POOLED)}
    for block in range(chosen.pairs):
        for stack in (*PLAIN, POOLED):
            sample = _measured(case, stack, block, place, built)
            one = sample.measured[0]
            returns[stack.name].append(one.call_seconds)
            ends[stack.name].append(one.call_seconds + one.sync_seconds + one.close_seconds)
    first = min(PLAIN, key=lambda one: median(returns[one.name])).name
    soonest = min(PLAIN, key=lambda one: median(ends[one.name])).name
    return [
        (
            name,
            size_label(piece),
            one.label,
            f"{median(returns[one.name]):.3f}",
            f"{median(ends[one.name]):.2f}",
            ratio_of(returns[first], returns[one.name]),
            ratio_of(ends[one.name], ends[soonest]),
        )
        for one in (*PLAIN, POOLED)
    ]


def _measured(
    case: Case, stack: Stack, block: int, place: Place, built: Mapping[str, mpis.BuiltMpi]
) -> Sample:
    limits, folders = mpis.prepare_limits(build=ROOT / "build"), {StorageKind.DISK: place.folder}
    if not stack.forebay:
        bench = Bench(mpis=built, limits_program=limits, folders=folders)
        return _fine(bench.measure(case=case, stack=stack, block=block))
    with daemon(place.folder, pool_window="1GiB", pool_cap="2GiB") as one:
        settings = dict(one.environment)
        library = Path(f"{settings.pop('LD_PRELOAD')}:{BUILD / 'lib' / 'libforebay_mpi.so'}")
        bench = Bench(
            mpis=built, limits_program=limits, folders=folders, settings=settings,
            library=library,
        )  # fmt: skip
        return _fine(bench.measure(case=case, stack=stack, block=block))


def _fine(sample: Sample) -> Sample:
    if sample.outcome is not Outcome.OK:
        raise RuntimeError(f"{sample.stack}: {sample.message}")
    return sample
