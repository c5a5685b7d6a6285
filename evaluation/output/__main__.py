"""Measures the output API: seconds in output of a model, each step after some computing.

steps          the same fields by a gather to rank 0 (Fortran records), by PnetCDF's collective
               calls, and by the output API in both formats; plain, and under `forebay run --pool`
transposition  the output API on tmpfs where each rank has columns, so that every run of the file
               has bytes of all ranks: 16 bytes to 1 MiB a run, beside one memcpy of the patches

Every block of runs has each way once, in random order. Open MPI's PnetCDF is used. Needs root.

examples:
  python -m evaluation.output steps --docs docs/performance/output.md
  python -m evaluation.output transposition --pairs 3
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from evaluation.benchmark import Benchmark, Part, run_benchmark
from evaluation.output.model import compiled, steps, transposition


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--ranks", type=int, default=8, help="processes (8)")
    add("--steps", type=int, default=4, help="outputs (4)")
    add("--mebibytes", type=int, default=64, help="MiB of a step (64)")
    add("--compute", type=int, default=2000, help="milliseconds between steps (2000)")


BENCHMARK = Benchmark[Path](
    name="output",
    description=__doc__ or "",
    prepare=compiled,
    parts={
        "steps": Part(measure=steps, on=("limited50", "tmpfs")),
        "transposition": Part(measure=transposition),
    },
    add_options=_add_options,
    quick={"ranks": 2, "steps": 2, "mebibytes": 4, "compute": 50},
)

if __name__ == "__main__":
    sys.exit(run_benchmark(BENCHMARK))
