"""Use case: run a program through Forebay and report what happened to its files. A plan is made
first, which starts nothing; then it is carried out."""

import shlex
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay import __version__
from forebay.common.model.errors import RecordError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import (
    PRELOAD_VARIABLE,
    Flavour,
    Forwarding,
    compose_preload,
    find_launcher,
    find_programs,
    forward,
    slurm_export,
    starts_others,
)
from forebay.common.model.program import Linkage, ProgramFacts
from forebay.common.model.record import (
    FileSummary,
    JobRecord,
    Record,
    RunRecord,
    distinct_jobs,
    summarise,
)
from forebay.pool.model.starter import Launching, launching
from forebay.pool.use_case.ports import Progress
from forebay.pool.use_case.run_pool import (
    MountPlan,
    NodePlan,
    PoolOutcome,
    PoolPlan,
    plan_mount,
    plan_nodes,
    pool_paths,
    run_through,
)
from forebay.ports import LauncherFacts, World
from forebay.run.use_case.empty_pool import Traces, is_empty, reasons_for_an_empty_pool
from forebay.run.use_case.pool_record import pool_record
from forebay.run.use_case.run_inside import look_around
from forebay.settings.model import (
    ENVIRONMENT_PREFIX,
    RECORD_VARIABLE,
    SETTINGS_VARIABLE,
    EffectiveSetting,
    Override,
    missing_units,
)
from forebay.settings.use_case import effective_settings

