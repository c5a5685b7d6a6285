"""The use case of `doctor` in an imagined world."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.common.files.machine import LocalMachine
from forebay.common.model.errors import UsageError
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.program import Family
from forebay.doctor.model.finding import DoctorFinding, Status, Topic, problems
from forebay.doctor.use_case.diagnose import DoctorRequest, diagnose
from forebay.machine_ports import World
from forebay.pool.model.mounting import MountWay
from forebay.ports import Captured, LauncherFacts

MakeWorld = Callable[..., World]
MPIRUN = LauncherFacts(
    path=Path("/usr/bin/orterun"),
    names=(Path("/usr/bin/mpirun"),),
    flavour=Flavour.OPEN_MPI,
    version="4.1.4",
    library=Path("/usr/lib/libmpi.so.40"),
    family=Family.OPEN_MPI,
)
SRUN = LauncherFacts(
    path=Path("/usr/bin/srun"), names=(Path("/usr/bin/srun"),), flavour=Flavour.SLURM
)


def look(world: World, **more: object) -> tuple[DoctorFinding, ...]:
    request = DoctorRequest(directories=(Path("/scratch"),), **more)  # type: ignore[arg-type]
    return diagnose(request, world).findings


def only(findings: tuple[DoctorFinding, ...], topic: Topic, status: Status) -> DoctorFinding:
    found = [one for one in findings if one.topic is topic and one.status is status]
    assert len(found) == 1, found
    return found[0]


def test_all_is_well(make_world: MakeWorld) -> None:
    world = make_world(launchers={"here": (MPIRUN,)})
    findings = look(world)
    assert problems(findings) == 0
    (words, environment), *_ = world.processes.started  # type: ignore[attr-defined]
    assert words == (
        "/usr/bin/mpirun", "-x", "LD_PRELOAD", "-x", "FOREBAY_DOCTOR", "-n", "1", "env",
    )  # fmt: skip
    assert environment["LD_PRELOAD"].endswith("libforebay_mpi.so")


def test_nothing_is_installed(make_world: MakeWorld) -> None:
    findings = look(make_world(libraries={"missing": True}))
    assert "PATH" in only(findings, Topic.MPI, Status.PROBLEM).detail
    assert "cannot find" in only(findings, Topic.LIBRARIES, Status.PROBLEM).detail
    assert all(one.remedy for one in findings if one.status is Status.PROBLEM)


def test_core_is_missing_for_an_mpi_that_is_there(make_world: MakeWorld) -> None:
    world = make_world(launchers={"here": (MPIRUN,)}, libraries={"cores": (Family.MPICH,)})
    finding = only(look(world), Topic.LIBRARIES, Status.PROBLEM)
    assert finding.subject == "libforebay_core_openmpi.so"


def test_library_that_cannot_be_loaded(make_world: MakeWorld) -> None:
    world = make_world(libraries={"faults": ("core lacks liburing.so.2",)})
    findings = look(world)
    assert any(one.detail == "core lacks liburing.so.2" for one in findings)


def test_a_daemon_that_is_missing_is_told(make_world: MakeWorld) -> None:
    world = make_world(pools={"refused": "cannot use the pool (there is no forebayd)."})
    finding = only(look(world), Topic.LIBRARIES, Status.NOTE)
    assert finding.subject == "forebayd"
    assert finding.remedy


def test_each_way_to_mount_is_told_with_why_it_does_not_work(make_world: MakeWorld) -> None:
    ways = (
        MountWay(name="root", obstacle="you are not root"),
        MountWay(name="fusermount3", obstacle="cannot mount over /x (not there). Install it."),
        MountWay(name="private namespace", obstacle=None),
    )
    world = make_world(pools={"ways": ways})
    root, helper, private = (one for one in look(world) if one.topic is Topic.MOUNT)
    assert (root.status, root.detail, root.remedy) == (Status.NOTE, "you are not root", None)
    assert (helper.detail, helper.remedy) == ("cannot mount over /x (not there)", "Install it.")
    assert private.status is Status.GOOD
    assert "try /scratch" in world.pools.log  # type: ignore[attr-defined]


def test_nothing_is_mounted_where_the_user_may_not_write(make_world: MakeWorld) -> None:
    world = make_world(machine={"directory_facts": {"is_writable": False}})
    assert "not tried" in only(look(world), Topic.MOUNT, Status.NOTE).detail
    assert world.pools.log == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("output", "lost"),
    [
        ("LD_PRELOAD=/opt/forebay/libforebay_mpi.so\n", "FOREBAY_DOCTOR"),
        ("FOREBAY_DOCTOR=1\nLD_PRELOAD=\n", "LD_PRELOAD"),
        ("HOME=/\n", "LD_PRELOAD and FOREBAY_DOCTOR"),
    ],
)
def test_launcher_that_loses_variables(make_world: MakeWorld, output: str, lost: str) -> None:
    captured = Captured(status=0, output=output, errors="")
    world = make_world(launchers={"here": (MPIRUN,)}, processes={"captured": captured})
    finding = only(look(world), Topic.FORWARDING, Status.PROBLEM)
    assert finding.detail.endswith(f"lost {lost}")


def test_launcher_that_fails_or_hangs(make_world: MakeWorld) -> None:
    for status, why in ((None, "too long"), (1, "no slots")):
        captured = Captured(status=status, output="", errors="-----\nno slots\n")
        world = make_world(launchers={"here": (MPIRUN,)}, processes={"captured": captured})
        assert why in only(look(world), Topic.FORWARDING, Status.PROBLEM).detail


def test_srun_is_tried_inside_a_job_only(make_world: MakeWorld) -> None:
    world = make_world(launchers={"here": (SRUN,)})
    assert "not tried" in only(look(world), Topic.FORWARDING, Status.NOTE).detail
    world = make_world(launchers={"here": (SRUN,)}, environment={"SLURM_JOB_ID": "1"})
    only(look(world), Topic.FORWARDING, Status.GOOD)


def facts_of(name: str, flavour: Flavour) -> LauncherFacts:
    path = Path("/usr/bin") / name
    return LauncherFacts(path=path, names=(path,), flavour=flavour)


def test_launchers_of_batch_systems_are_tried_inside_a_job_only(make_world: MakeWorld) -> None:
    flux = facts_of("flux", Flavour.FLUX)
    for around, status in (({}, Status.NOTE), ({"FLUX_URI": "local:///x"}, Status.GOOD)):
        world = make_world(launchers={"here": (flux,)}, environment=around)
        only(look(world), Topic.FORWARDING, status)
        assert only(look(world), Topic.MPI, Status.GOOD).subject == "/usr/bin/flux"
    (words, _), *_ = world.processes.started  # type: ignore[attr-defined]
    assert words == ("/usr/bin/flux", "run", "-n", "1", "env")


def test_a_job_whose_other_nodes_a_pool_does_not_reach(make_world: MakeWorld) -> None:
    job = {"LSB_MCPU_HOSTS": "batch 1 a 42 b 42", "CSM_ALLOCATION_ID": "9", "LSB_JOBID": "7"}

    def told(*launchers: LauncherFacts) -> list[str]:
        world = make_world(launchers={"here": launchers}, environment=job)
        return [f"{one.detail} {one.remedy}" for one in look(world) if one.subject == "pool"]

    (unknown,) = told(facts_of("aprun", Flavour.APRUN))
    assert "2 nodes, and no launcher" in unknown
    assert "pool_starter" in unknown
    (core,) = told(facts_of("jsrun", Flavour.JSRUN))
    assert "`--set pool_nodes=2`, and leave one core" in core
    assert told(MPIRUN) == []


def test_programs(make_world: MakeWorld) -> None:
    world = make_world()
    assert only(look(world, program="./program"), Topic.PROGRAM, Status.GOOD)
    static = only(look(world, program="./static"), Topic.PROGRAM, Status.PROBLEM)
    assert static.remedy == "Link it dynamically."
    assert only(look(world, program="./none"), Topic.PROGRAM, Status.PROBLEM)
    assert only(look(world, program="./job.sh"), Topic.PROGRAM, Status.NOTE)


def test_more_ranks_than_cores(make_world: MakeWorld) -> None:
    assert (
        "8 ranks on 4 cores"
        in only(look(make_world(), ranks=8), Topic.MACHINE, Status.PROBLEM).detail
    )
    assert problems(look(make_world(launchers={"here": (MPIRUN,)}), ranks=4)) == 0


def test_kernel_without_io_uring_is_noted_without_memfd_a_problem(make_world: MakeWorld) -> None:
    facts = {"io_uring_obstacle": "forbidden", "memfd_obstacle": "forbidden", "shm_bytes": 1 << 20}
    findings = look(make_world(machine={"machine_facts": facts}))
    assert only(findings, Topic.MACHINE, Status.NOTE).subject == "io_uring"
    problem_subjects = [
        one.subject
        for one in findings
        if one.topic is Topic.MACHINE and one.status is Status.PROBLEM
    ]
    assert problem_subjects == ["memfd_create", "/dev/shm"]


def test_layouts_of_new_files(make_world: MakeWorld) -> None:
    striped = {"file_system": "lustre", "targets": 4, "stripe_bytes": 1 << 20}
    on_lustre = {"directory_facts": {"file_system": "lustre"}}
    finding = only(
        look(make_world(machine=on_lustre, layouts={"facts": striped})),
        Topic.DIRECTORY,
        Status.NOTE,
    )
    assert "4 targets, stripe 1.00 MiB" in finding.detail
    assert finding.remedy is None
    one = {"file_system": "ceph", "targets": 1, "stripe_bytes": 4 << 20}
    on_ceph = {"directory_facts": {"file_system": "ceph"}}
    finding = only(
        look(make_world(machine=on_ceph, layouts={"facts": one})), Topic.DIRECTORY, Status.NOTE
    )
    assert "forebay layout set" in (finding.remedy or "")
    finding = only(
        look(make_world(machine=on_ceph, layouts={"obstacle": "cannot read the layout"})),
        Topic.DIRECTORY,
        Status.NOTE,
    )
    assert finding.detail == "cannot read the layout"


def test_directories(make_world: MakeWorld) -> None:
    facts = {"is_writable": False}
    assert only(
        look(make_world(machine={"directory_facts": facts})), Topic.DIRECTORY, Status.PROBLEM
    )


def test_several_directories_are_looked_at(make_world: MakeWorld) -> None:
    request = DoctorRequest(directories=(Path("/scratch"), Path("/home")))
    diagnosis = diagnose(request, make_world())
    assert [str(one.facts.path) for one in diagnosis.directories] == ["/scratch", "/home"]
    subjects = {one.subject for one in diagnosis.findings if one.topic is Topic.DIRECTORY}
    assert subjects == {"/scratch", "/home"}


def test_a_file_is_not_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is not a directory") as raised:
        LocalMachine().directory(tmp_path / "file")
    assert str(tmp_path) in str(raised.value)


def test_no_free_space_is_a_problem(make_world: MakeWorld) -> None:
    findings = look(make_world(machine={"directory_facts": {"free_bytes": 0}}))
    assert "full" in only(findings, Topic.DIRECTORY, Status.PROBLEM).detail
    assert not any(one.topic is Topic.DIRECTORY and one.status is Status.GOOD for one in findings)


def test_proc_is_no_place_to_write(make_world: MakeWorld) -> None:
    world = replace(make_world(), machine=LocalMachine())
    diagnosis = diagnose(DoctorRequest(directories=(Path("/proc"),)), world)
    (finding,) = (one for one in diagnosis.findings if one.topic is Topic.DIRECTORY)
    assert finding.status is Status.PROBLEM


def test_one_core_is_not_cores(make_world: MakeWorld) -> None:
    findings = look(make_world(machine={"cores": 1}), ranks=1)
    assert any(one.detail == "1 rank on 1 core" for one in findings)


def test_a_file_system_that_does_not_tell_its_size_is_not_full(make_world: MakeWorld) -> None:
    findings = look(make_world(machine={"directory_facts": {"free_bytes": None}}))
    assert not any(
        one.topic is Topic.DIRECTORY and one.status is Status.PROBLEM for one in findings
    )
