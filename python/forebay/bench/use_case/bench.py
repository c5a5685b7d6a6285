"""Use case: run a native benchmark under a launcher and read its result."""

from __future__ import annotations

import re
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
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import find_launcher
from forebay.common.model.units import counted
from forebay.machine_ports import World
from forebay.ports import LauncherFacts

_LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.mpich", "mpirun.openmpi")
_STANDARD_OUTPUT = Path("-")
_DRY_RUN = "--dry-run"
_AGAIN_SECONDS_MAX = 20.0
_MESSAGE = re.compile(r"^(?:ERROR|forebay): (.+)$", re.MULTILINE)
Ended = TypeVar("Ended")


class BenchResults(Protocol):
    """The port to result files that the native programs write."""

    def stamp(self, path: Path) -> str:
        """A text that changes whenever the file is written; empty if there is none."""

    def read(self, path: Path) -> tuple[BenchResult, str]:
        """The result in the file, and its text. Raises RecordError if it cannot be read, or has no
        known schema."""


class Pages(Protocol):
    """The port to HTML pages."""

    def check(self, path: Path) -> None:
        """Raises SetupError if the drawing packages are missing, and BenchUsageError if `path`
        cannot be written."""

    def write(self, result: BenchResult, path: Path) -> None:
        """Writes a self-contained page. Raises SetupError if the drawing packages are missing."""


@frozen
class BenchWorld:
    """The ports of a benchmark, and the letters of the programs' options without a value."""

    world: World
    results: BenchResults
    pages: Pages
    letters: FlagLetters
    is_root: bool


@frozen
class BenchPlan:
    """The command to start. `ranks` is the number that has to take part, None if not known. `json`
    is the file that the program writes; if `json_is_ours`, it is temporary."""

    words: tuple[str, ...]
    ranks: int | None
    environment: Mapping[str, str]
    json: Path
    json_is_ours: bool
    program: tuple[str, ...] = ()
    """The words that start the benchmark's executable, without its options."""
    again: tuple[str, ...] = ()
    """The words that have the program look at its options alone, without the launcher; empty if
    this launcher lets the program's message be the last."""


@frozen
class Left:
    """The content of the result file after a run: nothing (a dry run, or an early failure), an
    unreadable result, or a result with its text."""

    result: BenchResult | None = None
    text: str = ""
    complaint: str = ""
    warning: str = ""


@frozen
class BenchReport:
    """The exit status of a benchmark, and what it left. `usage` is the program's message where it
    could not use its options and the launcher has written its own lines below that."""

    status: int
    left: Left
    usage: str = ""


def plan_bench(
    tool: Tool,
    words: Sequence[str],
    launch: Launch,
    bench: BenchWorld,
    *,
    read_by: str | None = None,
) -> BenchPlan:
    """Finds launcher and program. `read_by` names the reader of the result, None if nobody reads
    it. If it raises SetupError or BenchUsageError, nothing was started."""
    given = json_file(tool, words, bench.letters)
    _check_json(given, read_by, bench)
    facts = _launcher(launch, bench)
    start = start_words(launch, launcher=str(facts.path), flavour=facts.flavour, root=bench.is_root)
    program = program_words(tool, facts, bench.world)
    # Rank 0 may be on another node when a batch system starts it.
    shared = facts.flavour is Flavour.SLURM or bool(launch.words)
    json = given if given is not None else bench.world.records.temporary(shared=shared)
    # It precedes the user's words: a `--` or an option that takes a value could swallow it.
    ours = () if given is not None else (RESULT_OPTION, str(json))
    return BenchPlan(
        words=(*start, *program, *ours, *words),
        ranks=None if leaves_ranks_out(tool, words, bench.letters) else ranks_asked(launch),
        environment=bench.world.environment,
        json=json,
        json_is_ours=given is None,
        program=program,
        again=(*program, _DRY_RUN, *words) if facts.flavour is Flavour.OPEN_MPI else (),
    )


def carry_out_bench(plan: BenchPlan, bench: BenchWorld, *, quiet: bool) -> BenchReport:
    """Runs in the foreground. `quiet` redirects the program's standard output to standard error."""
    words = ("sh", "-c", 'exec "$@" >&2', "sh", *plan.words) if quiet else plan.words
    finished, left = run_and_read(
        plan, bench, lambda: bench.world.processes.run(words, environment=plan.environment)
    )
    return BenchReport(
        status=finished.status, left=left, usage=_usage(finished.status, plan, bench)
    )


def _usage(status: int, plan: BenchPlan, bench: BenchWorld) -> str:
    """The program's message about options that it cannot use. Open MPI's mpiexec writes a dozen
    lines below it, about a process that ended with a status."""
    if status != BenchUsageError.exit_code or not plan.again:
        return ""
    ended = bench.world.processes.capture(
        plan.again, environment=plan.environment, seconds_max=_AGAIN_SECONDS_MAX
    )
    found = _MESSAGE.search(ended.errors)
    return found[1] if found and ended.status == status else ""


def run_and_read(
    plan: BenchPlan, bench: BenchWorld, run: Callable[[], Ended]
) -> tuple[Ended, Left]:
    """Runs, and reads the result if it was written meanwhile: the user's file may be left from an
    earlier run. An unreadable result is a complaint, no exception, so that the run's status is
    kept."""
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
    """A warning if ranks are missing: under a launcher of another MPI, each rank is a job of its
    own."""
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
                f'no launcher in "{" ".join(launch.words)}" (mpiexec, mpirun, srun, flux run, '
                "jsrun, aprun, ibrun and prun are known). "
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
