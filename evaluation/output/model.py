"""Runs a model that writes its output in several ways, and compares the time that each takes."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

from evaluation.pool.places import chosen_places, tmpfs
from evaluation.pool.runs import BUILD, OWN_BUILD, blocks_of, build, ratio_of
from evaluation.program_run import run_program
from evaluation.tables import TextTable
from forebay.common.model.frozen import frozen

MIB = 1 << 20
REAL_BYTES = 8
RUN_BYTES = (16, 256, 4096, 65536, MIB)


@frozen
class ModelShape:
    """The global array of a step, and how a model runs."""

    ranks: int
    steps: int
    rows: int
    columns: int
    compute_ms: int
    divided: str = "rows"

    @property
    def words(self) -> tuple[str, ...]:
        numbers = (self.steps, self.rows, self.columns, self.compute_ms)
        return (*map(str, numbers), self.divided)


@frozen
class OutputWay:
    """A way of model.c, with or without the pool."""

    way: str
    pooled: bool

    @property
    def name(self) -> str:
        text = {
            "gather": "gather to rank 0",
            "pnetcdf": "PnetCDF, collective",
            "records": "output API, records",
            "netcdf": "output API, netCDF",
        }[self.way]
        return f"{text}, pool" if self.pooled else text


WAYS = tuple(
    OutputWay(way=way, pooled=pooled)
    for way in ("gather", "records", "pnetcdf", "netcdf")
    for pooled in (False, True)
)


def compiled(folder: Path) -> Path:
    """Compiles model.c against the libraries of the release build."""
    library = BUILD / "lib" / "openmpi"
    target = folder / "model"
    words: list[str | Path] = [
        *("mpicc.openmpi", "-std=gnu11", "-O2", f"-I{BUILD / 'lib' / 'include'}"),
        *(Path(__file__).with_name("model.c"), "-o", target, f"-L{library}"),
        *(f"-Wl,-rpath,{library}", "-lforebay_output", "-lpnetcdf"),
    ]
    subprocess.run(words, check=True)
    return target


def seconds(model: Path, shape: ModelShape, way: OutputWay, at: Path) -> Mapping[str, float]:
    """One run in a new folder: what the model printed. Raises RuntimeError if it fails."""
    with tempfile.TemporaryDirectory(dir=at) as made:
        folder = Path(made).resolve()
        launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(shape.ranks)]
        command = [*launch, str(model), way.way, str(folder / "out"), *shape.words]
        if way.pooled:
            front = [sys.executable, "-m", "forebay", "run", "--pool", str(folder)]
            command = [*front, "--summary", os.devnull, "--", *command]
        os.sync()
        output = run_program(way.name, command, more=OWN_BUILD).output
    told = [line for line in output.splitlines() if line.startswith("{")]
    found: Mapping[str, float] = json.loads(told[-1])
    return found


def steps(model: Path, chosen: argparse.Namespace) -> TextTable:
    """Seconds in output, by file system and way."""
    columns = 2048
    rows = chosen.mebibytes * MIB // (REAL_BYTES * columns)
    shape = ModelShape(
        ranks=chosen.ranks,
        steps=chosen.steps,
        rows=rows,
        columns=columns,
        compute_ms=chosen.compute,
    )
    table: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        known = chosen_places(build(Path(folder)).slow_fs, chosen)
        for name in chosen.on:
            with known[name]() as place:
                table += _rows(model, shape, name, place.folder, chosen.pairs)
    return TextTable(
        title=f"{shape.steps} steps of {chosen.mebibytes} MiB on {shape.ranks} ranks with "
        f"{shape.compute_ms / 1000:g} s of computing between, {chosen.pairs} pairs",
        header=(
            "file system", "way", "seconds in output", "the gather by this",
            "one memcpy of the patches", "this by memcpy",
        ),
        rows=tuple(table),
    )  # fmt: skip


def _rows(model: Path, shape: ModelShape, name: str, at: Path, pairs: int) -> list[tuple[str, ...]]:
    blocks = blocks_of([partial(seconds, model, shape, way, at) for way in WAYS], pairs)
    gathered = [block[0]["output"] for block in blocks]
    made: list[tuple[str, ...]] = []
    for number, way in enumerate(WAYS):
        output = [block[number]["output"] for block in blocks]
        copied = [block[number]["copy"] for block in blocks]
        made.append((
            name,
            way.name,
            f"{median(output):.3f}",
            ratio_of(gathered, output),
            f"{median(copied):.4f}",
            ratio_of(output, copied),
        ))  # fmt: skip
        print(" | ".join(made[-1]), file=sys.stderr)
    return made


def transposition(model: Path, chosen: argparse.Namespace) -> TextTable:
    """Rates of the API on tmpfs by the length of a run, without a pool."""
    table: list[tuple[str, ...]] = []
    with tmpfs() as place:
        for run in RUN_BYTES:
            columns = run * chosen.ranks // REAL_BYTES
            shape = ModelShape(
                ranks=chosen.ranks,
                steps=chosen.steps,
                rows=max(1, chosen.mebibytes * MIB // (REAL_BYTES * columns)),
                columns=columns,
                compute_ms=0,
                divided="columns",
            )
            way = OutputWay(way="records", pooled=False)
            blocks = blocks_of([partial(seconds, model, shape, way, place.folder)], chosen.pairs)
            output = [block[0]["output"] for block in blocks]
            copied = [block[0]["copy"] for block in blocks]
            moved = shape.steps * shape.rows * shape.columns * REAL_BYTES / 1e6
            table.append((
                f"{run} bytes",
                f"{moved / median(output):.0f}",
                f"{moved / median(copied):.0f}",
                ratio_of(copied, output),
            ))  # fmt: skip
            print(" | ".join(table[-1]), file=sys.stderr)
    return TextTable(
        title=f"{chosen.steps} steps of {chosen.mebibytes} MiB on {chosen.ranks} ranks, "
        f"{chosen.pairs} runs each",
        header=("run", "MB/s until written", "memcpy, MB/s", "of memcpy"),
        rows=tuple(table),
    )
