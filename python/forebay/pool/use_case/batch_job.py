"""Finds out when the surrounding Slurm job will end."""

from __future__ import annotations

from collections.abc import Mapping

from forebay.ports import Processes

END_VARIABLE = "SLURM_JOB_END_TIME"
"""Seconds since the epoch, read by the daemon. Slurm 22.05 (Debian 12) does not set it."""
_JOB_VARIABLE = "SLURM_JOB_ID"
_SECONDS_MAX = 10.0


def with_job_end(environment: Mapping[str, str], processes: Processes) -> Mapping[str, str]:
    """The environment with END_VARIABLE, which squeue supplies if Slurm did not set it. Unchanged
    if there is no job, squeue fails, or the job has no time limit."""
    job = environment.get(_JOB_VARIABLE, "")
    if not job or environment.get(END_VARIABLE):
        return environment
    import datetime  # here, since a program waits for what is imported before it

    done = processes.capture(
        ("squeue", "--noheader", f"--jobs={job}", "--format=%e"),
        environment={**environment, "SLURM_TIME_FORMAT": "standard"},
        seconds_max=_SECONDS_MAX,
    )
    lines = done.output.split()
    if done.status != 0 or not lines:
        return environment
    try:
        end = datetime.datetime.fromisoformat(lines[0]).astimezone()
    except ValueError:  # "NONE", "Unknown"
        return environment
    return {**environment, END_VARIABLE: str(int(end.timestamp()))}
