"""Finds what a run is inside of: a launcher that has started it once for each rank, a pool that is
there already, or limits that leave a pool no room. The user reads this before all else, since it
explains everything that looks strange."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.errors import PoolError
from forebay.common.model.frozen import frozen
from forebay.pool.model.pool import PATHS_VARIABLE, SOCKET_VARIABLE
from forebay.pool.use_case.ports import resolved
from forebay.ports import World

_SIZES_AND_RANKS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)
"""Variables of Open MPI's, MPICH's and Slurm's tasks."""


@frozen
class Inside:
    """`reason`: what explains that nothing is recorded, if that is so. `is_told`: also before the
    run. `has_no_pool`: this run is to have no pool of its own."""

    reason: str
    is_told: bool
    has_no_pool: bool


def look_around(given: Sequence[Path], words: Sequence[str], world: World) -> Inside | None:
    """Looks for what surrounds a run of these words, with a pool for the given paths. None:
    nothing."""
    if (process := _serving(given, world)) is not None:
        return Inside(
            reason=f"This run is inside of a pool that is there already (process {process} at "
            f"{world.environment[SOCKET_VARIABLE]}), and uses that: who started it tells at its "
            "end what became of the files.",
            is_told=True,
            has_no_pool=True,
        )
    if given and (why := world.pools.obstacle()) is not None:
        return Inside(reason=why, is_told=True, has_no_pool=True)
    if (count := _count(world.environment)) > 1:
        return Inside(
            reason=_right_order(count, words, pool=bool(given)),
            is_told=_is_first(world.environment),
            has_no_pool=True,
        )
    if world.environment.get(SOCKET_VARIABLE) and not given:
        return Inside(
            reason=f"Files below {world.environment.get(PATHS_VARIABLE, 'its paths')} go through "
            f"a pool that was started before, at {world.environment[SOCKET_VARIABLE]}: "
            "`forebay pool status` shows them.",
            is_told=False,
            has_no_pool=True,
        )
    return None


def _right_order(count: int, words: Sequence[str], *, pool: bool) -> str:
    option = "--pool PATH " if pool else ""
    without = " The pool is left out: no rank would see what another one writes." if pool else ""
    return (
        f"`forebay run` was started {count} times, by a launcher, so that each of them sees one "
        f"rank only and reports by itself.{without} Put it in front of the launcher: "
        f"forebay run {option}-- mpiexec -n {count} {shlex.join(words)}"
    )


def _tasks(environment: Mapping[str, str]) -> tuple[int, int]:
    """How many there are, and which one this is; 0 of 1 where no launcher says so."""
    for size, rank in _SIZES_AND_RANKS:
        count, number = environment.get(size, ""), environment.get(rank, "")
        if count.isdecimal() and number.isdecimal():
            return int(count), int(number)
    return 1, 0


def _count(environment: Mapping[str, str]) -> int:
    return _tasks(environment)[0]


def _is_first(environment: Mapping[str, str]) -> bool:
    return _tasks(environment)[1] == 0


def _serving(given: Sequence[Path], world: World) -> int | None:
    """The process of a daemon that all of these paths go through already: a second one would not
    know what it holds. None: there is none."""
    socket = world.environment.get(SOCKET_VARIABLE)
    served = [Path(one) for one in world.environment.get(PATHS_VARIABLE, "").split(",") if one]
    if not socket or not given:
        return None
    for path in resolved(given, world.folder):
        if not any(path.is_relative_to(one) for one in served):
            return None
    try:
        return world.pools.connect(Path(socket)).status().process
    except PoolError:
        return None
