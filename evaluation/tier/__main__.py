"""Measures a tier of fast storage.

requests    128 KiB sequential, 8 KiB random and N-1 requests of 1, 4 and 16 processes (fio): on the
            parallel file system, through a tier over it, and in fast storage itself, with the time
            until everything is on the parallel file system
preload     copying 1000 files of 1 MiB and one of 4 GiB to fast storage, beside reading them
eviction    a working set of twice the fast storage, read in a loop, with and without a tier
catalogue   10^5 and 10^6 replicas: start, lookup, status and memory of a tier, and of forebay-tier

File systems are those of `python -m evaluation.pool --help`. All needs root. A block has one run of
each way, in random order.

examples:
  python -m evaluation.tier requests --on limited50,fuse --docs docs/performance/tier.md
  python -m evaluation.tier catalogue --on disk --fast /var/tmp
  python -m evaluation.tier preload --quick --on tmpfs
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from evaluation.benchmark import Benchmark, Part, run_benchmark
from evaluation.pool.runs import Programs, build
from evaluation.tier import requests, whole_files
from evaluation.tier.catalogue import REPLICAS, catalogue


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--fast", type=Path, default=Path("/dev/shm"), help="fast storage (/dev/shm)")
    add("--only", default="", metavar="WORD", help="requests: rows with it in their name")
    add("--mebibytes", type=int, default=1024, help="requests: MiB of all processes; eviction: "
        "MiB of fast storage (1024)")  # fmt: skip
    usual = ",".join(map(str, REPLICAS))
    add("--replicas", type=_counts, default=REPLICAS, metavar="N,…", help=f"catalogue ({usual})")


def _counts(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))


BENCHMARK = Benchmark[Programs](
    name="tier",
    description=__doc__ or "",
    prepare=build,
    parts={
        "requests": Part(measure=requests.table, on=("limited50", "limited200", "fuse")),
        "preload": Part(measure=whole_files.preload, on=("limited200",)),
        "eviction": Part(measure=whole_files.eviction, on=("limited200",)),
        "catalogue": Part(measure=catalogue, on=("disk",)),
    },
    add_options=_add_options,
    quick={"mebibytes": 8, "replicas": (1000,)},
)

if __name__ == "__main__":
    sys.exit(run_benchmark(BENCHMARK))
