"""Finds out about the surrounding batch job: when it will end, and how many nodes it has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forebay.ports import Processes

END_VARIABLE = "SLURM_JOB_END_TIME"
"""Seconds since the epoch, read by the pool's daemon. Slurm 22.05 (Debian 12) does not set it."""
_JOB_VARIABLE = "SLURM_JOB_ID"
_CSM_VARIABLE = "CSM_ALLOCATION_ID"
_FLUX_NODES = """
[ "$(flux getattr security.owner)" = "$(id -u)" ] || exit 1
nodes=$(flux getattr size)
[ "$nodes" = "$(flux exec --noinput hostname | sort -u | wc -l)" ] && echo "$nodes"
"""
_SECONDS_MAX = 10.0
_FLUX_SECONDS_MAX = 30.0


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


def job_end_of(environment: Mapping[str, str], processes: Processes) -> int:
    """When the batch job ends, in seconds since the epoch; 0: there is none, or it has no limit."""
    text = with_job_end(environment, processes).get(END_VARIABLE, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def nodes_of_job(environment: Mapping[str, str]) -> int | None:
    """The number of nodes of the job, as Slurm, PBS or LSF says; None without a job, or if none of
    them says so."""
    if nodes := environment.get("SLURM_JOB_NUM_NODES"):
        return int(nodes) if nodes.isdecimal() else None
    if hosts := environment.get("LSB_MCPU_HOSTS"):  # name and slots of each host
        named = list(dict.fromkeys(hosts.split()[::2]))
        # With CSM (jsrun), the first host is that of the script, and has no ranks.
        return len(named[1:] if environment.get(_CSM_VARIABLE) else named)
    try:
        hosts = Path(environment["PBS_NODEFILE"]).read_text(encoding="utf-8", errors="replace")
    except (KeyError, OSError):
        return None
    return len({*hosts.split()})


def is_job_of_one_node(environment: Mapping[str, str]) -> bool:
    """Whether Slurm, PBS or LSF says that the job has a single node. False without a job."""
    return nodes_of_job(environment) == 1


def nodes_of_flux(processes: Processes, environment: Mapping[str, str]) -> int:
    """The number of nodes of the Flux instance, 0 if it is not the user's (then `flux exec` is not
    allowed) or has several brokers on a node."""
    done = processes.capture(
        ("sh", "-c", _FLUX_NODES), environment=environment, seconds_max=_FLUX_SECONDS_MAX
    )
    text = done.output.strip()
    return int(text) if done.status == 0 and text.isdecimal() else 0