_SLURM_EXPORT = "SLURM_EXPORT_ENV"
_BATCH_VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "FLUX_URI")
_SANITIZER = "ASAN_OPTIONS"
_SANITIZER_ORDER = "verify_asan_link_order"
_DURABILITY_VARIABLE = "FOREBAY_POOL_DURABILITY"
_THROUGH = "global"
_THROUGH_WARNING = (
    "what its children write goes to the file system at once (the program itself does not go "
    "through the pool, and would not see it there). Run it without --pool."
)
_HOST_OPTIONS = frozenset(
    "-H -host --host -hosts -hostfile --hostfile -machinefile --machinefile -f".split()
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
    inside: str | None = None
    """The reason if nothing can be recorded: a launcher or a pool around this run. Else None."""
    command: tuple[str, ...] = ()
    """The user's words, without the options that were added for the launcher."""


@frozen
class RunReport:
    """The outcome of a run. `status` is the program's, or, if that is 0, says that bytes in the
    pool did not arrive. `reasons` says why nothing was recorded; empty if something was."""

    status: int
    seconds: float
    command: tuple[str, ...]
    record: Path | None
    jobs: tuple[JobRecord, ...]
    files: tuple[FileSummary, ...]
    warnings: tuple[str, ...]
    reasons: tuple[str, ...]
    pool: PoolOutcome | None = None


def plan_run(request: RunRequest, world: World) -> RunPlan:
    """Checks settings, finds libraries and launcher, and composes command and environment. If it
    raises SettingsError, SetupError or UsageError, nothing was started."""
    if not request.command:
        raise UsageError(
            "there is nothing to run (no program was given). "
            "Say `forebay run -- mpiexec -n 4 ./program`."
        )
    settings_file = _settings_file(request, world)
    effective = effective_settings(
        world.settings,
        file=settings_file,
        environment=world.environment,
        options=request.overrides,
    )
    kept = _record_to_keep(request, world, effective)
    if request.summary is not None:
        _check_output("summary", world.folder / request.summary, world)
    library = str(world.libraries.find().stub)
    line = _line(request.command, world)
    programs = _programs(line, world)
    warnings = (*_warnings(programs, line.launcher, world), *missing_units(effective))
    is_enabled = _value(effective, "enabled") == "true"
    on = plan_nodes(effective, _launching(line, world), world)
    paths = pool_paths(request.pool, effective, world) if is_enabled else ()
    inside = look_around(paths, request.command, world)
    if inside is not None:
        paths = () if inside.has_no_pool else paths
        warnings = (inside.reason, *warnings) if inside.is_told else warnings
    mount = plan_mount(paths, effective, on.nodes, world)
    warnings += (mount.warning,) if mount.warning else ()
    captured = paths and not mount.mounts
    through: dict[str, str] = {}
    if captured and line.launcher_at is None and not all(one.is_captured for one in programs):
        through = {_DURABILITY_VARIABLE: _THROUGH}  # it does not see deposits, so make none
        warnings += (_THROUGH_WARNING,)
    if captured and not (
        line.launcher_at is None and any(one.is_of_other_libc for one in programs)
    ):
        library += f":{world.pools.library()}"
    if paths:
        warnings += _pool_warnings(request.command, world, on.nodes)
    # These come last, since they create folders, which a failed plan must not leave behind.
    pool = _pool_plan(paths, on, mount, world)
    record = kept or _temporary_record(world)
    variables = {**_variables(request, world, settings_file, record), **through}
    forwarding = Forwarding(
        library=library,
        preload=compose_preload(library, world.environment.get(PRELOAD_VARIABLE)),
        variables={**variables, **(pool.variables if pool else {})},
    )
    return RunPlan(
        words=_words(line, forwarding, world),
        environment=_environment(world.environment, forwarding, line.launcher),
        record=record,
        record_offset=world.records.end(record),
        record_is_kept=kept is not None,
        launcher=line.launcher,
        programs=programs,
        is_enabled=is_enabled,
        warnings=warnings,
        pool=pool,
        inside=inside.reason if inside else None,
        command=request.command,
    )


def _pool_plan(
    paths: tuple[Path, ...], on: NodePlan, mount: MountPlan, world: World
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


def carry_out(plan: RunPlan, world: World, *, progress: Progress | None = None) -> RunReport:
    """Carries out the plan. Raises LaunchError or PoolStartError if the program could not be
    started."""
    since = world.outputs.moment()
    try:
        finished, outcome = run_through(
            plan.pool,
            plan.environment,
            world,
            program=lambda job_ending, environment: world.processes.run(
                plan.words, environment=environment, job_ending=job_ending
            ),
            progress=progress,
        )
        found, complaint = _recorded(plan, world)
        complaint += _tell_run(plan, finished.status, finished.seconds, outcome, world)
    finally:
        if not plan.record_is_kept:
            world.records.remove(plan.record)
        if plan.pool is not None:
            world.pools.remove_room(plan.pool.socket)
    return RunReport(
        status=finished.status,
        seconds=finished.seconds,
        command=plan.words,
        record=plan.record if plan.record_is_kept else None,
        jobs=distinct_jobs(found.jobs),
        files=summarise(found.files),
        warnings=(*plan.warnings, *complaint),
        reasons=_empty_pool(plan, finished.status, found, outcome, world, since)
        if outcome is not None
        else ()
        if found.files or complaint
        else reasons_for_silence(plan, finished.status, met_mpi=bool(found.jobs)),
        pool=outcome,
    )


def _empty_pool(
    plan: RunPlan, status: int, found: Record, outcome: PoolOutcome, world: World, since: int
) -> tuple[str, ...]:
    """Why nothing went through the pool; empty if something did. `since` is the moment at which the
    program was started."""
    if not is_empty(outcome):
        return ()
    by_mpi = [world.folder / file.path for file in found.files if file.write.calls]
    changed = world.outputs.changed(world.folder, plan.words[1:], since=since)
    ours = plan.record.resolve()
    written = [path for path in dict.fromkeys([*by_mpi, *changed]) if path != ours]
    traces = Traces(
        written=tuple(written),
        programs=plan.programs,
        ending=_ending(status) if status else None,
        is_ours=plan.launcher is None
        and [one.linkage for one in plan.programs] == [Linkage.DYNAMIC]
        and not starts_others(plan.words),
    )
    return reasons_for_an_empty_pool(outcome, traces)


def _recorded(plan: RunPlan, world: World) -> tuple[Record, tuple[str, ...]]:
    """The record, and complaints about it. It raises nothing: the program has ended, and its status
    must be reported."""
    try:
        found = world.records.read(plan.record, offset=plan.record_offset)
    except RecordError as error:
        return Record(), (str(error),)
    if not found.damaged_lines:
        return found, ()
    lines = ", ".join(str(line) for line in found.damaged_lines[:5])
    return found, (
        f"the record is damaged (line {lines} of it is not a record's line). "
        "Was the program killed while writing it, or does something else write there?",
    )


def _tell_run(
    plan: RunPlan, status: int, seconds: float, outcome: PoolOutcome | None, world: World
) -> tuple[str, ...]:
    """Appends the run itself to a record that is kept: its length, and the traffic through its
    pool, which is all that a program without MPI leaves. Returns complaints."""
    if not plan.record_is_kept:
        return ()
    run = RunRecord(
        forebay=__version__,
        command=shlex.join(plan.command or plan.words),
        seconds=seconds,
        status=status,
        pool=None if outcome is None else pool_record(outcome),
    )
    try:
        world.records.append(plan.record, run)
    except RecordError as error:
        return (str(error),)
    return ()


def reasons_for_silence(plan: RunPlan, status: int, *, met_mpi: bool = False) -> tuple[str, ...]:
    """Why a run left no record of a file: the certain reasons, or else likely ones. `met_mpi` says
    that Forebay was loaded when the program initialised MPI.
    """
    if not plan.is_enabled:
        return ("Forebay is switched off by the setting `enabled = false`.",)
    if plan.inside is not None:
        return (plan.inside,)
    known = [program.obstacle for program in plan.programs if program.obstacle]
    if known:
        return tuple(known)
    reasons = list(_of_other_calls(plan)) if status == 0 else []
    if reasons and plan.launcher is None and not starts_others(plan.words):
        return tuple(reasons)
    if status != 0:
        reasons.append(
            f"The program {_ending(status)}. A file is recorded when it is closed, or when the "
            "program ends by itself; MPI_Abort and signals leave no time for it."
        )
    if plan.record_is_kept:
        reasons.append("The record could not be written (messages above then say so).")
    reasons.append(
        "The program opened no file by MPI-IO (nor by a library that uses it). Files that it "
        "writes by other calls go through a pool, if you say --pool FOLDER."
    )
    if met_mpi:
        return tuple(reasons)
    reasons += _of_other_calls(plan) if status != 0 else ()
    if any(program.linkage is Linkage.SCRIPT for program in plan.programs):
        reasons.append(
            "The command is a script, and what it starts is statically linked or uses no MPI. "
            "`forebay doctor --program FILE` looks at an executable."
        )
    if plan.launcher is None or plan.launcher.flavour is Flavour.OTHER:
        reasons.append(
            "LD_PRELOAD or FOREBAY_* did not reach the ranks (a launcher or script in between "
            "took them out). `forebay doctor` tries the launchers."
        )
    if not plan.record_is_kept and _may_leave_the_node(plan):
        reasons.append(
            "Rank 0 ran on another node, where the record was written out of our sight. "
            "Say `--record FILE` with a file that all nodes see."
        )
    return tuple(reasons)


def _of_other_calls(plan: RunPlan) -> tuple[str, ...]:
    """A hint for programs without MPI, whose users may not know that the pool serves them, too."""
    without = [
        program.path
        for program in plan.programs
        if program.linkage is Linkage.DYNAMIC and program.mpi_library is None
    ]
    if not without:
        return ()
    return (
        f"{', '.join(map(str, without))} is linked to no MPI (it would have to load one later, as "
        "Python does), and without --pool Forebay serves MPI-IO only. So that it does not wait "
        "for the files that it writes by other calls, name their folder: forebay run --pool "
        "FOLDER -- …",
    )


def _may_leave_the_node(plan: RunPlan) -> bool:
    in_batch = any(name in plan.environment for name in _BATCH_VARIABLES)
    return in_batch or not _HOST_OPTIONS.isdisjoint(plan.words)


def _pool_warnings(command: Sequence[str], world: World, nodes: int) -> tuple[str, ...]:
    left = tuple(world.pools.left_behind())
    if nodes > 1:
        return left
    in_batch = any(world.environment.get(name) for name in _BATCH_VARIABLES)
    if find_launcher(command) is None or not (in_batch or not _HOST_OPTIONS.isdisjoint(command)):
        return left
    return (
        *left,
        "the pool is on this node only: ranks on other nodes write to the file system directly, "
        "and do not see what is still in it. Use it for programs that run on one node.",
    )


def _ending(status: int) -> str:
    number = status - 128
    if number not in set(signal.Signals):
        return f"failed (status {status})"
    name = signal.Signals(number).name
    return f"failed (status {status}: its launcher's own, or {name} ended it)"


def _settings_file(request: RunRequest, world: World) -> Path | None:
    given = request.settings_file or world.environment.get(SETTINGS_VARIABLE) or None
    return None if given is None else (world.folder / given).absolute()


def _value(effective: Sequence[EffectiveSetting], name: str) -> str:
    return next((one.value for one in effective if one.setting.name == name), "")


def _temporary_record(world: World) -> Path:
    shared = any(world.environment.get(name) for name in _BATCH_VARIABLES)
    return world.records.temporary(shared=shared)


def _record_to_keep(
    request: RunRequest, world: World, effective: Sequence[EffectiveSetting]
) -> Path | None:
    """The path of a record that is kept, or None. Raises UsageError if it cannot be written."""
    given = request.record or _value(effective, "record") or None
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


def _check_output(what: str, path: Path, world: World) -> None:
    obstacle = world.outputs.obstacle(path)
    if obstacle is not None:
        raise UsageError(
            f"cannot write the {what} {path} ({obstacle}). Name a file that can be written."
        )


def _variables(
    request: RunRequest, world: World, settings_file: Path | None, record: Path
) -> Mapping[str, str]:
    """All variables FOREBAY_* that the ranks must have, including the user's."""
    variables = {
        name: value
        for name, value in sorted(world.environment.items())
        if name.startswith(ENVIRONMENT_PREFIX)
    }
    if settings_file is not None:
        variables[SETTINGS_VARIABLE] = str(settings_file)
    table = world.settings.table()
    for override in request.overrides:
        variables[table.of(override).variable] = override.text
    variables[RECORD_VARIABLE] = str(record)
    return variables


@frozen
class _Line:
    """The user's command line. `launcher_at` is the index of the launcher's name, None if there is
    none; `launcher` is None if it was not found on this machine."""

    words: tuple[str, ...]
    launcher_at: int | None
    launcher: LauncherFacts | None


def _line(command: tuple[str, ...], world: World) -> _Line:
    at = find_launcher(command)
    launcher = None if at is None else world.launchers.inspect(command[at])
    return _Line(words=command, launcher_at=at, launcher=launcher)


def _launching(line: _Line, world: World) -> Launching | None:
    if line.launcher_at is None or line.launcher is None:
        return None
    return launching(
        line.words,
        launcher=line.launcher_at,
        flavour=line.launcher.flavour,
        is_program=lambda word: world.programs.locate(word) is not None,
    )


def _words(line: _Line, forwarding: Forwarding, world: World) -> tuple[str, ...]:
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


def _programs(line: _Line, world: World) -> tuple[ProgramFacts, ...]:
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


def _warnings(
    programs: Sequence[ProgramFacts], launcher: LauncherFacts | None, world: World
) -> tuple[str, ...]:
    warnings = [program.obstacle for program in programs if program.obstacle]
    mismatch = _mismatch(programs, launcher)
    if mismatch:
        warnings.append(mismatch)
    for variable, meant in world.settings.table().suspicious(sorted(world.environment)):
        warnings.append(f"{variable} is ignored (no such setting). Did you mean {meant}?")
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
