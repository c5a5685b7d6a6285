"""Measures the mount of a pool: what it costs, what is fast by it, what a start takes.

costs       microseconds of an open and close, untar, cp -r, git clone, venv, make, sqlite, git
            commit, pgbench (where PostgreSQL is), and 1 MiB calls of a program that is not
            captured: plain, through the mount, and plain in the page cache
fast        time in output of what job scripts and legacy programs do, with computing between:
            `prog > file`, `prog >> file`, dd, cp, programs that append (C, static, Fortran, Go,
            Rust, Java NIO), numpy memmap
start       processor seconds of `forebay run -- /bin/true`, alone, with a pool, with the mount

File systems are those of `python -m evaluation.pool --help`. All needs root. The daemon and the
mount are started before a program and ended after it, outside of its time; in `start` they are what
is measured.

examples:
  python -m evaluation.mount costs --docs docs/performance/mount.md
  python -m evaluation.mount fast --on limited50 --only dd --pairs 3
"""

from __future__ import annotations

import argparse
import sys

from evaluation.benchmark import Benchmark, Part, run_benchmark
from evaluation.mount.costs import costs
from evaluation.mount.fast import fast
from evaluation.mount.start import start
from evaluation.pool.runs import Programs, build


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--only", default="", metavar="WORD", help="costs, fast: rows with it in their name")
    add("--steps", type=int, default=4, help="fast: outputs of a program (4)")
    add("--mebibytes", type=int, default=64, help="fast: MiB of an output (64)")
    add("--compute", type=int, default=2000, help="fast: milliseconds between outputs (2000)")
    add("--runs", type=int, default=20, help="start: runs of each, since it has no pairs (20)")


BENCHMARK = Benchmark[Programs](
    name="mount",
    description=__doc__ or "",
    prepare=build,
    parts={
        "costs": Part(measure=costs, on=("tmpfs", "disk")),
        "fast": Part(measure=fast, on=("limited50", "fuse")),
        "start": Part(measure=start),
    },
    add_options=_add_options,
    quick={"steps": 2, "mebibytes": 2, "compute": 50, "runs": 2},
)

if __name__ == "__main__":
    sys.exit(run_benchmark(BENCHMARK))
