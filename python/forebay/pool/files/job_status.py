"""The statuses of all daemons of the user on all nodes of a job: `forebay pool status --all` is
started on each of them, and says one JSON document a line."""

import contextlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.errors import PoolError, UsageError
from forebay.common.model.units import counted
from forebay.pool.files.daemon_document import decode_status
from forebay.pool.files.fleet import starter_of
from forebay.pool.model.place import PoolPlace
from forebay.pool.model.pool import PoolStatus
from forebay.pool.use_case.run_pool import NodePlan
from forebay.ports import Processes

_COMMAND = Path(__file__).parents[2]
_WORDS = ("pool", "status", "--all", "--format", "json")
_SECONDS_MAX = 60.0
_SAID_MAX = 500


def job_statuses(
    plan: NodePlan, processes: Processes, environment: Mapping[str, str]
) -> tuple[PoolStatus, ...]:
    """The statuses, by node and process. Raises UsageError if it is not known which nodes the job
    has, and PoolError if a command could not be started on each of them."""
    if plan.nodes < 2:
        raise UsageError(
            "cannot ask all nodes of the job (it is not known which they are: this is no Slurm job "
            "of several nodes, and pool_nodes and pool_starter are not set). Set both as for the "
            "run, for instance FOREBAY_POOL_NODES=2 FOREBAY_POOL_STARTER=mpiexec,-n,2,-ppn,1."
        )
    place = PoolPlace(
        socket=Path(),
        environment=environment,
        folder=Path.cwd(),
        nodes=plan.nodes,
        starter=plan.starter,
    )
    starter = starter_of(place)
    words = (*starter, sys.executable, str(_COMMAND), *_WORDS)
    ended = processes.capture(words, environment=environment, seconds_max=_SECONDS_MAX)
    found = _decoded(ended.output.splitlines())
    if ended.status != 0 and not found:
        why = "it was not done in time" if ended.status is None else f"status {ended.status}"
        said = ended.errors.strip()[-_SAID_MAX:]
        raise PoolError(
            f"cannot ask the {counted(plan.nodes, 'node')} of the job ({why}: {said or 'no words'})"
            f". See whether a command runs on each of them: {' '.join(starter)} hostname"
        )
    return found


def _decoded(lines: Sequence[str]) -> tuple[PoolStatus, ...]:
    """The statuses among the lines, each once: a starter may number its lines or add others."""
    found: dict[tuple[str, int], PoolStatus] = {}
    for line in lines:
        with contextlib.suppress(PoolError):
            status = decode_status(line[line.find("{") :])
            found[(status.host, status.process)] = status
    return tuple(found[key] for key in sorted(found))
