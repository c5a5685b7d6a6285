"""Runs a native benchmark under a launcher and reads what it measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from forebay.bench.model.command_line import Launch, Tool, ranks_asked, start_words
from forebay.bench.model.program_words import (
    RESULT_OPTION,
    FlagLetters,
    json_file,
    leaves_ranks_out,
)
from forebay.bench.model.result import BenchResult
from forebay.bench.use_case.program import FAMILY_VARIABLE, named_family, program_words
from forebay.common.model.errors import BenchUsageError, RecordError, SetupError
from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import Flavour, find_launcher
from forebay.common.model.units import counted
from forebay.ports import LauncherFacts, World

_LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.mpich", "mpirun.openmpi")
_STANDARD_OUTPUT = Path("-")
Ended = TypeVar("Ended")


class BenchResults(Protocol):
    """Files that the native programs wrote."""

    def stamp(self, path: Path) -> str:
        """Another one whenever the file is written; empty when there is none."""

    def read(self, path: Path) -> tuple[BenchResult, str]:
        """The result in the file, and its text.
        RecordError: cannot be read, or not a result of a known schema."""


class Pages(Protocol):
    """HTML pages."""

    def check(self, path: Path) -> None:
        """SetupError: what draws is not installed; BenchUsageError: `path` cannot be written."""

    def write(self, result: BenchResult, path: Path) -> None:
        """One self-contained page. SetupError: what draws is not installed."""


@frozen
class BenchWorld:
    """The ports of a benchmark, and which options of the programs have no value."""

    world: World
    results: BenchResults
    pages: Pages
    letters: FlagLetters
    is_root: bool


@frozen
class BenchPlan:
    """The command to start. `ranks`: how many must take part, if known. `json`: the file that the
    program writes; it is ours if `json_is_ours`."""

    words: tuple[str, ...]
    ranks: int | None
    environment: Mapping[str, str]
    json: Path
    json_is_ours: bool
    program: tuple[str, ...] = ()
    """Those of the words that are the benchmark's own name."""


@frozen
class Left:
    """The content of the file after a run: nothing (a dry run, or it failed early), an unreadable
    result, or a result with its text."""

    result: BenchResult | None = None
    text: str = ""
    complaint: str = ""
    warning: str = ""


@frozen
class BenchReport:
    """How it ended, and what it left."""

    status: int
    left: Left


def plan_bench(
    tool: Tool,
    words: Sequence[str],
    launch: Launch,
    bench: BenchWorld,
    *,
    read_by: str | None = None,
) -> BenchPlan:
    """Finds launcher and program. `read_by`: what needs the result afterwards.
    SetupError, BenchUsageError: nothing was started."""
    given = json_file(tool, words, bench.letters)
    _check_json(given, read_by, bench)
    facts = _launcher(launch, bench)
    start = start_words(launch, launcher=str(facts.path), flavour=facts.flavour, root=bench.is_root)
    program = program_words(tool, facts, bench.world)
    # Rank 0 may be on another node when a batch system starts it.
    shared = facts.flavour is Flavour.SLURM or bool(launch.words)
    json = given if given is not None else bench.world.records.temporary(shared=shared)
    # Before the user's words: behind them a -- would hide it, or an option take it for its value.
    ours = () if given is not None else (RESULT_OPTION, str(json))
    return BenchPlan(
        words=(*start, *program, *ours, *words),
        ranks=None if leaves_ranks_out(tool, words, bench.letters) else ranks_asked(launch),
        environment=bench.world.environment,
        json=json,
        json_is_ours=given is None,
        program=program,
    )


def carry_out_bench(plan: BenchPlan, bench: BenchWorld, *, quiet: bool) -> BenchReport:
    """Runs in the foreground; `quiet` sends what the program prints to standard error."""
    words = ("sh", "-c", 'exec "$@" >&2', "sh", *plan.words) if quiet else plan.words
    finished, left = run_and_read(
        plan, bench, lambda: bench.world.processes.run(words, environment=plan.environment)
    )
    return BenchReport(status=finished.status, left=left)


def run_and_read(
    plan: BenchPlan, bench: BenchWorld, run: Callable[[], Ended]
) -> tuple[Ended, Left]:
    """Runs, and reads what was written meanwhile: a file of the user's own may be there from an
    earlier run. A result that cannot be read is a complaint: the run's status must not be lost."""
    before = bench.results.stamp(plan.json)
    try:
        ended = run()
        if bench.results.stamp(plan.json) in ("", before):
            return ended, Left()
        result, text = bench.results.read(plan.json)
        return ended, Left(result=result, text=text, warning=_warning(plan, result))
    except RecordError as error:
        return ended, Left(complaint=str(error))
    finally:
        if plan.json_is_ours:
            bench.world.records.remove(plan.json)


def _warning(plan: BenchPlan, result: BenchResult) -> str:
    """An MPI that does not know its launcher runs every rank as a job of its own."""
    if plan.ranks in (None, result.ranks) or not result.measurements:
        return ""
    return (
        f"{result.ranks} of {counted(plan.ranks, 'rank')} are in the result "
        "(the launcher is perhaps of "
        f"another MPI than the program, which is built for {result.mpi}: each rank then runs "
        f"alone). Use that MPI's launcher, or set {FAMILY_VARIABLE}."
    )


def _launcher(launch: Launch, bench: BenchWorld) -> LauncherFacts:
    launchers = bench.world.launchers
    if launch.words:
        at = find_launcher(launch.words)
        facts = None if at is None else launchers.inspect(launch.words[at])
        if facts is None:
            raise BenchUsageError(
                f'no launcher in "{" ".join(launch.words)}" (mpiexec, mpirun and srun are known). '
                "Write it as on the command line, for instance mpiexec -n 4."
            )
        return facts
    named = named_family(bench.world.environment)
    first = None
    for name in _LAUNCHERS:
        facts = launchers.inspect(name)
        if facts is None or facts.flavour is Flavour.OTHER:
            continue
        if named in (None, facts.family):
            return facts
        first = first or facts
    if first is not None:
        return first
    raise SetupError(
        "there is no launcher on PATH (mpiexec and mpirun were looked for). Load an MPI, or give "
        "one by --launcher."
    )


def _check_json(given: Path | None, read_by: str | None, bench: BenchWorld) -> None:
    if given is None:
        return
    to_a_file = given != _STANDARD_OUTPUT
    obstacle = bench.world.outputs.obstacle(given) if to_a_file else None
    if obstacle is not None:
        raise BenchUsageError(
            f"cannot write the result {given} ({obstacle}). Name a file that can be written here."
        )
    if read_by is not None and not (to_a_file and (given.is_file() or not given.exists())):
        raise BenchUsageError(
            f"the result cannot go to {given} here ({read_by} reads it from a file when the run "
            "is over). Name a file, or leave it out."
        )
