"""Warnings about the pool before the run: that it does not reach all ranks, and how to
make it do so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from forebay.common.files.batch_job import is_job_of_one_node, nodes_of_job
from forebay.common.model.launcher import find_launcher
from forebay.pool.model.starter import Launching
from forebay.pool.use_case.run_pool import NodePlan

BATCH_VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "FLUX_URI")
HOST_OPTIONS = frozenset(
    "-H -host --host -hosts --hosts -hostlist --hostlist -hostfile --hostfile -machinefile "
    "--machinefile -f".split()
)
_PAST_IT = (
    "write to the file system directly, and do not see what is still in it. Use it for programs "
    "that run on one node"
)
_ALL_IS_WELL = "`--set pool_nodes=1` says that all is well."
_ANY_STARTER = (
    "say by the settings pool_nodes and pool_starter on how many nodes, and by which command, a "
    "daemon is started on each"
)


def reach_warnings(
    command: Sequence[str],
    launch: Launching | None,
    on: NodePlan,
    environment: Mapping[str, str],
) -> tuple[str, ...]:
    """Warnings if the pool's daemons may not be on all nodes that have ranks of the program."""
    if launch is not None and launch.is_detached:
        name = PurePath(launch.launcher).name
        return (
            f"`{name} {launch.subcommand}` returns before the program ends, or starts it in an "
            f"allocation of its own: this pool does not reach it. Use `{name} run`, or put "
            "`forebay run` into what it starts.",
        )
    if on.nodes > 1:
        return ()
    if launch is not None and launch.known.has_ranks_elsewhere:
        if on.is_told:
            return ()
        name = PurePath(launch.launcher).name
        return (
            f"the pool is on this node only, and {name} may start all ranks on others: these "
            f"{_PAST_IT}, or {_how(launch, environment)}. {_ALL_IS_WELL}",
        )
    if is_job_of_one_node(environment):
        return ()
    if find_launcher(command) is None:
        if on.is_told:
            return ()
        return _of_unknown(command[0], environment)
    in_batch = any(environment.get(name) for name in BATCH_VARIABLES)
    if not in_batch and HOST_OPTIONS.isdisjoint(command):
        return ()
    return (
        f"the pool is on this node only: ranks on other nodes {_PAST_IT}, or "
        f"{_how(launch, environment)}.",
    )


def _how(launch: Launching | None, environment: Mapping[str, str]) -> str:
    """How daemons are started on several nodes with this launcher."""
    if launch is None or not launch.is_usable:
        return _ANY_STARTER
    name = PurePath(launch.launcher).name
    how = f"say `--set pool_nodes={nodes_of_job(environment) or 'N'}`: {name} then starts a daemon"
    if launch.known.takes_cores:
        return f"{how} on each node, which takes a core (leave one free, or the program waits)"
    return f"{how} on each node"


def _of_unknown(word: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """A warning for a command that is not known as a launcher, in a job of several nodes."""
    nodes = nodes_of_job(environment)
    if nodes is None or nodes < 2:
        return ()
    return (
        f"the pool is on this node only, and the job has {nodes}: {PurePath(word).name} is not "
        f"known as a launcher. If it starts processes on other nodes, they {_PAST_IT}, or "
        f"{_ANY_STARTER}: `--set pool_nodes={nodes} --set pool_starter=COMMAND,OPTION`. "
        f"{_ALL_IS_WELL}",
    )
