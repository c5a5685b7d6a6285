"""The part of a run that is about the pool: which paths go through it, and how its daemon is
started and brought to an end around the program."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from forebay.common.model.errors import UsageError
from forebay.common.model.frozen import frozen
from forebay.pool.model.pool import (
    DAEMON_VARIABLE,
    MOUNT_NEVER,
    MOUNT_REQUIRED,
    MOUNT_SETTING,
    NODES_SETTING,
    PATHS_MAX,
    PATHS_SETTING,
    PATHS_VARIABLE,
    SOCKET_VARIABLE,
    STARTER_SETTING,
    PoolEnd,
    PoolPlace,
    daemon_text,
    paths_text,
)
from forebay.pool.model.starter import Launching, nodes_of, starter_by
from forebay.pool.use_case.batch_job import END_VARIABLE, with_job_end
from forebay.pool.use_case.ports import PoolDaemon, Progress, Silent, resolved
from forebay.ports import Finished, World
from forebay.settings.model import ENVIRONMENT_PREFIX, EffectiveSetting

_LOOKED_AT_MAX = 1000
_SLURM_NODES = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES")


@frozen
class PoolPlan:
    """Paths that are to go through a pool of this run's own. `socket` is in a folder that is
    there as long as the run."""

    paths: tuple[Path, ...]
    socket: Path
    nodes: int = 1
    starter: tuple[str, ...] = ()
    by: Launching | None = None
    """The program's own launcher starts the daemons, too."""
    mounts: bool = False
    """The kernel brings the programs' calls to the pool: nobody is captured."""

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that the program's processes must have."""
        if self.mounts:
            return {}
        return {PATHS_VARIABLE: paths_text(self.paths), SOCKET_VARIABLE: str(self.socket)}


@frozen
class PoolOutcome:
    """The outcome for the bytes that went into the pool. `gone`: files whose names do not exist any
    more; the daemon knows a file by the name by which it was opened."""

    paths: tuple[Path, ...]
    end: PoolEnd
    gone: frozenset[str] = frozenset()


def _gone(end: PoolEnd) -> frozenset[str]:
    """Names that do not exist any more, among those of the files with the most bytes."""
    files = sorted(end.status.files if end.status else (), key=lambda one: -one.taken)
    return frozenset(file.path for file in files[:_LOOKED_AT_MAX] if _is_gone(file.path))


def _is_gone(name: str) -> bool:
    """Whether no file has that name, if it is known in full: the daemon reports only the end of a
    long name, and no bytes that are not UTF-8."""
    if not name.startswith("/") or "\ufffd" in name:
        return False
    try:
        return not Path(name).exists()
    except OSError:
        return False


def pool_paths(
    given: Sequence[Path], effective: Sequence[EffectiveSetting], world: World
) -> tuple[Path, ...]:
    """Those of --pool and of the settings; none where somebody has started a pool for them.
    UsageError: one cannot be used."""
    if not given and world.environment.get(SOCKET_VARIABLE):
        return ()
    setting = next((one.value for one in effective if one.setting.name == PATHS_SETTING), "")
    named = [Path(text) for text in setting.split(",") if text]
    _check_words(given, world.folder)
    return checked_paths([*given, *named], world.folder)


def _check_words(given: Sequence[Path], folder: Path) -> None:
    """The parser takes whatever follows --pool for its value. UsageError: it was no path."""
    for path in given:
        if str(path).startswith("-") and not (folder / path).exists():
            raise UsageError(
                f'--pool wants a folder ("{path}" came after it). '
                "Say which, for instance `--pool .` for the folder you are in."
            )


@frozen
class NodePlan:
    """On how many nodes a daemon is started, and by what: a command (`starter`), the program's own
    launcher (`by`), or Slurm where there is neither."""

    nodes: int
    starter: tuple[str, ...] = ()
    by: Launching | None = None


