"""Use case: check what works on this machine. Each check yields findings, and no check stops the
others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from forebay.common.files.batch_job import nodes_of_job
from forebay.common.model.errors import LayoutError, SetupError
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import KNOWN, Flavour
from forebay.common.model.launcher import (
    PRELOAD_VARIABLE,
    Forwarding,
    compose_preload,
    forward,
)
from forebay.common.model.program import Family, Linkage
from forebay.common.model.units import counted, human_bytes
from forebay.doctor.model.finding import (
    DoctorFinding,
    Topic,
    good_finding,
    note_finding,
    problem_finding,
)
from forebay.doctor.model.site import PARALLEL
from forebay.layout.model import Layout
from forebay.machine_ports import DirectoryFacts, MachineFacts, World
from forebay.ports import LauncherFacts, NativeLibraries

_PROBE_VARIABLE = "FOREBAY_DOCTOR"
_PROBE_SECONDS_MAX = 30.0
_RELAXED = {  # lets Open MPI run the trial as root
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
_OF_THE_KERNEL = frozenset(
    "autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts efivarfs fusectl mqueue nsfs "
    "proc pstore securityfs selinuxfs sysfs tracefs".split()
)
_CORES = (Family.MPICH, Family.OPEN_MPI, Family.STANDARD_ABI)


@frozen
class DoctorRequest:
    """The directories and the program to check."""

    directories: tuple[Path, ...]
    program: str | None = None
    ranks: int | None = None


@frozen
class DirectoryDiagnosis:
    """A directory, and the layout that new files in it get."""

    facts: DirectoryFacts
    layout: Layout | None


@frozen
class SetupDiagnosis:
    """All findings, and the facts that they come from."""

    findings: tuple[DoctorFinding, ...]
    launchers: tuple[LauncherFacts, ...]
    libraries: NativeLibraries | None
    directories: tuple[DirectoryDiagnosis, ...]
    machine: MachineFacts


def diagnose(request: DoctorRequest, world: World) -> SetupDiagnosis:
    """Runs all checks. Raises UsageError if a directory does not exist."""
    places = [world.machine.directory(path) for path in request.directories]
    machine = world.machine.facts()
    looked_at = [_look_at(facts, world) for facts in places]
    launchers = tuple(world.launchers.installed())
    libraries, library_findings = _libraries(world, launchers)
    findings = (
        *_mpis(world, launchers),
        *library_findings,
        *_forwarding(world, launchers, libraries),
        *_program(world, request.program),
        *(finding for _, found in looked_at for finding in found),
        *(_mounts(world, places) if libraries is not None else ()),
        *_machine(machine, request.ranks),
    )
    return SetupDiagnosis(
        findings=findings,
        launchers=launchers,
        libraries=libraries,
        directories=tuple(one for one, _ in looked_at),
        machine=machine,
    )


def _mpis(world: World, launchers: Sequence[LauncherFacts]) -> Iterator[DoctorFinding]:
    for launcher in launchers:
        names = ", ".join(name.name for name in launcher.names)
        what = f"{launcher.flavour.value} {launcher.version or ''}".strip() + f" ({names})"
        if launcher.flavour is Flavour.OTHER:
            yield note_finding(
                Topic.MPI, str(launcher.path), f"{names}: unknown; gets the environment as it is"
            )
        elif launcher.library is None and KNOWN[launcher.flavour].brings_mpi:
            yield note_finding(Topic.MPI, str(launcher.path), f"{what}; its libmpi was not found")
        elif launcher.family is Family.UNKNOWN:
            yield problem_finding(
                Topic.MPI,
                str(launcher.path),
                f"{what}; {launcher.library} is of a family that Forebay has no core for",
                "Use an MPI of the MPICH or the Open MPI family.",
            )
        else:
            library = f"; {launcher.library}" if launcher.library else ""
            yield good_finding(Topic.MPI, str(launcher.path), what + library)
    for wheel in world.launchers.wheels():
        yield good_finding(Topic.MPI, f"Python package {wheel.name}", wheel.version)
    if not launchers:
        yield problem_finding(
            Topic.MPI,
            "launchers",
            "no mpiexec, mpirun, srun, flux, jsrun, aprun or ibrun on PATH",
            "Load the MPI's module, or install one (Debian: mpich or openmpi-bin). A launcher of "
            "another name is started as it is.",
        )
    yield from _reach(world, launchers)


def _reach(world: World, launchers: Sequence[LauncherFacts]) -> Iterator[DoctorFinding]:
    """Says in a job of several nodes if no launcher can start the daemons of a pool on them."""
    nodes = nodes_of_job(world.environment)
    if nodes is None or nodes < 2 or "SLURM_JOB_NUM_NODES" in world.environment:
        return
    usable = [one for one in launchers if KNOWN[one.flavour].start]
    if not usable:
        yield note_finding(
            Topic.MPI,
            "pool",
            f"the job has {nodes} nodes, and no launcher on PATH is known to start daemons on them",
            f"Say `--set pool_nodes={nodes}`, and in pool_starter the command that starts one task "
            "on each node.",
        )
    elif all(KNOWN[one.flavour].takes_cores for one in usable):
        yield note_finding(
            Topic.MPI,
            "pool",
            f"the job has {nodes} nodes; a pool is on one of them, unless told otherwise",
            f"Say `--set pool_nodes={nodes}`, and leave one core of each node free.",
        )


def _libraries(
    world: World, launchers: Sequence[LauncherFacts]
) -> tuple[NativeLibraries | None, Sequence[DoctorFinding]]:
    try:
        libraries = world.libraries.find()
    except SetupError as error:
        return None, [
            problem_finding(
                Topic.LIBRARIES,
                "libforebay_mpi.so",
                str(error),
                "Build (`make build`) or install Forebay, or set FOREBAY_LIBDIR.",
            )
        ]
    findings = [good_finding(Topic.LIBRARIES, str(libraries.stub), "the library that is preloaded")]
    used = {launcher.family for launcher in launchers}
    for family in _CORES:
        core = libraries.cores.get(family)
        if core is not None:
            findings.append(
                good_finding(Topic.LIBRARIES, core.name, f"core for the {family.title}")
            )
        elif family in used:
            findings.append(
                problem_finding(
                    Topic.LIBRARIES,
                    f"libforebay_core_{family.value}.so",
                    f"there is no core for the {family.title}, which is installed here",
                    "Rebuild Forebay with that MPI's compiler wrapper in FOREBAY_MPICC.",
                )
            )
    findings += [
        problem_finding(
            Topic.LIBRARIES,
            str(libraries.folder),
            complaint,
            "Install what is missing, or rebuild Forebay on this machine.",
        )
        for complaint in world.libraries.complaints(libraries, launchers)
    ]
    return libraries, [*findings, *_pool(world)]


def _pool(world: World) -> Iterator[DoctorFinding]:
    """Checks the files that `forebay run --pool` needs."""
    parts = (
        (world.pools.library, "libforebay_posix.so", "preloaded for a pool"),
        (world.pools.program, "forebayd", "the daemon of a pool"),
    )
    for find, name, what in parts:
        try:
            yield good_finding(Topic.LIBRARIES, find().name, what)
        except SetupError as error:
            yield note_finding(Topic.LIBRARIES, name, str(error), "Build or install Forebay again.")
            return


def _mounts(world: World, directories: Sequence[DirectoryFacts]) -> Iterator[DoctorFinding]:
    """Tries the ways to mount, in the first directory that can be written."""
    place = next((one.path for one in directories if one.is_writable), None)
    if place is None:
        yield note_finding(
            Topic.MOUNT,
            "pool_mount",
            "not tried: you may not write in any of the directories",
            "Name a directory of your own.",
        )
        return
    for way in world.pools.mount_ways(place):
        if way.obstacle is None:
            yield good_finding(Topic.MOUNT, way.name, f"works (tried in {place})")
        else:
            problem, ends, remedy = way.obstacle.rpartition("). ")
            detail = f"{problem})" if ends else remedy
            yield note_finding(Topic.MOUNT, way.name, detail, remedy if ends else None)


def _forwarding(
    world: World, launchers: Sequence[LauncherFacts], libraries: NativeLibraries | None
) -> Iterator[DoctorFinding]:
    """Starts one process by each launcher and checks the environment that it gets."""
    for launcher in launchers:
        job = KNOWN[launcher.flavour].job_variable
        if launcher.flavour is Flavour.PRUN:
            yield note_finding(
                Topic.FORWARDING, str(launcher.path), "not tried: prun wants a DVM that runs"
            )
        elif job and job not in world.environment:
            yield note_finding(
                Topic.FORWARDING,
                str(launcher.path),
                f"not tried: outside a job {launcher.names[0].name} fails, or waits for one",
                "Run `forebay doctor` inside a job.",
            )
        elif libraries is not None:
            yield _try_launcher(world, launcher, libraries)


def _try_launcher(
    world: World, launcher: LauncherFacts, libraries: NativeLibraries
) -> DoctorFinding:
    library = str(libraries.stub)
    forwarding = Forwarding(
        library=library,
        preload=compose_preload(library, world.environment.get(PRELOAD_VARIABLE)),
        variables={_PROBE_VARIABLE: "1"},
    )
    name = str(launcher.names[0])
    start = (name, *KNOWN[launcher.flavour].subcommands[:1], "-n", "1", "env")
    words = forward(
        start,
        launcher=0,
        flavour=launcher.flavour,
        forwarding=forwarding,
        is_program=lambda word: word == "env",
    )
    ended = world.processes.capture(
        words,
        environment={**world.environment, **_RELAXED, **dict(forwarding.pairs)},
        seconds_max=_PROBE_SECONDS_MAX,
    )
    command = " ".join(start)
    if ended.status != 0:
        why = "it took too long" if ended.status is None else f"status {ended.status}"
        first = next((line for line in ended.errors.splitlines() if line.strip("- ")), "")
        return problem_finding(
            Topic.FORWARDING,
            str(launcher.path),
            f"`{command}` failed ({why}): {first}".rstrip(": "),
            "Repair this MPI, or take it off PATH.",
        )
    seen = dict(line.partition("=")[::2] for line in ended.output.splitlines())
    lost = [
        variable
        for variable, value in forwarding.pairs
        if value not in (seen.get(variable) or "") or variable not in seen
    ]
    if lost:
        return problem_finding(
            Topic.FORWARDING,
            str(launcher.path),
            f"`{command}` lost {' and '.join(lost)}",
            "Set them where the program starts: "
            f"`{launcher.names[0].name} … env LD_PRELOAD={library} ./program`.",
        )
    return good_finding(Topic.FORWARDING, str(launcher.path), "LD_PRELOAD and FOREBAY_* arrive")


def _program(world: World, word: str | None) -> Iterator[DoctorFinding]:
    if word is None:
        return
    path = world.programs.locate(word)
    if path is None:
        yield problem_finding(
            Topic.PROGRAM, word, "there is no such program", "Give the path of an executable file."
        )
        return
    facts = world.programs.inspect(path)
    if facts.obstacle:
        problem, _, remedy = facts.obstacle.rpartition("). ")
        yield problem_finding(Topic.PROGRAM, str(path), f"{problem})", remedy)
    elif facts.mpi_library and facts.family:
        yield good_finding(
            Topic.PROGRAM, str(path), f"uses {facts.mpi_library} ({facts.family.title})"
        )
    elif facts.linkage is Linkage.SCRIPT:
        yield note_finding(
            Topic.PROGRAM, str(path), "a script: the MPI shows when a process loads it"
        )
    else:
        yield note_finding(
            Topic.PROGRAM,
            str(path),
            "linked to no MPI: Forebay works if it loads one later, as Python does",
        )


def _look_at(
    facts: DirectoryFacts, world: World
) -> tuple[DirectoryDiagnosis, Sequence[DoctorFinding]]:
    if facts.file_system in _OF_THE_KERNEL:
        finding = problem_finding(
            Topic.DIRECTORY,
            str(facts.path),
            f"{facts.file_system} ({facts.mount_point}) shows what the kernel knows and holds no "
            "files of yours",
            "Choose a directory on a disk or a parallel file system.",
        )
        return DirectoryDiagnosis(facts=facts, layout=None), (finding,)
    layout, complaints = _layout(facts.path, world)
    findings = (*_directory(facts, layout), *complaints)
    return DirectoryDiagnosis(facts=facts, layout=layout), findings


def _space(facts: DirectoryFacts) -> DoctorFinding:
    where = f"{facts.file_system} ({facts.device} on {facts.mount_point})"
    if facts.free_bytes is None:
        return good_finding(Topic.DIRECTORY, str(facts.path), where)
    detail = f"{where}, {human_bytes(facts.free_bytes)} free"
    if facts.free_bytes > 0:
        return good_finding(Topic.DIRECTORY, str(facts.path), detail)
    return problem_finding(
        Topic.DIRECTORY,
        str(facts.path),
        f"{where} is full: nothing can be written",
        "Free space there, or choose another directory.",
    )


def _directory(facts: DirectoryFacts, layout: Layout | None) -> Iterator[DoctorFinding]:
    subject = str(facts.path)
    yield _space(facts)
    if layout is not None:
        yield note_finding(Topic.DIRECTORY, subject, layout_text(layout), _layout_remedy(layout))
    if not facts.is_writable:
        yield problem_finding(
            Topic.DIRECTORY, subject, "you may not write here", "Choose a directory of your own."
        )
    if facts.file_system in {"nfs", "nfs4"}:
        yield note_finding(
            Topic.DIRECTORY,
            subject,
            "NFS gives no order between nodes that write one file",
            "Keep a job's ranks on one node, or use a parallel file system.",
        )
    elif facts.file_system not in PARALLEL:
        yield note_finding(
            Topic.DIRECTORY, subject, "not a parallel file system: of this machine alone"
        )


def _layout(path: Path, world: World) -> tuple[Layout | None, Sequence[DoctorFinding]]:
    try:
        return world.layouts.show(path), ()
    except SetupError:
        return None, ()  # _libraries reports that the libraries are missing
    except LayoutError as error:
        return None, (note_finding(Topic.DIRECTORY, str(path), str(error)),)


def layout_text(layout: Layout) -> str:
    if not layout.is_known:
        return "counts as one target (the file system tells of no stripes)"
    targets = "all" if layout.targets is None else str(layout.targets)
    stripe = human_bytes(layout.stripe_bytes) if layout.stripe_bytes else "default"
    noun = "target" if layout.targets == 1 else "targets"
    return f"new files: {targets} {noun}, stripe {stripe} ({layout.file_system})"


def _layout_remedy(layout: Layout) -> str | None:
    if layout.is_known and layout.targets == 1:
        return f"For large files: forebay layout set -c COUNT {layout.path}."
    return None


def _machine(facts: MachineFacts, ranks: int | None) -> Iterator[DoctorFinding]:
    cores = counted(facts.cores, "core")
    if ranks is None:
        yield good_finding(
            Topic.MACHINE, "cores", f"{cores} for this process (-n N checks N ranks)"
        )
    elif ranks > facts.cores:
        yield problem_finding(
            Topic.MACHINE,
            "cores",
            f"{counted(ranks, 'rank')} on {cores}: ranks that wait keep others from working",
            "Use fewer ranks or more nodes, or let waiting ranks yield (Open MPI: "
            "--mca mpi_yield_when_idle 1), and trust no timing.",
        )
    else:
        yield good_finding(Topic.MACHINE, "cores", f"{counted(ranks, 'rank')} on {cores}")
    if facts.io_uring_obstacle:
        yield note_finding(
            Topic.MACHINE,
            "io_uring",
            f"not usable ({facts.io_uring_obstacle}); threads with pwritev do the writing",
        )
    else:
        yield good_finding(Topic.MACHINE, "io_uring", "usable")
    if facts.memfd_obstacle:
        yield problem_finding(
            Topic.MACHINE,
            "memfd_create",
            f"not usable ({facts.memfd_obstacle}): ranks of a node cannot share staging",
            "Allow it in the container's or the batch system's seccomp profile.",
        )
    else:
        yield good_finding(Topic.MACHINE, "memfd_create", "usable: ranks of a node share staging")
    yield from _shared_memory(facts)


def _shared_memory(facts: MachineFacts) -> Iterator[DoctorFinding]:
    if facts.shm_bytes is None:
        yield note_finding(Topic.MACHINE, "/dev/shm", "not there; most MPIs need it within a node")
        return
    sizes = f"{human_bytes(facts.shm_free_bytes or 0)} free of {human_bytes(facts.shm_bytes)}"
    if facts.shm_bytes < 64 << 20:
        yield problem_finding(
            Topic.MACHINE,
            "/dev/shm",
            f"{sizes}: MPIs fail or crawl with so little (Forebay does not use it)",
            "Enlarge it (docker: --shm-size=1g).",
        )
    else:
        yield good_finding(Topic.MACHINE, "/dev/shm", sizes)
