"""Use case: plan how a program is run through Forebay. It starts nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.common.model.errors import SettingsError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import (
    PRELOAD_VARIABLE,
    Forwarding,
    compose_preload,
    find_launcher,
    find_programs,
    forward,
    ranks_of,
    slurm_export,
)
from forebay.common.model.program import ProgramFacts
from forebay.pool.model.place import PATHS_SETTING
from forebay.pool.model.starter import Launching, launching
from forebay.pool.use_case.ports import resolved
from forebay.pool.use_case.run_pool import (
    MountPlan,
    NodePlan,
    PoolPlan,
    plan_mount,
    plan_nodes,
    pool_paths,
)
from forebay.ports import LauncherFacts, RunWorld
from forebay.run.use_case.io_ranks import AutoIoRanks, IoRanks, IoRanksPlan, plan_io_ranks
from forebay.run.use_case.pool_over_tiers import PoolOverTiers, check_tiers
from forebay.run.use_case.pool_warnings import BATCH_VARIABLES, reach_warnings
from forebay.run.use_case.run_inside import look_around
from forebay.settings.model.given import (
    ENVIRONMENT_PREFIX,
    LOCKED_VARIABLE,
    RECORD_VARIABLE,
    SETTINGS_VARIABLE,
    Override,
    may_set,
)

if TYPE_CHECKING:  # a program would wait for this
    from forebay.settings.model.table import EffectiveSetting

_SLURM_EXPORT = "SLURM_EXPORT_ENV"
_SLURM_RANKS = "SLURM_NTASKS"
_SANITIZER = "ASAN_OPTIONS"
_SANITIZER_ORDER = "verify_asan_link_order"
_DURABILITY_VARIABLE = "FOREBAY_POOL_DURABILITY"
_THROUGH = "global"
_THROUGH_WARNING = (
    "what its children write goes to the file system at once (the program itself does not go "
    "through the pool, and would not see it there). Run it without --pool."
)


@frozen
class RunRequest:
    """The options of `forebay run`."""

    command: tuple[str, ...]
    settings_file: Path | None = None
    overrides: tuple[Override, ...] = ()
    record: Path | None = None
    summary: Path | None = None
    pool: tuple[Path, ...] = ()
    io_ranks: IoRanks | AutoIoRanks | None = None
    is_private: bool = False
    """Whether the mount is in a namespace of the program's own."""
    tiers: tuple[Path, ...] = ()
    """Folders whose files are kept in fast storage meanwhile."""


@frozen
class RunPlan:
    """The command to start, and the facts that are known before it runs."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    record: Path
    record_offset: int
    record_is_kept: bool
    launcher: LauncherFacts | None
    programs: tuple[ProgramFacts, ...]
    is_enabled: bool
    warnings: tuple[str, ...]
    pool: PoolPlan | None = None
    io_ranks: IoRanksPlan | None = None
    ranks: int | None = None
    """All ranks that the launcher is told to start, None if the command line does not say."""
    inside: str | None = None
    """The reason if nothing can be recorded: a launcher or a pool around this run. Else None."""
    command: tuple[str, ...] = ()
    """The user's words, without the options that were added for the launcher."""
    without_mounts: RunPlan | None = None
    """The plan by which programs are captured where the mounts are refused; None if there are none,
    or if they are required."""


def _mount_plan(
    request: RunRequest,
    paths: tuple[Path, ...],
    effective: Sequence[EffectiveSetting],
    nodes: int,
    world: RunWorld,
) -> MountPlan:
    plan = plan_mount(paths, effective, nodes, world, is_private=request.is_private)
    pool = PoolOverTiers(
        paths=paths,
        is_mounted=plan.mounts is not None,
        has_journal=_value(effective, "pool_durability") == "node",
        nodes=nodes,
    )
    check_tiers(resolved(request.tiers, world.folder), pool)
    return plan


