"""Measures what programs gain by the mount that no preloaded library can capture."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from statistics import median

from evaluation.mount.costs import plain
from evaluation.mount.languages import OutputProgram, outputs
from evaluation.mount.served import served
from evaluation.pool.places import Place, chosen_places, tmpfs
from evaluation.pool.runs import Programs, blocks_of, ratio_of
from evaluation.program_run import run_program
from evaluation.tables import TextTable
from forebay.common.model.frozen import frozen

MIB = 1 << 20
EXPOSED_S_MIN = 1e-3
"""A smaller difference, which two runs without any output may have as well, counts as this."""


@frozen
class OutputAmount:
    """Outputs of a program, their size, and milliseconds of computing between them."""

    steps: int
    mebibytes: int
    compute_ms: int

    @property
    def words(self) -> tuple[str, str, str]:
        return str(self.steps), str(self.mebibytes), str(self.compute_ms)


def fast(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """The exposed time of output: what a program takes longer than the same program that writes to
    /dev/null, in the same block of runs. Plain, through the mount, and plain in memory."""
    amount = OutputAmount(steps=chosen.steps, mebibytes=chosen.mebibytes, compute_ms=chosen.compute)
    rows = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made, tmpfs() as memory:
        found, left_out = outputs(Path(made), amount.mebibytes)
        for name in left_out:
            print(f"left out: {name}", file=sys.stderr)
        known = chosen_places(programs.slow_fs, chosen)
        for name in chosen.on:
            with known[name]() as place:
                for one in found:
                    if chosen.only in one.name:
                        rows.append(_row(one, name, (place, memory), amount, chosen.pairs))
                        print(" | ".join(rows[-1]), file=sys.stderr)
    return TextTable(
        title=f"{amount.steps} outputs of {amount.mebibytes} MiB with {amount.compute_ms / 1000:g} "
        f"s of computing between, {chosen.pairs} pairs: seconds in output",
        header=(
            "program", "file system", "plain", "mount", "plain by mount", "asked",
            "the limit: page cache (tmpfs)", "mount by this limit",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _row(
    one: OutputProgram, name: str, at: tuple[Place, Place], amount: OutputAmount, pairs: int
) -> tuple[str, ...]:
    place, memory = at
    ways = [
        partial(_silent, one, amount),
        partial(_written, one, amount, place.folder, through=plain),
        partial(_written, one, amount, place.folder, through=served),
        partial(_written, one, amount, memory.folder, through=plain),
    ]
    alone, mounted, cached = exposed(blocks_of(ways, pairs))
    return (
        one.name,
        name,
        *(f"{median(times):.3f}" for times in (alone, mounted)),
        ratio_of(alone, mounted),
        one.asked,
        f"{median(cached):.3f}",
        ratio_of(mounted, cached),
    )


def exposed(blocks: Sequence[Sequence[float]]) -> tuple[list[float], ...]:
    """For each way but the first, which writes nothing, the seconds of each block that it takes
    longer than that; at least EXPOSED_S_MIN."""
    return tuple(
        [max(block[way] - block[0], EXPOSED_S_MIN) for block in blocks]
        for way in range(1, len(blocks[0]))
    )


def _silent(one: OutputProgram, amount: OutputAmount) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return _seconds(one, amount, Path(os.devnull), Path(folder))


def _written(
    one: OutputProgram,
    amount: OutputAmount,
    at: Path,
    *,
    through: Callable[[Path], AbstractContextManager[None]],
) -> float:
    """Seconds of the program in a new folder. Raises RuntimeError if not all bytes are there when
    the mount is gone."""
    with tempfile.TemporaryDirectory(dir=at) as made:
        folder = Path(made).resolve()
        os.sync()
        with through(folder):
            took = _seconds(one, amount, folder / "out", folder)
        found = sum(path.stat().st_size for path in folder.iterdir())
        if found != amount.steps * amount.mebibytes * MIB:
            raise RuntimeError(f"{one.name} left {found} bytes in {folder}.")
    return took


def _seconds(one: OutputProgram, amount: OutputAmount, target: Path, folder: Path) -> float:
    return run_program(one.name, [*one.command, target, *amount.words], at=folder).seconds
