"""The pool of a single run: which paths go through it, on which nodes its daemons run, and how they
are started and ended around the program."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.common.files.batch_job import END_VARIABLE, nodes_of_flux, with_job_end
from forebay.common.model.errors import MountRefusedError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.pool.model.mounting import MountChoice
from forebay.pool.model.place import (
    DAEMON_VARIABLE,
    MOUNT_CAPTURED_SETTING,
    MOUNT_NEVER,
    MOUNT_REQUIRED,
    MOUNT_SETTING,
    MOUNT_TIMEOUT_SETTING,
    NODES_SETTING,
    PATHS_MAX,
    PATHS_SETTING,
    PATHS_VARIABLE,
    SOCKET_VARIABLE,
    STARTER_SETTING,
    PoolPlace,
    daemon_text,
    paths_text,
)
from forebay.pool.model.starter import Launching, nodes_of, starter_by
from forebay.pool.model.system_folders import check_place
from forebay.pool.use_case.ports import PoolDaemon, Progress, Silent, resolved
from forebay.ports import Finished, Hook, RunWorld
from forebay.settings.model.given import ENVIRONMENT_PREFIX

if TYPE_CHECKING:  # a program would wait for these
    from forebay.pool.model.pool import PoolEnd
    from forebay.settings.model.table import EffectiveSetting

_LOOKED_AT_MAX = 1000
Enter = Callable[[Sequence[str]], Sequence[str]]
_SLURM_NODES = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES")


@frozen
class PoolPlan:
    """The pool of this run. `paths` go through it; the folder of `socket` exists as long as the
    run."""

    paths: tuple[Path, ...]
    socket: Path
    nodes: int = 1
    starter: tuple[str, ...] = ()
    by: Launching | None = None
    """The program's own launcher, if it starts the daemons, too; else None."""
    mounts: MountChoice | None = None
    """How the paths are mounted over; None if they are not. Over mounts the kernel routes file
    calls to the pool, and nothing is captured unless that is the choice."""

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables that the program's processes need."""
        if self.mounts and not self.mounts.captures:
            return {}
        return {PATHS_VARIABLE: paths_text(self.paths), SOCKET_VARIABLE: str(self.socket)}


@frozen
class PoolOutcome:
    """The outcome for the bytes in the pool. `gone` are files whose names do not exist any more:
    the daemon knows a file by the name by which it was opened."""

    paths: tuple[Path, ...]
    end: PoolEnd
    gone: frozenset[str] = frozenset()


def _gone(end: PoolEnd) -> frozenset[str]:
    """The names that do not exist any more, among the files with most bytes."""
    files = sorted(end.status.files if end.status else (), key=lambda one: -one.taken)
    return frozenset(file.path for file in files[:_LOOKED_AT_MAX] if _is_gone(file.path))


def _is_gone(name: str) -> bool:
    """Whether the file is gone. False if its name is not fully known: the daemon reports only the
    end of a long name, and replaces bytes that are not UTF-8."""
    if not name.startswith("/") or "\ufffd" in name:
        return False
    try:
        return not Path(name).exists()
    except OSError:
        return False


def pool_paths(
    given: Sequence[Path], effective: Sequence[EffectiveSetting], world: RunWorld
) -> tuple[Path, ...]:
    """The paths of --pool and of the settings; none if a pool was started for them before. Raises
    UsageError if one cannot be used."""
    if not given and world.environment.get(SOCKET_VARIABLE):
        return ()
    setting = next((one.value for one in effective if one.setting.name == PATHS_SETTING), "")
    named = [Path(text) for text in setting.split(",") if text]
    check_words(given, world.folder)
    check_locked(given, effective, world.folder)
    return checked_paths([*given, *named], world.folder)


def _lock_of(effective: Sequence[EffectiveSetting], name: str) -> str:
    """The file and line that lock the setting; empty if users may change it."""
    return next((one.lock for one in effective if one.setting.name == name), "")


