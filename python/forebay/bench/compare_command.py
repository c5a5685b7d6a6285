"""`forebay bench compare A -- B`: parses the options, runs the pairs, prints the verdicts."""

import sys
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Annotated, Any, Optional

import typer

from forebay.bench.model.command_line import (
    LAUNCHING,
    SHOWING,
    Configuration,
    Tool,
    fraction,
    number,
    split,
    two_sides,
)
from forebay.bench.model.comparison import MARGIN, ComparedSide, Design, QuantityFinding
from forebay.bench.report.page import HtmlPages
from forebay.bench.use_case.compare import BenchComparison
from forebay.bench.use_case.compare import compare as run_pairs
from forebay.bench.world import real_bench_world
from forebay.common.model.errors import BenchUsageError
from forebay.common.model.printable import printable_lines
from forebay.common.report.output import json_pretty

HELP = """Compare two configurations of a benchmark.

Blocks of repetitions are misleading (a system drifts): A and B are run in turns, in random order
within each pair, and judged by the ratios of pairs. Each side is any number of KEY=VALUE for its
environment, then ior, hpio or meta with its options.

\b
  forebay bench compare -np 4 ior -t 1m -b 64m -F -- ior -t 1m -b 64m
  forebay bench compare -np 4 ior -a MPIIO -c -t 4m -b 64m -- \\
      LD_PRELOAD=$PREFIX/lib/forebay/libforebay_mpi.so ior -a MPIIO -c -t 4m -b 64m

\b
Before A:
  -np N, --launcher WORDS   as for forebay bench ior
  --pairs N                 pairs (12)
  --early                   look after 8, 12, 16, … pairs and stop when all is decided; the
                            intervals are widened for that
  --margin 5%               differences below it do not matter: equivalent
  --seed N                  seed of the random order (1)
  --run-time SECONDS        time limit of one run (600)
  --html FILE               a page with the ratios and all pairs
  --format json             forebay.bench.compare/1 on standard output

\b
Each line is a quantity: B's rate over A's (Hodges-Lehmann estimate, above 1 B is faster) with the
exact interval of the signed-rank test on log ratios, 95 %, and the verdict on B:
  better, worse    the whole interval lies on one side of 1
  equivalent       the whole interval lies within the margin
  inconclusive     neither: more pairs are needed

\b
Exit status: 0 compared (whatever the verdict), 1 usage or nothing to compare, 4 a run took longer
than --run-time, 125 a package is missing, else that of the run that failed; the pairs before it are
shown.
"""

_OWN = {
    "--pairs": "pairs",
    "--early": "early",
    "--margin": "margin",
    "--seed": "seed",
    "--run-time": "run_time",
}
SECONDS_MAX = 600
PAIRS = 12


def compare(
    words: Annotated[Optional[list[str]], typer.Argument(metavar="[OPTIONS] A... -- B...")] = None,
) -> None:
    """Runs the pairs and prints the findings."""
    own, sides = _own_words(words or [])
    asked = split(own, {**LAUNCHING, **SHOWING, **_OWN})
    if asked.wants_help or not words:
        print(HELP.replace("\b\n", ""))
        raise typer.Exit(0 if words else 1)
    if asked.rest:
        raise BenchUsageError(
            f'"{asked.rest[0]}" is no option of a comparison. Options of a benchmark come after '
            "its name; see --help."
        )
    a, b = two_sides(sides)
    _refuse_ours(ComparedSide.A, a)
    _refuse_ours(ComparedSide.B, b)
    design = _design(asked.ours)
    run_time = number("--run-time", asked.ours.get("run_time", str(SECONDS_MAX)), least=1)
    pages = HtmlPages()
    if asked.html is not None:
        pages.check(asked.html)
    result = run_pairs(
        {ComparedSide.A: a, ComparedSide.B: b},
        launch=asked.launch,
        design=design,
        seconds_max=run_time,
        bench=real_bench_world(),
        told=lambda pairs, _: print(f"pair {pairs} of {design.pairs_max} done", file=sys.stderr),
    )
    print(
        json_pretty(as_json(result)) if asked.json else printable_lines(as_text(result)), flush=True
    )
    if asked.html is not None:
        pages.write_comparison(result, asked.html)
    if result.failure is not None:
        raise result.failure


