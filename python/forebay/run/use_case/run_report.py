"""Use case: what became of a program's files, when it has ended."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Sequence
from pathlib import Path

from forebay import __version__
from forebay.common.model.errors import RecordError
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import starts_others
from forebay.common.model.program import Linkage
from forebay.common.model.record import (
    FileSummary,
    JobRecord,
    Record,
    RunRecord,
    distinct_jobs,
    summarise,
)
from forebay.pool.use_case.pool_record import pool_record
from forebay.pool.use_case.run_pool import PoolOutcome
from forebay.ports import CutWorld, Finished, RunWorld
from forebay.run.use_case.empty_pool import Traces, is_empty, reasons_for_an_empty_pool
from forebay.run.use_case.pool_warnings import BATCH_VARIABLES, HOST_OPTIONS
from forebay.run.use_case.run_plan import RunPlan
from forebay.tier.model import TierTotals

_NO_IO_RANKS = (
    "there were no I/O ranks (no program has called MPI_Init where Forebay was loaded, or it said "
    "above why it has all ranks). If it has computed, then with all ranks that were started."
)


@frozen
class RunReport:
    """The outcome of a run. `status` is the program's, or, if that is 0, says that bytes in the
    pool did not arrive. `reasons` says why nothing was recorded; empty if something was."""

    status: int
    seconds: float
    command: tuple[str, ...]
    record: Path | None
    jobs: tuple[JobRecord, ...]
    files: tuple[FileSummary, ...]
    warnings: tuple[str, ...]
    reasons: tuple[str, ...]
    pool: PoolOutcome | None = None
    worlds: tuple[CutWorld, ...] = ()
    """The MPI worlds that had I/O ranks."""
    told: tuple[str, ...] = ()
    """Those of the warnings that the user was told when the program was started."""
    tiers: tuple[TierTotals, ...] = ()


def reported(
    plan: RunPlan, finished: Finished, outcome: PoolOutcome | None, world: RunWorld, *, since: int
) -> RunReport:
    """The report of a run that has ended. `since` is the moment at which it began."""
    found, complaint = _recorded(plan, world)
    worlds = tuple(world.records.cut_worlds(plan.record)) if plan.io_ranks else ()
    complaint += _tell_run(plan, finished, outcome, world, worlds=worlds)
    if plan.io_ranks and not worlds:
        complaint += (_NO_IO_RANKS,)
    return RunReport(
        status=finished.status,
        seconds=finished.seconds,
        command=plan.words,
        record=plan.record if plan.record_is_kept else None,
        jobs=distinct_jobs(found.jobs),
        files=summarise(found.files),
        warnings=(*plan.warnings, *complaint),
        reasons=_empty_pool(plan, finished.status, found, outcome, world, since)
        if outcome is not None
        else ()
        if found.files or complaint
        else reasons_for_silence(plan, finished.status, met_mpi=bool(found.jobs)),
        pool=outcome,
        worlds=worlds,
    )


def _empty_pool(
    plan: RunPlan, status: int, found: Record, outcome: PoolOutcome, world: RunWorld, since: int
) -> tuple[str, ...]:
    """Why nothing went through the pool; empty if something did. `since` is the moment at which the
    program was started."""
    if not is_empty(outcome):
        return ()
    by_mpi = [world.folder / file.path for file in found.files if file.write.calls]
    changed = world.outputs.changed(world.folder, plan.words[1:], since=since)
    ours = plan.record.resolve()
    written = [path for path in dict.fromkeys([*by_mpi, *changed]) if path != ours]
    traces = Traces(
        written=tuple(written),
        programs=plan.programs,
        ending=_ending(status) if status else None,
        is_ours=plan.launcher is None
        and [one.linkage for one in plan.programs] == [Linkage.DYNAMIC]
        and not starts_others(plan.words),
        is_mounted=plan.pool is not None and plan.pool.mounts is not None,
    )
    return reasons_for_an_empty_pool(outcome, traces)


def _recorded(plan: RunPlan, world: RunWorld) -> tuple[Record, tuple[str, ...]]:
    """The record, and complaints about it. It raises nothing: the program has ended, and its status
    must be reported."""
    try:
        found = world.records.read(plan.record, offset=plan.record_offset)
    except RecordError as error:
        return Record(), (str(error),)
    if not found.damaged_lines:
        return found, ()
    lines = ", ".join(str(line) for line in found.damaged_lines[:5])
    return found, (
        f"the record is damaged (line {lines} of it is not a record's line). "
        "Was the program killed while writing it, or does something else write there?",
    )


def _tell_run(
    plan: RunPlan,
    finished: Finished,
    outcome: PoolOutcome | None,
    world: RunWorld,
    *,
    worlds: Sequence[CutWorld],
) -> tuple[str, ...]:
    """Appends the run itself to a record that is kept: its length, and the traffic through its
    pool, which is all that a program without MPI leaves. Returns complaints."""
    if not plan.record_is_kept:
        return ()
    seen: set[int | None] = {one.ranks - one.io_ranks for one in worlds} or {plan.ranks}
    run = RunRecord(
        forebay=__version__,
        command=shlex.join(plan.command or plan.words),
        seconds=finished.seconds,
        status=finished.status,
        pool=None if outcome is None else pool_record(outcome),
        ranks=seen.pop() if len(seen) == 1 else None,
    )
    try:
        world.records.append(plan.record, run)
    except RecordError as error:
        return (str(error),)
    return ()


def reasons_for_silence(plan: RunPlan, status: int, *, met_mpi: bool = False) -> tuple[str, ...]:
    """Why a run left no record of a file: the certain reasons, or else likely ones. `met_mpi` says
    that Forebay was loaded when the program initialised MPI.
    """
    if not plan.is_enabled:
        return ("Forebay is switched off by the setting `enabled = false`.",)
    if plan.inside is not None:
        return (plan.inside,)
    known = [program.obstacle for program in plan.programs if program.obstacle]
    if known:
        return tuple(known)
    reasons = list(_of_other_calls(plan)) if status == 0 else []
    if reasons and plan.launcher is None and not starts_others(plan.words):
        return tuple(reasons)
    if status != 0:
        reasons.append(
            f"The program {_ending(status)}. A file is recorded when it is closed, or when the "
            "program ends by itself; MPI_Abort and signals leave no time for it."
        )
    if plan.record_is_kept:
        reasons.append("The record could not be written (messages above then say so).")
    reasons.append(
        "The program opened no file by MPI-IO (nor by a library that uses it). Files that it "
        "writes by other calls go through a pool, if you say --pool FOLDER."
    )
    if met_mpi:
        return tuple(reasons)
    reasons += _of_other_calls(plan) if status != 0 else ()
    if any(program.linkage is Linkage.SCRIPT for program in plan.programs):
        reasons.append(
            "The command is a script, and what it starts is statically linked or uses no MPI. "
            "`forebay doctor --program FILE` looks at an executable."
        )
    if plan.launcher is None or plan.launcher.flavour is Flavour.OTHER:
        reasons.append(
            "LD_PRELOAD or FOREBAY_* did not reach the ranks (a launcher or script in between "
            "took them out). `forebay doctor` tries the launchers."
        )
    if not plan.record_is_kept and _may_leave_the_node(plan):
        reasons.append(
            "Rank 0 ran on another node, where the record was written out of our sight. "
            "Say `--record FILE` with a file that all nodes see."
        )
    return tuple(reasons)


def _of_other_calls(plan: RunPlan) -> tuple[str, ...]:
    """A hint for programs without MPI, whose users may not know that the pool serves them, too."""
    without = [
        program.path
        for program in plan.programs
        if program.linkage is Linkage.DYNAMIC and program.mpi_library is None
    ]
    if not without:
        return ()
    return (
        f"{', '.join(map(str, without))} is linked to no MPI (it would have to load one later, as "
        "Python does), and without --pool Forebay serves MPI-IO only. So that it does not wait "
        "for the files that it writes by other calls, name their folder: forebay run --pool "
        "FOLDER -- …",
    )


def _may_leave_the_node(plan: RunPlan) -> bool:
    in_batch = any(name in plan.environment for name in BATCH_VARIABLES)
    return in_batch or not HOST_OPTIONS.isdisjoint(plan.words)


def _ending(status: int) -> str:
    number = status - 128
    if number not in set(signal.Signals):
        return f"failed (status {status})"
    name = signal.Signals(number).name
    return f"failed (status {status}: its launcher's own, or {name} ended it)"