def check_locked(
    given: Sequence[Path], effective: Sequence[EffectiveSetting], folder: Path
) -> None:
    """Raises UsageError if the site has locked pool_paths and one of the user's is not below
    them."""
    lock = _lock_of(effective, PATHS_SETTING)
    if not lock:
        return
    text = next(one.value for one in effective if one.setting.name == PATHS_SETTING)
    allowed = resolved([Path(one) for one in text.split(",") if one], folder)
    for path in resolved(given, folder):
        if not any(path.is_relative_to(one) for one in allowed):
            only = f"the pool is for {text} only" if text else "nothing goes through the pool"
            raise UsageError(
                f"cannot pool {path} ({lock} locks {PATHS_SETTING}: {only}). "
                "Name a folder below these, or ask those who look after this machine."
            )


def check_words(given: Sequence[Path], folder: Path) -> None:
    """Raises UsageError if a value of --pool looks like an option: the parser accepts any word."""
    for path in given:
        if str(path).startswith("-") and not (folder / path).exists():
            raise UsageError(
                f'--pool wants a folder ("{path}" came after it). '
                "Say which, for instance `--pool .` for the folder you are in."
            )


@frozen
class NodePlan:
    """On how many nodes daemons are started, and how: by a command (`starter`), by the program's
    own launcher (`by`), or, if both are empty, by Slurm."""

    nodes: int
    starter: tuple[str, ...] = ()
    by: Launching | None = None
    is_told: bool = False
    """Whether the user says on how many nodes."""


