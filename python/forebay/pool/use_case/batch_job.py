"""Finds out about the surrounding batch job: when it will end, and whether it has one node."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

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


def is_job_of_one_node(environment: Mapping[str, str]) -> bool:
    """Whether Slurm, PBS or LSF says that the job has a single node. False without a job."""
    if nodes := environment.get("SLURM_JOB_NUM_NODES"):
        return nodes == "1"
    if hosts := environment.get("LSB_MCPU_HOSTS"):  # name and slots of each host
        return len({*hosts.split()[::2]}) == 1
    try:
        hosts = Path(environment["PBS_NODEFILE"]).read_text(encoding="utf-8", errors="replace")
    except (KeyError, OSError):
        return False
    return len({*hosts.split()}) == 1
