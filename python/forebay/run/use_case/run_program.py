"""Use case: run a program through Forebay as planned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.common.model.errors import MountRefusedError
from forebay.pool.use_case.ports import Progress
from forebay.pool.use_case.run_pool import PoolOutcome, captured_instead, run_through
from forebay.ports import Finished, RunWorld
from forebay.run.use_case.run_plan import RunPlan

if TYPE_CHECKING:
    from forebay.run.use_case.run_report import RunReport


def carry_out(plan: RunPlan, world: RunWorld, *, progress: Progress | None = None) -> RunReport:
    """Carries out the plan, or, where mounts are refused that are not required, the plan without
    them, and says so. Raises LaunchError or PoolStartError if the program could not be started."""
    since = world.outputs.moment()
    told: tuple[str, ...] = ()
    try:
        try:
            finished, outcome = _run(plan, world, progress)
        except MountRefusedError as refusal:
            if plan.without_mounts is None:
                raise
            plan, warning = plan.without_mounts, captured_instead(refusal)
            plan = replace(plan, warnings=(*plan.warnings, warning))
            if progress is not None:
                progress.note(warning)
                told = (warning,)
            finished, outcome = _run(plan, world, progress)
        # Only now, so that the program did not wait for it.
        from forebay.run.use_case.run_report import reported

        return replace(reported(plan, finished, outcome, world, since=since), told=told)
    finally:
        if not plan.record_is_kept:
            world.records.remove(plan.record)
        if plan.pool is not None:
            world.pools.remove_room(plan.pool.socket)


def _run(
    plan: RunPlan, world: RunWorld, progress: Progress | None
) -> tuple[Finished, PoolOutcome | None]:
    return run_through(
        plan.pool,
        plan.environment,
        world,
        program=lambda environment, started, job_ending, enter: world.processes.run(
            enter(plan.words),
            environment=environment,
            started=started,
            job_ending=job_ending,
        ),
        progress=progress,
        is_sampled=plan.record_is_kept,
    )
