"""`forebay bench ior|hpio|meta`: parses the options, runs the benchmark, prints the result."""

import sys
from typing import Annotated, Optional

import typer

from forebay.bench import SHORT_HELP, compare_command
from forebay.bench.model.command_line import LAUNCHING, SHOWING, Split, Tool, split
from forebay.bench.use_case.bench import BenchReport, BenchWorld, carry_out_bench, plan_bench
from forebay.bench.world import real_bench_world
from forebay.common.model.errors import BenchError, ForebayError, RecordError
from forebay.common.model.printable import printable_lines

HELP = """Measure a file system with IOR's, HPIO's and mdtest's command lines.

Options of ours may stand anywhere in a line of ior, hpio or meta (compare takes them before A);
all others go to the program unchanged:

\b
  -np N             so many ranks, by the first launcher on PATH (1)
  --launcher WORDS  a launcher with its options, as in --launcher 'srun -n 64'
  --html FILE       a page with rates, latencies and the spread over ranks
  --format json     the result as JSON on standard output, the tables on standard error
  --help            this text; -h is the program's own

\b
Examples:
  forebay bench ior -np 4 -t 1m -b 16m -s 16 -F -C -e -o /scratch/f --html ior.html
  forebay bench hpio -np 4 -n 0001 -m 11 -c 1024 -s 1k -p 128 -d /scratch
  forebay bench hpio -np 4 --pattern subarray:shape=360x180x50,halo=2x2x0 -m 01 -d /scratch
  forebay bench meta -np 4 --storm all -n 1000 -d /scratch/md
  forebay bench compare -np 4 ior -t 1m -b 64m -F -- ior -t 1m -b 64m

FOREBAY_MPI_FAMILY=mpich (or openmpi) chooses the build where the launcher does not tell (srun).

\b
Exit status (the program's own):
  0 good, 1 usage (nothing was measured), 2 I/O error, 3 data wrong, 4 time limit,
  5 refused by the budget
  125 Forebay or what --html draws with is missing, 126 and 127 the launcher cannot be run
"""

# A `--` and the program's options must be passed on as they were typed.
CONTEXT = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "allow_interspersed_args": False,
    "help_option_names": ["--help"],
}

Words = Annotated[Optional[list[str]], typer.Argument(metavar="[OPTIONS]...")]


def ior(words: Words = None) -> None:
    """IOR's command line, on forebay-ior."""
    _bench(Tool.IOR, words or [])


def hpio(words: Words = None) -> None:
    """HPIO's patterns, decompositions of arrays; data and gaps verified."""
    _bench(Tool.HPIO, words or [])


def meta(words: Words = None) -> None:
    """mdtest's phases, and storms of open, stat and close."""
    _bench(Tool.META, words or [])


def _bench(tool: Tool, words: list[str]) -> None:
    asked = split(words, {**LAUNCHING, **SHOWING})
    if asked.wants_help:
        print(HELP.replace("\b\n", ""))
        raise typer.Exit
    bench = real_bench_world()
    as_json = asked.json
    if asked.html is not None:
        bench.pages.check(asked.html)
    plan = plan_bench(tool, asked.rest, asked.launch, bench, read_by=_reader(asked))
    report = carry_out_bench(plan, bench, quiet=as_json)
    if as_json:
        print(report.left.text, end="")
    if report.left.warning:
        print(f"forebay: warning: {printable_lines(report.left.warning)}", file=sys.stderr)
    if report.left.complaint:
        print(f"forebay: {printable_lines(report.left.complaint)}", file=sys.stderr)
        raise typer.Exit(report.status or RecordError.exit_code)
    if report.usage:
        print(f"forebay: nothing was measured: {printable_lines(report.usage)}", file=sys.stderr)
    _draw(asked, report, bench)
    raise typer.Exit(report.status)


def _reader(asked: Split) -> Optional[str]:
    if asked.json:
        return "--format json"
    return None if asked.html is None else "--html"


def _draw(asked: Split, report: BenchReport, bench: BenchWorld) -> None:
    """Writes the page. The measurement is over, so a failure here must not hide its status."""
    result = report.left.result
    if asked.html is None or (result is None and report.status != 0):
        return
    if result is None:
        raise BenchError(
            "there is nothing to draw (the run left no result; was it a dry run?). Let it "
            "measure, or leave --html out.",
            exit_code=1,
        )
    try:
        bench.pages.write(result, asked.html)
    except ForebayError as error:
        print(f"forebay: {printable_lines(str(error))}", file=sys.stderr)
        raise typer.Exit(report.status or error.exit_code) from error


def attach(app: typer.Typer) -> None:
    """Adds `bench` with its subcommands to `app`."""
    group = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    for name, function in (("ior", ior), ("hpio", hpio), ("meta", meta)):
        group.command(name, help=function.__doc__, context_settings=CONTEXT, add_help_option=False)(
            function
        )
    group.command(
        "compare",
        help=compare_command.HELP,
        short_help="Compare two configurations, run in turns.",
        context_settings=CONTEXT,
        add_help_option=False,
    )(compare_command.compare)
    app.add_typer(group, name="bench", short_help=SHORT_HELP)
