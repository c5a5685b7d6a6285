"""Detects the surroundings of a run: a launcher that starts `forebay run` once per rank, a pool
that exists already, or limits that leave no room for one. The message about them comes first, since
they explain everything else that looks strange."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.errors import PoolError
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import LONE_RANKS, SIZES_AND_RANKS
from forebay.pool.model.place import PATHS_VARIABLE, SOCKET_VARIABLE
from forebay.pool.use_case.ports import resolved
from forebay.ports import RunWorld


@frozen
class Inside:
    """The surroundings. `reason` explains why nothing is recorded, if that is so. `is_told`: it is
    printed before the run, too. `has_no_pool`: this run must not have a pool of its own."""

    reason: str
    is_told: bool
    has_no_pool: bool


def look_around(given: Sequence[Path], words: Sequence[str], world: RunWorld) -> Inside | None:
    """Detects the surroundings of a run of `words` with a pool for the paths in `given`. Returns
    None if there is nothing special."""
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
    tasks = _tasks(world.environment)
    if tasks is not None and tasks.count != 1:
        return Inside(
            reason=_right_order(tasks.count, words, pool=bool(given)),
            is_told=tasks.rank == 0,
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


def _right_order(count: int | None, words: Sequence[str], *, pool: bool) -> str:
    times, ranks = (f"{count} times", count) if count else ("in each rank", "RANKS")
    option = "--pool PATH " if pool else ""
    without = " The pool is left out: no rank would see what another one writes." if pool else ""
    return (
        f"`forebay run` was started {times}, by a launcher, so that each of them sees one "
        f"rank only and reports by itself.{without} Put it in front of the launcher: "
        f"forebay run {option}-- mpiexec -n {ranks} {shlex.join(words)}"
    )


@frozen
class _Tasks:
    """The tasks that a launcher started, of which this process is one. `count` is None if the
    launcher does not say how many there are."""

    count: int | None
    rank: int


def _tasks(environment: Mapping[str, str]) -> _Tasks | None:
    """None if no launcher has started this process."""
    for size, rank in SIZES_AND_RANKS:
        count, number = environment.get(size, ""), environment.get(rank, "")
        if count.isdecimal() and number.isdecimal():
            return _Tasks(count=int(count), rank=int(number))
    numbers = (environment.get(name, "") for name in LONE_RANKS)
    lone = next((number for number in numbers if number.isdecimal()), None)
    return None if lone is None else _Tasks(count=None, rank=int(lone))


def _serving(given: Sequence[Path], world: RunWorld) -> int | None:
    """The process id of a daemon that serves all of these paths already, or None. A second daemon
    would not know the first one's deposits."""
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