def plan_nodes(
    effective: Sequence[EffectiveSetting], launch: Launching | None, world: World
) -> NodePlan:
    """The number of nodes and how to start there: by the settings; else by Slurm's job; else by the
    options of the launcher."""
    told = {one.setting.name: one.value for one in effective}
    nodes = int(told.get(NODES_SETTING, "0"))
    starter = tuple(word for word in told.get(STARTER_SETTING, "").split(",") if word)
    environment = world.environment
    slurm = next((environment[name] for name in _SLURM_NODES if environment.get(name)), "")
    own = launch if launch and launch.is_usable and not slurm and not starter else None
    if nodes == 0:
        nodes = int(slurm) if slurm.isdecimal() else 0
    if nodes == 0 and own:
        nodes = nodes_of(own, lambda name: _text_of(world.folder / name))
    nodes = max(nodes, 1)
    return NodePlan(nodes=nodes, starter=starter, by=own if nodes > 1 else None)


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _words(pool: PoolPlan, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The command that starts the daemons. They have to see our variables, and when the job
    ends."""
    if pool.by is None:
        return pool.starter
    wanted = (ENVIRONMENT_PREFIX, END_VARIABLE)
    names = sorted(name for name in environment if name.startswith(wanted))
    return starter_by(pool.by, pool.nodes, names)


@frozen
class MountPlan:
    """Whether the paths are mounted over; `warning`: why they are not, though it was asked for."""

    mounts: bool = False
    warning: str | None = None


def plan_mount(
    paths: Sequence[Path], effective: Sequence[EffectiveSetting], nodes: int, world: World
) -> MountPlan:
    """UsageError: the setting requires what is not possible here."""
    told = next((one.value for one in effective if one.setting.name == MOUNT_SETTING), "")
    if not paths or told in ("", MOUNT_NEVER):
        return MountPlan()
    several = "the pool of several nodes cannot be mounted yet" if nodes > 1 else None
    obstacle = several or world.pools.mount_obstacle(paths)
    if obstacle is None:
        return MountPlan(mounts=True)
    if told == MOUNT_REQUIRED:
        raise UsageError(
            f"cannot mount over the pool's paths ({obstacle}). Say `--set pool_mount=auto` to have "
            "programs captured instead."
        )
    return MountPlan(
        warning=f"nothing is mounted over the pool's paths ({obstacle}): programs are captured, as "
        "far as they can be. `--set pool_mount=never` says so without this message."
    )


def checked_paths(given: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """As the kernel calls them. UsageError: one is not there (most likely it is
    misspelt, and nothing would go through the pool), or has a comma."""
    paths = resolved(given, folder)
    for path in paths:
        if "," in str(path):
            raise UsageError(
                f"cannot pool {path} (commas separate paths). Name the folder above it."
            )
        if not path.exists():
            raise UsageError(
                f"cannot pool {path} (there is no such folder or file). Check the spelling, or "
                f"make the folder: mkdir -p {shlex.quote(str(path))}. "
                "Where the program makes the file, name its folder."
            )
    if len(paths) > PATHS_MAX:
        raise UsageError(
            f"cannot pool {len(paths)} paths ({PATHS_MAX} are possible). Name the folders above."
        )
    return paths


def _with_daemon(
    environment: Mapping[str, str], daemon: PoolDaemon, socket: Path
) -> Mapping[str, str]:
    if daemon.process is None:
        return environment
    return {**environment, DAEMON_VARIABLE: daemon_text(daemon.process, socket)}


def _run_mounted(pool: PoolPlan, world: World, run: Callable[[], Finished]) -> Finished:
    if not pool.mounts:
        return run()
    mount = world.pools.mount(pool.paths, socket=pool.socket, folder=world.folder)
    try:
        return run()
    finally:
        mount.finish()


def run_through(
    pool: PoolPlan | None,
    environment: Mapping[str, str],
    world: World,
    *,
    program: Callable[[Callable[[], None] | None, Mapping[str, str]], Finished],
    progress: Progress | None,
) -> tuple[Finished, PoolOutcome | None]:
    """Runs the program beside a daemon of its own; `program` is given what it is to call when the
    batch job will end soon, and the environment that it is to have. PoolStartError: nothing was
    started. The status is the program's, or that bytes did not arrive or were not as durable as was
    asked for."""
    if pool is None:
        return program(None, environment), None
    known = with_job_end(environment, world.processes)
    known = {**known, PATHS_VARIABLE: paths_text(pool.paths)}  # what a replay may write to
    first = pool.paths[0]
    place = PoolPlace(
        socket=pool.socket,
        environment=known,
        folder=world.folder,
        nodes=pool.nodes,
        starter=_words(pool, known),
        shared=(first if first.is_dir() else first.parent) if pool.by else None,
    )
    daemon = world.pools.start(place)
    end = None
    try:
        finished = _run_mounted(
            pool,
            world,
            lambda: program(daemon.close_down, _with_daemon(environment, daemon, pool.socket)),
        )
    finally:
        end = daemon.finish(progress or Silent())
    outcome = PoolOutcome(paths=pool.paths, end=end, gone=_gone(end))
    if finished.status == 0:
        finished = replace(finished, status=end.exit_status)
    return finished, outcome