def plan_run(request: RunRequest, world: RunWorld) -> RunPlan:
    """Checks settings, finds libraries and launcher, and composes command and environment. If it
    raises SettingsError, SetupError or UsageError, nothing was started."""
    if not request.command:
        raise UsageError(
            "there is nothing to run (no program was given). "
            "Say `forebay run -- mpiexec -n 4 ./program`."
        )
    settings_file = _settings_file(request, world)
    effective, ignored = _effective(request, settings_file, world)
    kept = _record_to_keep(request, world, effective)
    if request.summary is not None:
        _check_output("summary", world.folder / request.summary, world)
    line = _line(request.command, world)
    programs = _programs(line, world)
    warnings = (
        *ignored,
        *_warnings(programs, line.launcher),
        *_settings_warnings(effective, world),
    )
    is_enabled = _value(effective, "enabled") != "false"
    launch, on = _launch_and_nodes(request, line, effective, world)
    asked = request.io_ranks if is_enabled else None
    io_ranks = _io_ranks(asked, line, programs, world, record=kept, nodes=on.nodes)
    paths = _pool_paths(request, effective, world) if is_enabled else ()
    inside = look_around(paths, request.command, world)
    if inside is not None:
        paths = () if inside.has_no_pool else paths
        warnings = (inside.reason, *warnings) if inside.is_told else warnings
    mount = _mount_plan(request, paths, effective, on.nodes, world)
    preload = _preload(line, programs, paths, mount, world)
    instead = mount if mount.is_required else MountPlan()
    captured = _preload(line, programs, paths, instead, world)
    told = _pool_warnings(request.command, launch, on, world) if paths else ()
    # These come last, since they create folders, which a failed plan must not leave behind.
    pool = _pool_plan(paths, on, mount, world)
    record = kept or _temporary_record(world)
    variables = _variables(request, world, settings_file, record, effective)
    forwarding = _forwarding(variables, preload, pool, io_ranks, world)
    plan = RunPlan(
        words=_words(line, forwarding, world),
        environment=_environment(world.environment, forwarding, line.launcher),
        record=record,
        record_offset=world.records.end(record),
        record_is_kept=kept is not None,
        launcher=line.launcher,
        programs=programs,
        is_enabled=is_enabled,
        warnings=(*warnings, *preload.warnings, *told),
        pool=pool,
        io_ranks=io_ranks,
        ranks=_ranks(line, world),
        inside=inside.reason if inside else None,
        command=request.command,
    )
    if mount.is_required or pool is None:
        return plan
    pool = replace(pool, mounts=None)
    forwarding = _forwarding(variables, captured, pool, io_ranks, world)
    without = replace(
        plan,
        words=_words(line, forwarding, world),
        environment=_environment(world.environment, forwarding, line.launcher),
        warnings=(*warnings, *captured.warnings, *told),
        pool=pool,
    )
    return replace(plan, without_mounts=without)


@frozen
class _Preload:
    """Our libraries that a program preloads, separated by colons, the variables that go with them,
    and warnings."""

    libraries: str
    variables: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def _preload(
    line: _Line,
    programs: Sequence[ProgramFacts],
    paths: tuple[Path, ...],
    mount: MountPlan,
    world: RunWorld,
) -> _Preload:
    stub = str(world.libraries.find().stub)
    warnings = (mount.warning,) if mount.warning else ()
    if not paths or not mount.captures:
        return _Preload(libraries=stub, warnings=warnings)
    is_direct = line.launcher_at is None
    all_see_deposits = mount.mounts or all(one.is_captured for one in programs)
    is_through = is_direct and not all_see_deposits
    is_of_other_libc = is_direct and any(one.is_of_other_libc for one in programs)
    return _Preload(
        libraries=stub if is_of_other_libc else f"{stub}:{world.pools.library()}",
        variables={_DURABILITY_VARIABLE: _THROUGH} if is_through else {},  # so none are made
        warnings=(*warnings, *((_THROUGH_WARNING,) if is_through else ())),
    )


def _forwarding(
    variables: Mapping[str, str],
    preload: _Preload,
    pool: PoolPlan | None,
    io_ranks: IoRanksPlan | None,
    world: RunWorld,
) -> Forwarding:
    libraries = f"{io_ranks.library}:{preload.libraries}" if io_ranks else preload.libraries
    return Forwarding(
        library=libraries,
        preload=compose_preload(libraries, world.environment.get(PRELOAD_VARIABLE)),
        variables={
            **variables,
            **preload.variables,
            **(io_ranks.variables if io_ranks else {}),
            **(pool.variables if pool else {}),
        },
    )


def _pool_paths(
    request: RunRequest, effective: Sequence[EffectiveSetting], world: RunWorld
) -> tuple[Path, ...]:
    """The paths of the pool. Where I/O ranks are asked for and no path, it is the working folder,
    since they would have nothing to do. Raises UsageError if none of them can be mounted."""
    named = pool_paths(request.pool, effective, world)
    if request.io_ranks is not None and not named:
        named = pool_paths((world.folder,), effective, world)
    if request.is_private and not named:
        raise UsageError(
            "cannot mount privately (no path goes through a pool of this run). "
            "Name a folder: --pool FOLDER."
        )
    return named


