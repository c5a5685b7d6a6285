"""Use cases of `forebay pool`: starts, queries, drains and stops a pool for several programs."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping
from pathlib import Path

from forebay import __version__
from forebay.common.files.batch_job import with_job_end
from forebay.common.model.errors import MountRefusedError, PoolError, PoolStartError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import PRELOAD_VARIABLE, compose_preload, preload_without
from forebay.common.model.record import RunRecord
from forebay.machine_ports import World
from forebay.pool.model.place import (
    ENABLED_SETTING,
    LIBRARY_PREFIX,
    PATHS_SETTING,
    PATHS_VARIABLE,
    SOCKET_NAME_MAX,
    SOCKET_VARIABLE,
    PoolPlace,
    RunningDaemon,
    paths_text,
)
from forebay.pool.model.pool import PoolEnd, PoolFile, PoolStatus
from forebay.pool.use_case.pool_record import pool_record
from forebay.pool.use_case.ports import PoolSession, Progress, Silent
from forebay.pool.use_case.run_pool import (
    MountPlan,
    PoolOutcome,
    captured_instead,
    check_locked,
    checked_paths,
    plan_mount,
)
from forebay.settings.model.given import SETTINGS_VARIABLE, Override
from forebay.settings.model.resolution import site_variables
from forebay.settings.model.table import missing_units
from forebay.settings.use_case import resolved_settings

_STANDS_BELOW = (
    "programs that stand in a pooled folder already, like this shell, go past the mount. "
    "Say `cd .` in them."
)


@frozen
class StartRequest:
    """The options of `forebay pool start`."""

    paths: tuple[Path, ...]
    socket: Path | None = None
    settings_file: Path | None = None
    overrides: tuple[Override, ...] = ()


@frozen
class Started:
    """A daemon that listens, and the environment variables that make programs use it."""

    process: int
    socket: Path
    paths: tuple[Path, ...]
    variables: Mapping[str, str]
    warnings: tuple[str, ...] = ()


@frozen
class Drained:
    """The result of draining. All deposits are on the file system unless `failed` names files."""

    error: int
    status: PoolStatus
    failed: tuple[PoolFile, ...]


def start_pool(request: StartRequest, world: World) -> Started:
    """Starts a daemon that outlives this command. If it raises SettingsError, SetupError,
    UsageError, PoolError or PoolStartError, nothing was started."""
    environment = dict(world.environment)
    settings_file = request.settings_file or environment.get(SETTINGS_VARIABLE) or None
    if settings_file is not None:
        environment[SETTINGS_VARIABLE] = str((world.folder / settings_file).absolute())
    found = resolved_settings(
        world.settings,
        file=None if settings_file is None else world.folder / settings_file,
        environment=environment,
        options=request.overrides,
    )
    effective = found.values
    table = world.settings.table()
    for override in request.overrides:
        environment[table.of(override).variable] = override.text
    environment.update(site_variables(effective))
    check_locked(request.paths, effective, world.folder)
    switch = next(one for one in effective if one.setting.name == ENABLED_SETTING)
    if switch.lock and switch.value == "false":
        raise UsageError(
            f"cannot start a pool ({switch.lock} has switched Forebay off on this machine). "
            "Run the programs without it."
        )
    setting = next((one.value for one in effective if one.setting.name == PATHS_SETTING), "")
    named = [Path(text) for text in setting.split(",") if text]
    paths = checked_paths([*request.paths, *named], world.folder)
    if not paths:
        raise UsageError(
            "cannot start a pool (no path is to go through it). Name a folder: "
            "forebay pool start PATH"
        )
    socket = socket_of(request.socket, world, started=False)
    _check_free(socket, world)
    if (why := world.pools.obstacle()) is not None:
        raise PoolStartError(why)
    mount = plan_mount(paths, effective, 1, world)
    stub = str(world.libraries.find().stub)
    capture = world.pools.library() if mount.captures or not mount.is_required else None
    process = world.pools.start_detached(
        PoolPlace(
            socket=socket,
            environment={
                **with_job_end(environment, world.processes),
                # A journal's replay writes only below these paths.
                PATHS_VARIABLE: paths_text(paths),
            },
            folder=world.folder,
        )
    )
    mount = _mounted(paths, mount, socket, world)
    libraries = f"{stub}:{capture}" if mount.captures else stub
    variables = {
        SOCKET_VARIABLE: str(socket),
        PATHS_VARIABLE: paths_text(paths),
        PRELOAD_VARIABLE: compose_preload(libraries, environment.get(PRELOAD_VARIABLE)),
    }
    warnings = (*found.warnings, *missing_units(effective))
    if mount.mounts is not None:
        if not mount.captures:
            del variables[PATHS_VARIABLE]
        limit = world.pools.mount_limit()
        warnings += (_STANDS_BELOW, *((limit,) if limit else ()))
    if mount.warning:
        warnings += (mount.warning,)
    return Started(
        process=process, socket=socket, paths=paths, variables=variables, warnings=warnings
    )


def _mounted(paths: tuple[Path, ...], mount: MountPlan, socket: Path, world: World) -> MountPlan:
    """Mounts as planned. Returns the plan, or one without mounts if they are refused and not
    required; ends the daemon if it raises anything."""
    if mount.mounts is None:
        return mount
    try:
        world.pools.mount_detached(paths, mount.mounts, socket=socket)
    except BaseException as error:
        if isinstance(error, MountRefusedError) and not mount.is_required:
            return MountPlan(warning=captured_instead(error))
        with contextlib.suppress(PoolError):  # the daemon has died: the reason is told already
            world.pools.connect(socket).stop(Silent())
        raise
    return mount


def socket_of(given: Path | None, world: World, *, started: bool = True) -> Path:
    """The daemon's socket: the given one, else that in the environment (if the daemon is `started`
    already), else the user's default."""
    named = world.environment.get(SOCKET_VARIABLE) if started else None
    if given is None and named:
        return Path(named)
    if given is None:
        return world.pools.usual_socket()
    socket = (world.folder / given).absolute()
    if len(str(socket).encode(errors="surrogateescape")) > SOCKET_NAME_MAX:
        raise UsageError(
            f"cannot listen at {socket} (a socket's path has at most {SOCKET_NAME_MAX} bytes). "
            "Choose a folder with a shorter name."
        )
    return socket