def plan_nodes(
    effective: Sequence[EffectiveSetting],
    launch: Launching | None,
    world: RunWorld,
    *,
    is_pooled: bool = True,
) -> NodePlan:
    """The number of nodes and the starter, from the settings, else from Slurm's job, else from the
    launcher's options or environment. Flux is asked only if `is_pooled`."""
    told = {one.setting.name: one.value for one in effective}
    nodes = int(told.get(NODES_SETTING, "0"))
    starter = tuple(word for word in told.get(STARTER_SETTING, "").split(",") if word)
    environment = world.environment
    slurm = next((environment[name] for name in _SLURM_NODES if environment.get(name)), "")
    own = launch if launch and launch.is_usable and not slurm and not starter else None
    is_told = nodes > 0
    if nodes == 0:
        nodes = int(slurm) if slurm.isdecimal() else 0
    if nodes == 0 and own and not own.known.takes_cores:
        if own.flavour is Flavour.FLUX:
            nodes = nodes_of_flux(world.processes, environment) if is_pooled else 0
        else:
            nodes = nodes_of(own, lambda name: _text_of(world.folder / name), environment)
    nodes = max(nodes, 1)
    by = own if nodes > 1 else None
    return NodePlan(nodes=nodes, starter=starter, by=by, is_told=is_told)


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _words(pool: PoolPlan, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The command that starts the daemons. They need our environment variables, and the end of the
    job."""
    if pool.by is None:
        return pool.starter
    wanted = (ENVIRONMENT_PREFIX, END_VARIABLE)
    names = sorted(name for name in environment if name.startswith(wanted))
    return starter_by(pool.by, pool.nodes, names)


@frozen
class MountPlan:
    """How the paths are mounted over; None if they are not. `warning` says why they are not, though
    requested, or who goes past the mounts."""

    mounts: MountChoice | None = None
    warning: str | None = None
    is_required: bool = True
    """Whether nothing is started where the mounts are refused; else programs are captured."""

    @property
    def captures(self) -> bool:
        """Whether programs are captured: nothing is mounted over, or they are in the mount, too."""
        return self.mounts is None or self.mounts.captures


def plan_mount(
    paths: Sequence[Path],
    effective: Sequence[EffectiveSetting],
    nodes: int,
    world: RunWorld,
    *,
    is_private: bool = False,
) -> MountPlan:
    """The decision about mounts. A private one is required unless the settings say `auto`. Raises
    UsageError if a mount is required and impossible."""
    values = {one.setting.name: one.value for one in effective}
    told = values.get(MOUNT_SETTING, "")
    if is_private and told == MOUNT_NEVER and (lock := _lock_of(effective, MOUNT_SETTING)):
        raise UsageError(
            f"cannot mount privately ({lock} locks {MOUNT_SETTING} at {told}). "
            "Leave --private out: programs are captured then."
        )
    if is_private and told in ("", MOUNT_NEVER):
        told = MOUNT_REQUIRED
    if not paths or told in ("", MOUNT_NEVER):
        return MountPlan()
    choice = MountChoice(
        is_private=is_private,
        stopped_seconds=int(values.get(MOUNT_TIMEOUT_SETTING, "60")),
        captures=values.get(MOUNT_CAPTURED_SETTING) == "true",
    )
    several = "the pool of several nodes cannot be mounted yet" if nodes > 1 else None
    obstacle = several or world.pools.mount_obstacle(paths, choice)
    if obstacle is None:
        return MountPlan(
            mounts=choice,
            warning=_past_mounts(paths, world),
            is_required=told == MOUNT_REQUIRED,
        )
    if told == MOUNT_REQUIRED:
        raise UsageError(
            f"cannot mount over the pool's paths ({obstacle}). Say `--set pool_mount=auto` to have "
            "programs captured instead."
        )
    return MountPlan(
        warning=f"nothing is mounted over the pool's paths ({obstacle}): programs are captured, as "
        "far as they can be. `--set pool_mount=never` says so without this message."
    )


def captured_instead(refusal: MountRefusedError) -> str:
    """The warning where mounts that are not required were refused when they were started."""
    return (
        f"{refusal} Nothing is mounted over the pool's paths: programs are captured, as far as "
        "they can be. `--set pool_mount=never` says so without this message."
    )


def _past_mounts(paths: Sequence[Path], world: RunWorld) -> str | None:
    others = [f"{path} is also {name}" for path in paths for name in world.pools.other_names(path)]
    if not others:
        return None
    return (
        f"programs that use another name of a pooled folder ({'; '.join(others)}) go past its "
        "mount: they do not see what is still in the pool. Use one name."
    )


def checked_paths(given: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """The resolved paths. Raises UsageError if one does not exist (it is probably misspelt, and
    nothing would go through the pool), if one has a comma or is no place for output (a folder of
    the system, a device), or if there are too many."""
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
        check_place(path)
        if not path.is_dir() and not path.is_file():
            raise UsageError(
                f"cannot pool {path} (it is neither a folder nor a regular file). Name the folder "
                "that the program writes its files to."
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


Program = Callable[[Mapping[str, str], Hook, Hook, Enter], Finished]
"""Runs the program with that environment, by the command that `Enter` makes of its words. The two
functions are to be called when it runs, and when the batch job will end soon."""


def _run_mounted(
    pool: PoolPlan, world: RunWorld, progress: Progress, run: Callable[[Enter], Finished]
) -> Finished:
    if pool.mounts is None:
        return run(_as_it_is)
    mount = world.pools.mount(pool.paths, pool.mounts, socket=pool.socket, folder=world.folder)
    try:
        return run(mount.entering)
    finally:
        for complaint in mount.finish():
            progress.note(complaint)


def _as_it_is(words: Sequence[str]) -> Sequence[str]:
    return words


def run_through(
    pool: PoolPlan | None,
    environment: Mapping[str, str],
    world: RunWorld,
    *,
    program: Program,
    progress: Progress | None,
    is_sampled: bool = False,
) -> tuple[Finished, PoolOutcome | None]:
    """Runs the program beside a daemon of its own, whose counts are sampled over time if that is
    wanted.

    The status is the program's, or, if that is 0, says whether bytes were lost or were less durable
    than requested. If it raises PoolStartError, nothing was started; MountRefusedError, that the
    daemon has ended again."""
    if pool is None:
        return program(environment, None, None, _as_it_is), None
    known = with_job_end(environment, world.processes)
    known = {**known, PATHS_VARIABLE: paths_text(pool.paths)}  # a replay writes only below these
    first = pool.paths[0]
    place = PoolPlace(
        socket=pool.socket,
        environment=known,
        folder=world.folder,
        nodes=pool.nodes,
        starter=_words(pool, known),
        shared=(first if first.is_dir() else first.parent) if pool.by else None,
        passes_input=pool.by is None or pool.by.known.passes_input,
        is_sampled=is_sampled,
    )
    daemon = world.pools.start(place)
    progress = progress or Silent()
    end = None
    try:
        finished = _run_mounted(
            pool,
            world,
            progress,
            lambda enter: program(
                _with_daemon(environment, daemon, pool.socket),
                daemon.program_started,
                daemon.close_down,
                enter,
            ),
        )
    finally:
        end = daemon.finish(progress)
    outcome = PoolOutcome(paths=pool.paths, end=end, gone=_gone(end))
    if finished.status == 0:
        finished = replace(finished, status=end.exit_status)
    return finished, outcome
