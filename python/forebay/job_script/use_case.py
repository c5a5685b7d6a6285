"""Use case: plan a batch job from what the user asks for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath

from forebay.common.model.errors import UsageError
from forebay.common.model.frozen import frozen
from forebay.job_script.model import (
    TASK,
    BatchJob,
    BatchSystem,
    array_of,
    end_signal_of,
    job_name,
    launched,
    seconds_of,
)
from forebay.pool.use_case.run_pool import check_words
from forebay.ports import RunWorld
from forebay.settings.model.given import Override
from forebay.settings.model.table import missing_units
from forebay.settings.use_case import effective_settings

_OPERATORS = frozenset("|&;<>()")


@frozen
class ScriptRequest:
    """The options of `forebay job-script`. `command` is the first step; `steps` are command lines
    of those behind it."""

    systems: tuple[BatchSystem, ...]
    command: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    nodes: int = 1
    tasks: int = 1
    time: str = "01:00:00"
    name: str | None = None
    pool: tuple[Path, ...] = ()
    journal: Path | None = None
    overrides: tuple[Override, ...] = ()
    signal: str | None = None
    array: str | None = None
    record: Path | None = None


@frozen
class PlannedJob:
    """The job, and warnings about it for the user."""

    job: BatchJob
    warnings: tuple[str, ...] = ()


def plan_job(request: ScriptRequest, world: RunWorld) -> PlannedJob:
    """The job that is asked for. Raises UsageError or SettingsError if it is not possible."""
    system = _system(request.systems)
    check_words(request.pool, world.folder)
    ranks = request.nodes * request.tasks
    first = launched(request.command, system=system, ranks=ranks) if request.command else ()
    steps = tuple(step for step in (first, *map(_words_of, request.steps)) if step)
    if not steps:
        raise UsageError(
            "there is nothing to run (no program was given). "
            "Say `forebay job-script --slurm -- ./program`."
        )
    if any(PurePath(step[0]).name == "forebay" for step in steps):
        raise UsageError(
            "cannot put `forebay` behind `forebay run` (the script has it already). "
            "Give the program with its launcher, as without Forebay."
        )
    if request.signal is not None and system is BatchSystem.PBS:
        raise UsageError(
            "cannot ask PBS for --signal (it sends none before the end of a job). Leave it out: "
            "the script tells the pool when the job ends."
        )
    job = BatchJob(
        system=system,
        name=job_name(request.name, steps[0], system),
        steps=steps,
        nodes=request.nodes,
        tasks=request.tasks,
        seconds=seconds_of(request.time),
        pool=tuple(map(str, request.pool)),
        settings=_settings(request),
        signal=None if request.signal is None else end_signal_of(request.signal),
        array=None if request.array is None else array_of(request.array),
        record=None if request.record is None else str(request.record),
    )
    effective = effective_settings(
        world.settings, file=None, environment={}, options=request.overrides
    )
    return PlannedJob(job=job, warnings=(*missing_units(effective), *_warnings(job, world)))


def _system(systems: Sequence[BatchSystem]) -> BatchSystem:
    if len(systems) != 1:
        raise UsageError(
            f"cannot write a batch script ({len(systems)} batch systems were named). "
            "Say one of --slurm, --pbs and --lsf."
        )
    return systems[0]


def _words_of(line: str) -> tuple[str, ...]:
    """The words of a --step. Raises UsageError for what would need a shell."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(
            f'cannot use --step "{line}" ({str(error).lower()}). Close its quotes.'
        ) from error
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.commenters = ""
    if not words:
        raise UsageError("cannot use an empty --step (is a variable not set?). Name a program.")
    if any(word and _OPERATORS.issuperset(word) for word in lexer):
        raise UsageError(
            f'cannot use --step "{line}" (it has an operator of the shell, and a step is one '
            f"program). Have a shell run it: --step {shlex.quote('bash -c ' + shlex.quote(line))}."
        )
    return tuple(words)


def _settings(request: ScriptRequest) -> tuple[str, ...]:
    """KEY=VALUE of the journal, then those of the user, which win."""
    own = [f"{one.name}={one.text}" for one in request.overrides]
    if request.journal is None:
        return tuple(own)
    if not request.pool:
        raise UsageError("cannot keep a --journal (there is no pool). Say --pool FOLDER, too.")
    name = "forebay-journal" + (f"-{TASK}" if request.array else "")
    return ("pool_durability=node", f"pool_journal={request.journal / name}", *own)


def _warnings(job: BatchJob, world: RunWorld) -> tuple[str, ...]:
    said = []
    words = [
        *job.pool,
        *job.settings,
        job.record or "",
        *(word for step in job.steps for word in step),
    ]
    if job.array is None and any(TASK in word for word in words):
        said.append(f"{TASK} is left as it is (the job is no array). Say --array 1-10.")
    for path in job.pool:
        if not (job.array and TASK in path) and not (world.folder / path).exists():
            said.append(
                f"there is no {path} here (it has to be there when the job begins). "
                f"Check the spelling, or make it: mkdir -p {shlex.quote(path)}"
            )
    return tuple(said)