def _io_ranks(
    asked: IoRanks | AutoIoRanks | None,
    line: _Line,
    programs: Sequence[ProgramFacts],
    world: RunWorld,
    *,
    record: Path | None,
    nodes: int,
) -> IoRanksPlan | None:
    """The I/O ranks, None if none are asked for. `record` is the one that is kept."""
    why, ranks = "", _ranks(line, world)
    if isinstance(asked, AutoIoRanks):
        from forebay.run.use_case.auto_io_ranks import choose_io_ranks

        if ranks is None and line.launcher and line.launcher.flavour is Flavour.SLURM:
            told = world.environment.get(_SLURM_RANKS, "")
            ranks = int(told) if told.isdecimal() else None
        asked, why = choose_io_ranks(
            asked,
            record=record,
            ranks=ranks,
            nodes=nodes,
            has_launcher=line.launcher is not None,
            world=world,
        )
    if asked is None:
        return None
    return plan_io_ranks(
        asked, why=why, ranks=ranks, launcher=line.launcher, programs=programs, world=world
    )


def _ranks(line: _Line, world: RunWorld) -> int | None:
    """All ranks that the command line starts, None if it does not say."""
    if line.launcher_at is None or line.launcher is None:
        return None
    return ranks_of(
        line.words,
        launcher=line.launcher_at,
        flavour=line.launcher.flavour,
        is_program=lambda word: world.programs.locate(word) is not None,
    )


def _pool_plan(
    paths: tuple[Path, ...], on: NodePlan, mount: MountPlan, world: RunWorld
) -> PoolPlan | None:
    if not paths:
        return None
    return PoolPlan(
        paths=paths,
        socket=world.pools.room(everywhere=on.nodes > 1),
        nodes=on.nodes,
        starter=on.starter,
        by=on.by,
        mounts=mount.mounts,
    )


def _launch_and_nodes(
    request: RunRequest, line: _Line, effective: Sequence[EffectiveSetting], world: RunWorld
) -> tuple[Launching | None, NodePlan]:
    """How the program is started, and on which nodes the daemons would be if there is a pool."""
    launch = _launching(line, world)
    is_pooled = bool(request.pool or request.io_ranks or _value(effective, PATHS_SETTING))
    return launch, plan_nodes(effective, launch, world, is_pooled=is_pooled)


def _pool_warnings(
    command: Sequence[str], launch: Launching | None, on: NodePlan, world: RunWorld
) -> tuple[str, ...]:
    reach = reach_warnings(command, launch, on, world.environment)
    return (*world.pools.left_behind(), *reach)


def _settings_file(request: RunRequest, world: RunWorld) -> Path | None:
    given = request.settings_file or world.environment.get(SETTINGS_VARIABLE) or None
    return None if given is None else (world.folder / given).absolute()


def _effective(
    request: RunRequest, settings_file: Path | None, world: RunWorld
) -> tuple[Sequence[EffectiveSetting], Sequence[str]]:
    """The settings with their values, and warnings. Nothing if neither user nor site gives any: all
    have their defaults then, and the program does not wait until the table of settings is read."""
    given = settings_file or request.overrides or may_set(world.environment)
    if not given and not world.settings.has_site():
        return (), ()
    from forebay.settings.use_case import resolved_settings

    found = resolved_settings(
        world.settings,
        file=settings_file,
        environment=world.environment,
        options=request.overrides,
    )
    return found.values, found.warnings


def _settings_warnings(effective: Sequence[EffectiveSetting], world: RunWorld) -> tuple[str, ...]:
    if not effective:
        return ()
    from forebay.settings.model.table import missing_units

    misspelt = world.settings.table().suspicious(sorted(world.environment))
    return (
        *(
            f"{variable} is ignored (no such setting). Did you mean {meant}?"
            for variable, meant in misspelt
        ),
        *missing_units(effective),
    )


def _value(effective: Sequence[EffectiveSetting], name: str) -> str:
    return next((one.value for one in effective if one.setting.name == name), "")


def _temporary_record(world: RunWorld) -> Path:
    shared = any(world.environment.get(name) for name in BATCH_VARIABLES)
    return world.records.temporary(shared=shared)


def _record_to_keep(
    request: RunRequest, world: RunWorld, effective: Sequence[EffectiveSetting]
) -> Path | None:
    """The path of a record that is kept, or None. Raises UsageError if it cannot be written."""
    given = request.record or _value(effective, "record") or None
    lock = next((one.lock for one in effective if one.setting.name == "record"), "")
    if lock and request.record is not None and str(given) != _value(effective, "record"):
        raise SettingsError(
            f"cannot use --record {request.record} ({lock} locks record). "
            "Leave it out, or ask those who look after this machine."
        )
    if given is None:
        return None
    path = (world.folder / given).absolute()
    _check_output("record", path, world)
    if path.exists() and not path.is_file():
        raise UsageError(
            f"cannot write the record {path} (it is no regular file). "
            "Name a file that can be written."
        )
    return path


def _check_output(what: str, path: Path, world: RunWorld) -> None:
    obstacle = world.outputs.obstacle(path)
    if obstacle is not None:
        raise UsageError(
            f"cannot write the {what} {path} ({obstacle}). Name a file that can be written."
        )