def _refuse_ours(side: ComparedSide, one: Configuration) -> None:
    """Raises BenchUsageError if an option of the comparison comes after a benchmark's name: it
    would go to the benchmark, which does not know it (except --seed, which two of them have)."""
    for word in one.words:
        name = word.partition("=")[0]
        if name not in {**LAUNCHING, **SHOWING, **_OWN}:
            continue
        if name != "--seed" or one.tool is Tool.IOR:
            raise BenchUsageError(
                f"{name} is no option of {one.tool} (it stands in {side}, and belongs to the "
                f"comparison). Write it before A: forebay bench compare {name} …"
            )


def _own_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits the words where the first configuration begins: at a tool or an assignment."""
    known = {**LAUNCHING, **SHOWING, **_OWN}
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        name, equals, _ = words[at].partition("=")
        takes = known.get(name) not in ("help", "early", None) and not equals
        at += 2 if takes else 1
    own = [f"{word}=" if word == "--early" else word for word in words[:at]]
    return own, list(words[at:])


def _design(ours: Mapping[str, str]) -> Design:
    pairs = number("--pairs", ours.get("pairs", str(PAIRS)), least=1)
    margin = fraction("--margin", ours.get("margin", str(MARGIN)))
    seed = number("--seed", ours.get("seed", "1"), least=0)
    if "early" in ours:
        return Design.sequential(pairs_max=pairs, margin=margin, seed=seed)
    return Design.fixed(pairs=pairs, margin=margin, seed=seed)


def as_json(result: BenchComparison) -> Any:
    """The comparison in the schema forebay.bench.compare/1."""
    return {
        "schema": "forebay.bench.compare/1",
        "a": result.a.text,
        "b": result.b.text,
        "pairs": result.pairs,
        "exit_status": 0 if result.failure is None else result.failure.exit_code,
        "error": None if result.failure is None else str(result.failure),
        "firsts": list(result.firsts),
        "seed": result.design.seed,
        "margin": result.design.margin,
        "level": result.design.level,
        "looks": list(result.design.looks),
        "findings": [
            {
                "quantity": one.quantity,
                "unit": one.unit,
                "verdict": one.verdict,
                "ratio": one.ratio.estimate,
                "ratio_low": one.ratio.low,
                "ratio_high": one.ratio.high,
                "confidence": one.ratio.confidence,
                "a": list(one.a),
                "b": list(one.b),
            }
            for one in result.findings
        ],
        "warnings": list(result.warnings),
    }


def as_text(result: BenchComparison) -> str:
    """The comparison as text for people."""
    width = max([44, *(len(one.quantity) for one in result.findings)])
    lines = [
        f"A: {result.a.text}",
        f"B: {result.b.text}",
        f"{result.pairs} {_of_how_many(result)}interleaved pairs, order by seed "
        f"{result.design.seed}, margin {result.design.margin:.0%}",
        "",
        f"{'quantity':<{width}} {'B ÷ A':>7}  {'interval':<18} {'verdict on B':<13} medians A, B",
        *(_line(one, width) for one in result.findings),
        *(f"warning: {text}" for text in result.warnings),
    ]
    return "\n".join(lines)


def _of_how_many(result: BenchComparison) -> str:
    return "" if result.failure is None else f"of {result.design.pairs_max} "


def _line(one: QuantityFinding, width: int) -> str:
    ratio = one.ratio
    a, b = median(one.a), median(one.b)
    return (
        f"{one.quantity:<{width}} {ratio.estimate:>7.3f}  {ratio.interval:<18} "
        f"{one.verdict.value:<13} {a:.6g}, {b:.6g} {one.unit}"
    )
