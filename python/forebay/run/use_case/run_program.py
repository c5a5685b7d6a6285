"""Use case: run a program through Forebay as planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.pool.use_case.ports import Progress
from forebay.pool.use_case.run_pool import run_through
from forebay.ports import RunWorld
from forebay.run.use_case.run_plan import RunPlan

if TYPE_CHECKING:
    from forebay.run.use_case.run_report import RunReport


def carry_out(plan: RunPlan, world: RunWorld, *, progress: Progress | None = None) -> RunReport:
    """Carries out the plan. Raises LaunchError or PoolStartError if the program could not be
    started."""
    since = world.outputs.moment()
    try:
        finished, outcome = run_through(
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
        # Only now, so that the program did not wait for it.
        from forebay.run.use_case.run_report import reported

        return reported(plan, finished, outcome, world, since=since)
    finally:
        if not plan.record_is_kept:
            world.records.remove(plan.record)
        if plan.pool is not None:
            world.pools.remove_room(plan.pool.socket)
