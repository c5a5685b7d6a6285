"""The command line of a benchmark that measures one of several parts, which is chosen by name:
`python -m evaluation.NAME PART`. Its options are the same for all such benchmarks; a benchmark may
add some."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from evaluation.model import BenchError
from evaluation.pool.places import PLACE_NAMES
from evaluation.table_report import (
    TableReport,
    add_report_options,
    check_document,
    circumstances,
    publish,
)
from evaluation.tables import TextTable
from forebay.common.model.errors import ForebayError
from forebay.common.model.frozen import frozen

PAIRS = 6
"""The fewest that give an interval."""
EXIT_STATUS = "exit status: 0 done; 1 cannot go on; 2 usage"
Prepared = TypeVar("Prepared")


@frozen
class Part(Generic[Prepared]):
    """A part of a benchmark, which makes one table."""

    measure: Callable[[Prepared, argparse.Namespace], TextTable]
    on: tuple[str, ...] = ()
    """The file systems if --on names none; empty if the part always has a place of its own."""


@frozen
class Benchmark(Generic[Prepared]):
    """A benchmark of the folder evaluation/NAME."""

    name: str
    description: str
    prepare: Callable[[Path], Prepared]
    """Compiles what all parts use into a folder that is there until the end."""
    parts: Mapping[str, Part[Prepared]]
    add_options: Callable[[argparse.ArgumentParser], None]
    """Adds the options that only this benchmark has."""
    quick: Mapping[str, object]
    """The defaults of options with --quick, which also measures only one pair."""

    @property
    def module(self) -> str:
        return f"evaluation.{self.name}"

    def marker(self, part: str) -> str:
        """The name of the part's place in a document."""
        return f"{self.name}_{part}"


def run_benchmark(benchmark: Benchmark[Prepared], arguments: Sequence[str] | None = None) -> int:
    """Measures the part that the arguments choose. Returns the exit status. A measurement that
    fails is an exception."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = parse(benchmark, words)
    marker = benchmark.marker(chosen.what)
    try:
        check_document(marker, chosen.docs)
        before = circumstances(benchmark.module, words)
        with tempfile.TemporaryDirectory() as folder:
            table = benchmark.parts[chosen.what].measure(benchmark.prepare(Path(folder)), chosen)
        publish(TableReport(circumstances=before, tables=(table,)), marker, chosen)
    except (BenchError, ForebayError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


def parse(benchmark: Benchmark[Prepared], words: Sequence[str]) -> argparse.Namespace:
    """The options: `what`, `on`, `pairs`, `quick`, `disk`, `ceph`, `format`, `docs`, and those of
    the benchmark. Exits with status 2 if the words are wrong."""
    parser = _parser(benchmark)
    if parser.parse_args(words).quick:
        parser.set_defaults(pairs=1, **benchmark.quick)
    chosen = parser.parse_args(words)
    usual = benchmark.parts[chosen.what].on
    if chosen.on is not None and not usual:
        parser.error(f"{chosen.what} has a place of its own. Leave out --on.")
    chosen.on = list(usual) if chosen.on is None else chosen.on.split(",")
    for name in chosen.on:
        if name not in PLACE_NAMES:
            parser.error(f"No file system {name} (known are {', '.join(PLACE_NAMES)}).")
        if name == "ceph" and chosen.ceph is None:
            parser.error("Which folder is on CephFS? Name it with --ceph.")
    if chosen.pairs < 1:
        parser.error(f"--pairs below 1 measures nothing. Give {PAIRS} or more for an interval.")
    return chosen


def _parser(benchmark: Benchmark[Prepared]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {benchmark.module}",
        description=benchmark.description,
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("what", choices=benchmark.parts)
    add("--on", metavar="NAME,…", help=f"file systems: {', '.join(PLACE_NAMES)} "
        f"({_usual_places(benchmark.parts)})")  # fmt: skip
    add("--pairs", type=int, default=PAIRS, help=f"pairs or blocks of runs ({PAIRS})")
    add("--quick", action="store_true", help="one pair of the smallest sizes, to see that it works")
    benchmark.add_options(parser)
    add("--disk", type=Path, default=Path("/var/tmp"), help="a folder on the disk (/var/tmp)")
    add("--ceph", type=Path, help="a folder on CephFS")
    add_report_options(parser)
    return parser


def _usual_places(parts: Mapping[str, Part[Prepared]]) -> str:
    """`limited50` if all parts have that, else `requests, preload: fuse; eviction: disk`."""
    names: dict[tuple[str, ...], list[str]] = {}
    for name, part in parts.items():
        if part.on:
            names.setdefault(part.on, []).append(name)
    if len(names) == 1:
        return ",".join(*names)
    return "; ".join(f"{', '.join(found)}: {','.join(on)}" for on, found in names.items())
