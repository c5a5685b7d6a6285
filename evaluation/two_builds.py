"""Two builds of Forebay in interleaved pairs: whether a change made anything slower.

    python -m evaluation.two_builds OLD [NEW] [--pairs N] [--docs FILE]

OLD and NEW (build/release/lib) are folders with libforebay_mpi.so, of two work trees. Runs some
cases of the suites on Open MPI 4.1.4 and prints the ratio of speeds, above 1 where NEW is the
faster, with its 95 % interval from six pairs on. `--docs docs/performance/two_builds.md` puts it
between that file's markers.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich.console import Console

from evaluation.cli import parse, prepare
from evaluation.launch import Bench
from evaluation.model import BenchError, Case, Outcome, Stack
from evaluation.suites import suite_named
from evaluation.summary import seconds_of
from evaluation.table_report import (
    TableReport,
    add_report_options,
    check_document,
    circumstances,
    publish,
)
from evaluation.tables import TextTable
from forebay.common.model.estimate import paired_ratio

ROOT = Path(__file__).resolve().parents[1]
MARKER = "two_builds"
STACK = "forebay+ompi414"
CASES = {
    "interleaved": (
        "1 KiB c / write / 4 ranks / tmpfs",
        "1 KiB nc / read / 4 ranks / tmpfs",
        "256 B nc / write / 8 ranks / tmpfs",
        "4 KiB c / write / 4 ranks / disk",
        "4 KiB c / read / 8 ranks / disk",
    ),
    "contiguous": (
        "1 MiB segments / write / 4 ranks / tmpfs",
        "1 MiB segments / read / 4 ranks / tmpfs",
        "1 MiB a rank, one call / write / 4 ranks / tmpfs",
    ),
    "open_close": ("open + close / create / 4 ranks / tmpfs",),
}


def compare(suite: str, case: Case, stack: Stack, builds: Sequence[Bench], pairs: int) -> list[str]:
    """A row of the table; the builds run in random order within each pair."""
    metric = suite_named(suite).metric
    times: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for which in random.sample((0, 1), 2):
            sample = builds[which].measure(case=case, stack=stack, block=pair)
            if sample.outcome is not Outcome.OK:
                raise BenchError(f"{case.name}: {sample.outcome} ({sample.message}).")
            times[which].append(seconds_of(metric, sample))
    ratio = paired_ratio(*times)
    interval = f"{ratio.low or ratio.least:.3f}-{ratio.high or ratio.most:.3f}"
    medians = [f"{median(one) * 1e3:.2f}" for one in times]
    return [case.name, *medians, f"{ratio.estimate:.3f}", interval]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=ROOT / "build/release/lib")
    parser.add_argument("--pairs", type=int, default=6)
    add_report_options(parser)
    words = sys.argv[1:]
    chosen = parser.parse_args(words)
    console = Console(stderr=True)
    libraries = [str(one.resolve()) for one in (chosen.old, chosen.new)]
    try:
        check_document(MARKER, chosen.docs)
        asked = [parse([*CASES, "--stacks", STACK, "--library-dir", one]) for one in libraries]
        builds = [prepare(one, console) for one in asked]
        (stack,) = asked[1].stacks
        before = circumstances("evaluation.two_builds", words)
        rows = []
        for suite, names in CASES.items():
            for case in suite_named(suite).cases:
                if case.name in names:
                    row = compare(suite, case, stack, builds, chosen.pairs)
                    rows.append(tuple(row))
                    console.print(" ".join(row), highlight=False)
    except BenchError as error:
        console.print(f"bench: {error}", markup=False, style="red", highlight=False)
        return 1
    header = ("access", "old, ms", "new, ms", "speed new/old", "interval")
    table = TextTable(title=f"{chosen.pairs} pairs", header=header, rows=tuple(rows))
    publish(TableReport(circumstances=before, tables=(table,)), MARKER, chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
