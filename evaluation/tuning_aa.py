"""A/A verifications of real runs. One program is run again and again, and its times are fed in
pairs to the test of `forebay verify`. There is no difference, so every *improved* or *worse* is a
false positive. Runs are appended to a file, so that they can be taken in several stretches of time;
no pair has runs of two stretches."""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median, pstdev

from forebay.bench.model.comparison import ComparedSide
from forebay.common.files.processes import ForegroundProcesses
from forebay.common.model.frozen import frozen
from forebay_tuning.apply.use_case import PLACE
from forebay_tuning.verify.model import (
    LOOKS,
    AdviceVerdict,
    Verification,
    interim_test,
    is_look,
    order,
)

_TOLD_SECONDS = 10.0
_LOOKED_RUNS = 200
"""The number of runs after which it is checked whether there are enough."""


@frozen
class Run:
    """One run: its start (seconds since the epoch), its duration, and its stretch."""

    stretch: int
    at: float
    seconds: float


def read_runs(path: Path) -> list[Run]:
    """The runs of earlier stretches. A line that was cut off by a kill does not count."""
    found = []
    for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
        words = line.split()
        if len(words) == 3 and line.endswith("\n"):
            found.append(Run(stretch=int(words[0]), at=float(words[1]), seconds=float(words[2])))
    return found


def take(
    words: Sequence[str],
    path: Path,
    past: Sequence[Run],
    *,
    seconds_max: float,
    enough: Callable[[Sequence[Run]], bool],
) -> list[Run]:
    """Runs the program, each time in a fresh directory, until there are enough runs or the time is
    over. Returns all runs, including those of the past."""
    runs = list(past)
    stretch = 1 + max((one.stretch for one in past), default=0)
    processes, begin = ForegroundProcesses(), time.monotonic()
    told = begin
    path.parent.mkdir(parents=True, exist_ok=True)
    is_cut = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="ascii") as file:
        if is_cut:
            file.write(" cut short\n")
        while time.monotonic() - begin < seconds_max:
            at = time.time()
            run = Run(stretch=stretch, at=at, seconds=_seconds(words, processes, os.environ))
            runs.append(run)
            file.write(f"{run.stretch} {run.at:.6f} {run.seconds:.9f}\n")
            file.flush()
            now = time.monotonic()
            if now - told >= _TOLD_SECONDS:
                told = now
                print(f"{len(runs)} runs, {now - begin:.0f} s", file=sys.stderr, flush=True)
            if (len(runs) - len(past)) % _LOOKED_RUNS == 0 and enough(runs):
                break
    return runs


def _seconds(
    words: Sequence[str], processes: ForegroundProcesses, environment: Mapping[str, str]
) -> float:
    """The seconds of the whole run, as `forebay verify` measures them."""
    folder = tempfile.mkdtemp(prefix="forebay-aa-") if PLACE in " ".join(words) else None
    try:
        placed = [one.replace(PLACE, folder) if folder else one for one in words]
        quiet = ("sh", "-c", 'exec "$@" >/dev/null', "sh", *placed)
        finished = processes.run(quiet, environment=environment)
    finally:
        if folder:
            shutil.rmtree(folder)
    if finished.status != 0:
        raise SystemExit(
            f"a run failed with status {finished.status} (its errors are above). Run it alone "
            f"first: {' '.join(words)}"
        )
    return finished.seconds


def verifications(runs: Sequence[Run], *, seed: int) -> Iterator[Verification]:
    """Verifications in sequence, each with its own runs, until all are used up. One that is cut off
    by the end of a stretch does not count."""
    for _, stretch in groupby(runs, key=lambda one: one.stretch):
        seconds = iter([one.seconds for one in stretch])
        while (found := _verified(seconds, seed)) is not None:
            yield found
            seed += 1


def _verified(seconds: Iterator[float], seed: int) -> Verification | None:
    default: list[float] = []
    advised: list[float] = []
    found: Verification | None = None
    for first, _ in order(LOOKS[-1], seed):
        pair = [one for _, one in zip(range(2), seconds, strict=False)]
        if len(pair) < 2:
            return None
        a, b = pair if first is ComparedSide.A else reversed(pair)
        default.append(a)
        advised.append(b)
        if is_look(len(default), LOOKS[-1]):
            found = interim_test(default, advised)
            if found.verdict is not AdviceVerdict.INCONCLUSIVE:
                break
    return found


def covering(hits: int, count: int, *, level: float = 0.95) -> tuple[float, float]:
    """The Clopper-Pearson interval of a share, of which `hits` of `count` were observed."""
    outside = (1 - level) / 2

    def above(share: float) -> float:
        return math.fsum(_chance(one, count, share) for one in range(hits, count + 1))

    def below(share: float) -> float:
        return math.fsum(_chance(one, count, share) for one in range(hits + 1))

    low = 0.0 if hits == 0 else _where(lambda share: above(share) < outside)
    high = 1.0 if hits == count else _where(lambda share: below(share) > outside)
    return low, high


def _chance(hits: int, count: int, share: float) -> float:
    return math.comb(count, hits) * share**hits * (1 - share) ** (count - hits)


def _where(is_left: Callable[[float], bool]) -> float:
    """The share up to which the condition holds, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_left(middle) else (low, middle)
    return low


def summary(found: Sequence[Verification], runs: Sequence[Run]) -> str:
    """The results in Markdown."""
    count = len(found)
    claims = [one for one in found if one.verdict in (AdviceVerdict.IMPROVED, AdviceVerdict.WORSE)]
    low, high = covering(len(claims), count)
    tails = sum(one.tail.is_worse for one in found)
    seconds = [one.seconds for one in runs]
    logs = [math.log(one) for one in seconds]
    told = [
        f"{len(runs)} runs in {len({one.stretch for one in runs})} stretches, median "
        f"{median(seconds):.4f} s, logarithms ± {pstdev(logs):.2f}",
        "",
        "| verdict | of so many A/A verifications | share | pairs, median |",
        "| --- | --- | --- | --- |",
    ]
    for verdict in AdviceVerdict:
        its = [one.pairs for one in found if one.verdict is verdict]
        pairs = f"{median(its):.0f}" if its else "–"
        told.append(f"| {verdict} | {len(its)} of {count} | {len(its) / count:.1%} | {pairs} |")
    told += [
        f"| improved or worse | {len(claims)} of {count} | {len(claims) / count:.1%} "
        f"(95 %: {low:.1%} – {high:.1%}) | |",
        "",
        f"The tail was called worse in {tails} ({tails / count:.1%}).",
    ]
    return "\n".join(told)


def aa(arguments: argparse.Namespace) -> None:
    """Takes runs until they are enough for the verifications, or the time is over; prints them."""
    path: Path = arguments.timings
    past = read_runs(path)

    def found_in(runs: Sequence[Run]) -> list[Verification]:
        return list(verifications(runs, seed=arguments.seed))

    runs = past
    if arguments.command and len(found_in(past)) < arguments.runs:
        runs = take(
            arguments.command,
            path,
            past,
            seconds_max=arguments.seconds,
            enough=lambda so_far: len(found_in(so_far)) >= arguments.runs,
        )
    found = found_in(runs)[: arguments.runs]
    if not found:
        raise SystemExit(
            f"there are no verifications in {path} ({len(runs)} runs are too few). Give the "
            "program that is to be run, behind --, and more --seconds."
        )
    print(summary(found, runs))
    if len(found) < arguments.runs:
        print(f"\n{len(found)} of {arguments.runs}: the same command takes more.")