def _variables(
    request: RunRequest,
    world: RunWorld,
    settings_file: Path | None,
    record: Path,
    effective: Sequence[EffectiveSetting],
) -> Mapping[str, str]:
    """All variables FOREBAY_* that the ranks must have, including the user's and the site's."""
    variables = {
        name: value
        for name, value in sorted(world.environment.items())
        if name.startswith(ENVIRONMENT_PREFIX)
    }
    if settings_file is not None:
        variables[SETTINGS_VARIABLE] = str(settings_file)
    for override in request.overrides:
        variables[world.settings.table().of(override).variable] = override.text
    variables.pop(LOCKED_VARIABLE, None)
    if effective:
        from forebay.settings.model.resolution import site_variables

        variables.update(site_variables(effective))
    variables[RECORD_VARIABLE] = str(record)
    return variables


@frozen
class _Line:
    """The user's command line. `launcher_at` is the index of the launcher's name, None if there is
    none; `launcher` is None if it was not found on this machine."""

    words: tuple[str, ...]
    launcher_at: int | None
    launcher: LauncherFacts | None


def _line(command: tuple[str, ...], world: RunWorld) -> _Line:
    at = find_launcher(command)
    launcher = None if at is None else world.launchers.inspect(command[at])
    return _Line(words=command, launcher_at=at, launcher=launcher)


def _launching(line: _Line, world: RunWorld) -> Launching | None:
    if line.launcher_at is None or line.launcher is None:
        return None
    return launching(
        line.words,
        launcher=line.launcher_at,
        flavour=line.launcher.flavour,
        is_program=lambda word: world.programs.locate(word) is not None,
    )


def _words(line: _Line, forwarding: Forwarding, world: RunWorld) -> tuple[str, ...]:
    if line.launcher_at is None or line.launcher is None:
        return line.words
    return forward(
        line.words,
        launcher=line.launcher_at,
        flavour=line.launcher.flavour,
        forwarding=forwarding,
        is_program=lambda word: world.programs.locate(word) is not None,
    )


def _environment(
    environment: Mapping[str, str], forwarding: Forwarding, launcher: LauncherFacts | None
) -> Mapping[str, str]:
    composed = {**environment, **dict(forwarding.pairs)}
    composed[_SANITIZER] = _in_any_order(environment.get(_SANITIZER, ""))
    if _SLURM_EXPORT in composed and launcher and launcher.flavour is Flavour.SLURM:
        composed[_SLURM_EXPORT] = slurm_export(composed[_SLURM_EXPORT], forwarding)
    return composed


def _in_any_order(options: str) -> str:
    """ASAN_OPTIONS without the check that AddressSanitizer's library is loaded first, which ours
    would fail. It is not known which of the programs are instrumented, so it is always set."""
    if _SANITIZER_ORDER in options:
        return options
    return ":".join(filter(None, [options, f"{_SANITIZER_ORDER}=0"]))


def _programs(line: _Line, world: RunWorld) -> tuple[ProgramFacts, ...]:
    """The programs of the command line that exist on this node, each once."""
    if line.launcher_at is None:
        words = [line.words[0]]
    else:
        flavour = line.launcher.flavour if line.launcher else Flavour.OTHER
        indices = find_programs(
            line.words,
            launcher=line.launcher_at,
            flavour=flavour,
            is_program=lambda word: world.programs.locate(word) is not None,
        )
        words = [line.words[index] for index in indices]
    paths = [world.programs.locate(word) for word in dict.fromkeys(words)]
    return tuple(world.programs.inspect(path) for path in paths if path is not None)


def _warnings(programs: Sequence[ProgramFacts], launcher: LauncherFacts | None) -> tuple[str, ...]:
    warnings = [program.obstacle for program in programs if program.obstacle]
    mismatch = _mismatch(programs, launcher)
    if mismatch:
        warnings.append(mismatch)
    return tuple(warnings)


def _mismatch(programs: Sequence[ProgramFacts], launcher: LauncherFacts | None) -> str | None:
    """A warning if launcher and program are of different MPIs: each rank would be its own job."""
    if launcher is None or launcher.flavour not in {Flavour.OPEN_MPI, Flavour.HYDRA}:
        return None
    wanted = "openmpi" if launcher.flavour is Flavour.OPEN_MPI else "mpich"
    for program in programs:
        if program.family is not None and program.family.value in {"openmpi", "mpich"} - {wanted}:
            return (
                f"{launcher.path} starts {program.path} as many jobs of one rank (the launcher "
                f"is of the {wanted} family, the program's {program.mpi_library} is not). "
                "Use the launcher of the program's own MPI."
            )
    return None
