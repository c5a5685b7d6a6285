"""The command line: parses, prepares, runs the campaigns with a progress bar, prints."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from evaluation import campaign, mpis, overview, report, tables
from evaluation.launch import Bench
from evaluation.model import (
    FOREBAYS,
    INCUMBENTS,
    MEBIBYTE,
    STACKS,
    BenchError,
    Case,
    Outcome,
    Sample,
    Stack,
    StorageKind,
)
from evaluation.results import Results, file_system_of, load, save, this_commit, this_machine
from evaluation.suites import LIMITS, SUITE_NAMES, Suite, suite_named
from evaluation.summary import CaseSummary, summarise
from forebay.common.model.frozen import frozen

ROOT = Path(__file__).resolve().parent.parent
WIDTH_WITHOUT_TERMINAL = 220
DESCRIPTION = """\
Measures what Forebay is held to: the same plain MPI-IO program (evaluation/patterns.c), run by
every MPI as it is and again with Forebay preloaded, in random order, in paired blocks.

what to run (several may be named):
  interleaved  regions of 256 B, 1 KiB, 4 KiB; contiguous and non-contiguous memory; 4, 8 ranks
  pieces16     512 MiB in 16-byte pieces (an incumbent takes minutes)
  contiguous   1 MiB a rank, large segments, 1 MiB interleaved, holes
  memory       growth of peak memory, for a thousand and for ten million pieces
  open_close   MPI_File_open + MPI_File_close
  limits       what the machine can do without MPI (measured with every suite, too)
  all          all of these
  prepare      only get the MPIs and build the programs
  report       only render docs/performance.md and docs/performance/*.md (of build/evaluation)
"""
EPILOG = """\
examples:
  python -m evaluation all --quick                      smoke run: a minute, numbers mean nothing
  python -m evaluation interleaved --case '1 KiB' --storage tmpfs --blocks 8
  python -m evaluation pieces16 --stacks mpich502,forebay+mpich502
  python -m evaluation open_close --plain               without Forebay, before it is built
  python -m evaluation interleaved contiguous --minutes 60
  python -m evaluation report                           put the last full results into the documents
  FOREBAY_CB_NODES=2 python -m evaluation interleaved   settings reach the Forebay stacks only

how to read a ratio: speed of Forebay over that of the best incumbent (highest median of the
seven) in the same block. 2.31 [1.98, 2.70] is the Hodges-Lehmann estimate with the exact 95 %
interval of the signed-rank test, from 6 pairs on; with fewer, least and most are given.
✓ the whole interval meets what is asked, ✗ none of it, ~ undecided.

exit status: 0 done; 1 cannot go on; 2 usage; 3 a launch of Forebay failed or its data were wrong
"""


@frozen
class Options:
    """The parsed command line."""

    what: tuple[str, ...]
    quick: bool
    blocks: int | None
    minutes: float | None
    stacks: tuple[Stack, ...]
    storages: tuple[StorageKind, ...]
    case_filter: str
    seed: int
    library_dir: Path
    build: Path
    disk: Path
    memory_folder: Path
    documents: Path
    json_output: bool
    command: str


def parse(arguments: Sequence[str]) -> Options:
    """The options. Exits with status 2 if the arguments are wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = (*SUITE_NAMES, LIMITS, "all", "prepare", "report")
    parser.add_argument("what", nargs="+", choices=names, metavar="WHAT", help="see above")
    add = parser.add_argument
    add("--quick", action="store_true", help="few cases, small files, one block")
    add("--blocks", type=int, help="paired repetitions (default: 6, less for slow suites)")
    add("--minutes", type=float, help="start no block of a suite after so many minutes in all")
    add("--stacks", default="", help=f"comma-separated, of: {', '.join(STACKS)}")
    add("--plain", action="store_true", help="leave the Forebay stacks out")
    add("--storage", default="tmpfs,disk", help="tmpfs, disk or both (default: %(default)s)")
    add("--case", default="", help="only cases whose name contains this text")
    add("--seed", type=int, default=None, help="order of launches (default: from the clock)")
    add("--library-dir", type=Path, default=ROOT / "build/release/lib",
        help="where libforebay_mpi.so is (default: build/release/lib)")  # fmt: skip
    add("--build-dir", type=Path, default=ROOT / "build",
        help="MPIs, programs and results go below (default: build)")  # fmt: skip
    add("--disk", type=Path, default=None, help="folder on a disk (default: BUILD_DIR/evaluation)")
    add("--tmpfs", type=Path, default=Path("/dev/shm"), help="folder in memory (%(default)s)")
    add("--docs", type=Path, default=ROOT / "docs", help="folder of the documents, for `report`")
    add("--format", choices=("text", "json"), default="text", help="format of stdout")
    return _options(parser, parser.parse_args(arguments), arguments)


def _options(
    parser: argparse.ArgumentParser, parsed: argparse.Namespace, arguments: Sequence[str]
) -> Options:
    chosen = [name for name in parsed.stacks.split(",") if name]
    unknown = [name for name in chosen if name not in STACKS]
    if unknown:
        parser.error(f"No stack {unknown[0]} (known are {', '.join(STACKS)}).")
    stacks = tuple(STACKS[name] for name in chosen) or INCUMBENTS + FOREBAYS
    try:
        storages = tuple(StorageKind(name) for name in parsed.storage.split(","))
    except ValueError:
        parser.error(f"No storage {parsed.storage} (known are tmpfs and disk).")
    if parsed.blocks is not None and parsed.blocks < 1:
        parser.error("--blocks below 1 measures nothing. Give 6 or more for an interval.")
    what = (*SUITE_NAMES, LIMITS) if "all" in parsed.what else tuple(parsed.what)
    return Options(
        what=what,
        quick=parsed.quick,
        blocks=parsed.blocks,
        minutes=parsed.minutes,
        stacks=tuple(one for one in stacks if not (parsed.plain and one.forebay)),
        storages=storages,
        case_filter=parsed.case,
        seed=int(time.time()) if parsed.seed is None else parsed.seed,
        library_dir=parsed.library_dir.resolve(),
        build=parsed.build_dir.resolve(),
        disk=(parsed.disk or parsed.build_dir / "evaluation").resolve(),
        memory_folder=parsed.tmpfs,
        documents=parsed.docs,
        json_output=parsed.format == "json",
        command=shlex.join(["python", "-m", "evaluation", *arguments]),
    )


@dataclass(kw_only=True)
class Bar:
    """A campaign.Watcher that draws a progress bar and prints failures."""

    progress: Progress
    task: TaskID
    failures: dict[str, str] = field(default_factory=dict)
    done: int = 0

    def launches(self, count: int) -> None:
        self.progress.update(self.task, total=self.done + count)

    def before(self, *, case: str, stack: str, block: int) -> None:
        text = f"block {block + 1}: {case}, {stack}"
        self.progress.update(self.task, what=text.replace("`", "").replace("[", "\\["))

    def after(self, sample: Sample | None) -> None:
        if sample is None:
            return
        self.done += 1
        self.progress.advance(self.task)
        if sample.outcome is Outcome.OK:
            return
        if self.failures.setdefault(sample.stack, sample.message) is sample.message:
            last = " ".join(sample.message.split())[-300:]
            self.progress.console.print(
                f"{STACKS[sample.stack].label}, {sample.case}: {sample.outcome}. {last}",
                markup=False,
                style="yellow",
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    console = Console(stderr=options.json_output)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH_WITHOUT_TERMINAL
    try:
        if options.what == ("report",):
            write_documents(options, console)
            return 0
        bench = prepare(options, console)
        if options.what == ("prepare",):
            return 0
        return run_all(options, bench, console)
    except BenchError as error:
        Console(stderr=True).print(f"bench: {error}", markup=False, style="red", highlight=False)
        return 1
    except KeyboardInterrupt:
        Console(stderr=True).print(
            "evaluation: stopped; what was measured is kept in build/evaluation."
        )
        return 130


def prepare(options: Options, console: Console) -> Bench:
    """Prepares everything that launches need. Raises BenchError, which says what is missing."""
    library = options.library_dir / "libforebay_mpi.so"
    if any(stack.forebay for stack in options.stacks) and not library.exists():
        raise BenchError(
            f"No Forebay to measure ({library} does not exist). Build it with `cmake --preset "
            "release && cmake --build --preset release`, name its folder with --library-dir, or "
            "measure the MPIs alone with --plain."
        )
    options.disk.mkdir(parents=True, exist_ok=True)
    folders = {StorageKind.TMPFS: options.memory_folder, StorageKind.DISK: options.disk}
    for kind, folder in folders.items():
        in_memory = file_system_of(folder) == "tmpfs"
        if in_memory != (kind is StorageKind.TMPFS):
            console.print(f"Note: {folder}, used as {kind}, is on {file_system_of(folder)}.")
    used = {stack.mpi.name: stack.mpi for stack in options.stacks}
    with console.status("Getting the MPIs and building the programs"):
        built = {name: mpis.prepare(mpi, build=options.build) for name, mpi in used.items()}
        limits = mpis.prepare_limits(build=options.build)
    settings = {k: v for k, v in os.environ.items() if k.startswith("FOREBAY_")}
    return Bench(
        mpis=built, limits_program=limits, folders=folders, library=library, settings=settings
    )


def run_all(options: Options, bench: Bench, console: Console) -> int:
    """Runs the suites in turn, and saves and prints each one when it is done."""
    start = time.monotonic()
    status, documents = 0, []

    def enough() -> bool:
        return options.minutes is not None and time.monotonic() - start > 60 * options.minutes

    for name in options.what:
        if name == LIMITS:
            results = run_limits(options, bench)
            console.print(tables.terminal(tables.limit_table(results.limits)))
            documents.append(asdict(results))
            continue
        if name not in SUITE_NAMES:
            continue
        suite = suite_named(name)
        if not chosen_cases(options, suite):
            console.print(
                f"{name}: nothing to run (no name contains '{options.case_filter}' on "
                f"{', '.join(options.storages)}). Names look like: {suite.cases[0].name}",
                highlight=False,
            )
            continue
        results = run_suite(options, suite, bench, console, enough)
        rows = summarise(suite, results.cases, results.samples, results.limits)
        for table in tables.result_tables(suite, rows):
            console.print(tables.terminal(table))
        console.print(f"Kept in {result_path(options, name)}", highlight=False)
        documents.append({"suite": name, "rows": [asdict(row) for row in rows]})
        status = max(status, _status(rows))
    if options.json_output:
        print(json.dumps(documents, indent=1))
    return status


def _status(rows: Sequence[CaseSummary]) -> int:
    wrong = [one for row in rows for one in row.comparisons if one.forebay.note]
    return 3 if wrong else 0


def result_path(options: Options, suite: str) -> Path:
    """The file of a suite's result. A --quick result has another file, so that it replaces none."""
    return options.build / "evaluation" / f"{suite}{'-quick' if options.quick else ''}.json"


def keep_older(path: Path) -> None:
    """Renames an existing result by a number, so that the next one does not overwrite it."""
    if not path.exists():
        return
    number = 1
    while (older := path.with_name(f"{path.stem}.{number}.json")).exists():
        number += 1
    path.rename(older)


def _empty_results(options: Options, bench: Bench, suite: str, blocks: int) -> Results:
    commit, modified = this_commit(ROOT)
    return Results(
        suite=suite,
        quick=options.quick,
        command=options.command,
        commit=commit,
        modified=modified,
        started=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        seconds=0.0,
        seed=options.seed,
        blocks=blocks,
        library=str(bench.library) if any(one.forebay for one in options.stacks) else "",
        settings=dict(bench.settings),
        machine=this_machine(dict(bench.folders)),
        cases=(),
        limits=(),
        samples=(),
    )


def limit_bytes(options: Options) -> int:
    return (16 if options.quick else 128) * MEBIBYTE


def run_limits(options: Options, bench: Bench) -> Results:
    """Runs the suite `limits`, which has several rounds, as other suites have blocks."""
    start = time.monotonic()
    blocks = 1 if options.quick else options.blocks or 6
    limits = tuple(
        limit
        for block in range(blocks)
        for storage in options.storages
        for limit in bench.limits(storage=storage, block=block, total=limit_bytes(options))
    )
    results = replace(
        _empty_results(options, bench, LIMITS, blocks),
        limits=limits,
        seconds=time.monotonic() - start,
    )
    save(results, result_path(options, LIMITS))
    return results


def chosen_cases(options: Options, suite: Suite) -> tuple[Case, ...]:
    """The suite's cases that the options select."""
    return tuple(
        case
        for case in (suite.quick if options.quick else suite.cases)
        if case.storage in options.storages and options.case_filter in case.name
    )


def run_suite(
    options: Options, suite: Suite, bench: Bench, console: Console, enough: Callable[[], bool]
) -> Results:
    """Runs one campaign. The results are saved after each block of a case."""
    cases = chosen_cases(options, suite)
    order = campaign.Order(
        suite=suite,
        cases=cases,
        stacks=options.stacks,
        blocks=options.blocks or (1 if options.quick else suite.blocks),
        seed=options.seed,
        limit_bytes=limit_bytes(options),
    )
    keep_older(result_path(options, suite.name))
    measured = campaign.Measured()
    empty = _empty_results(options, bench, suite.name, order.blocks)
    start = time.monotonic()

    def so_far() -> Results:
        return replace(
            empty,
            cases=cases,
            limits=tuple(measured.limits),
            samples=tuple(measured.samples),
            seconds=time.monotonic() - start,
        )

    columns = (
        TextColumn(f"[bold]{suite.name}[/bold]"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        bar = Bar(progress=progress, task=progress.add_task(suite.name, total=None, what=""))
        blocks = campaign.run(order, measurer=bench, watcher=bar, measured=measured, enough=enough)
        for _ in blocks:
            save(so_far(), result_path(options, suite.name))
    save(so_far(), result_path(options, suite.name))
    return so_far()


def write_documents(options: Options, console: Console) -> None:
    """Writes each full result that exists into its document, and the overview of all."""
    for name in (*SUITE_NAMES, LIMITS):
        document = options.documents / "performance" / f"{name}.md"
        if not document.exists():
            raise BenchError(f"No {document} (nothing to fill). Name its folder with --docs.")
        path = result_path(replace(options, quick=False), name)
        if not path.exists():
            console.print(f"{name}: no result in {path}; left as it is.", highlight=False)
            continue
        results = load(path)
        if results.quick:
            raise BenchError(f"{path} is a smoke run (--quick). Run {name} in full first.")
        document.write_text(report.fill(document.read_text(), name, report.section(results)))
        console.print(f"{name}: from {path} into {document}", highlight=False)
    overview.write(options.documents)