def reached(socket: Path, world: World) -> PoolSession:
    """A session with the daemon at `socket`. Raises PoolError, which lists the user's other
    daemons."""
    try:
        return world.pools.connect(socket)
    except PoolError as error:
        others = running_elsewhere(socket, world)
        if not others:
            raise
        listed = ", ".join(f"process {one.process} at {one.socket}" for one in others)
        raise PoolError(f"{error} Running daemons of yours: {listed}.") from error


def running_elsewhere(socket: Path, world: World) -> tuple[RunningDaemon, ...]:
    """The user's daemons that listen at other sockets."""
    return tuple(one for one in world.pools.running() if one.socket != socket)


def _check_free(socket: Path, world: World) -> None:
    try:
        status = world.pools.connect(socket).status()
    except PoolError:
        return  # nobody listens there; if something else is in the way, the new daemon reports it
    raise PoolError(
        f"cannot start a pool (a daemon listens at {socket}: process {status.process}). "
        "Use it, end it by `forebay pool stop`, or name another place by --socket."
    )


def drain_pool(session: PoolSession, progress: Progress) -> Drained:
    """Waits until all deposits made until now are on the file system."""
    error = session.drain(progress)
    status = session.status()
    failed = tuple(file for file in status.files if file.error and file.outstanding)
    return Drained(error=error, status=status, failed=failed)


def lines_to_forget(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The shell commands that undo the variables which `start_pool` set."""
    preload = preload_without(environment.get(PRELOAD_VARIABLE), LIBRARY_PREFIX)
    names = [SOCKET_VARIABLE, PATHS_VARIABLE]
    if not preload:
        return (f"unset {' '.join([*names, PRELOAD_VARIABLE])}",)
    return (f"unset {' '.join(names)}", f"export {PRELOAD_VARIABLE}={shlex.quote(preload)}")


def stop_pool(session: PoolSession, progress: Progress) -> PoolEnd:
    """Drains everything and ends the daemon."""
    return session.stop(progress)


def run_of_pool(end: PoolEnd, environment: Mapping[str, str]) -> RunRecord:
    """A record's line for all programs that used a pool of `forebay pool start` together. It lasts
    from the daemon's start until it was told to stop; what the programs' exit statuses were is not
    known. The paths are those that the variables of `start_pool` name."""
    named = environment.get(PATHS_VARIABLE, "")
    paths = tuple(Path(path) for path in named.split(",") if path)
    lived = end.status.uptime_seconds if end.status else 0.0
    return RunRecord(
        forebay=__version__,
        command=shlex.join(("forebay", "pool", "start", *map(str, paths))),
        seconds=max(0.0, lived - end.seconds),
        status=end.exit_status,
        pool=pool_record(PoolOutcome(paths=paths, end=end)),
    )
