"""Tests what probing says before it begins: its costs, and faults of the launcher."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from forebay.bench.files import ResultFiles, flag_letters
from forebay.bench.model.command_line import Launch
from forebay.bench.report.page import HtmlPages
from forebay.bench.use_case.bench import BenchWorld
from forebay.common.model.errors import BenchUsageError, ProbeError, SetupError
from forebay.common.model.program import Linkage, ProgramFacts
from forebay.machine_ports import World
from forebay.ports import Captured
from forebay_tuning.probe.files.measuring_program import RealSystem, Where
from forebay_tuning.probe.use_case.probe import Budget, ProbePlan, ProbeRequest, Unknown, plan_probe

MakeWorld = Callable[..., World]
Command = Callable[..., CompletedProcess[str]]
REQUEST = ProbeRequest(level="quick", budget=Budget(seconds=300, bytes=1 << 36, files=5000), seed=1)
AS_ROOT = """--------------------------------------------------------------------------
mpirun has detected an attempt to run as root.

You can override this protection by adding the --allow-run-as-root option
to the cmd line or by setting two environment variables in the following way:
"""


def real(world: World, folder: Path, line: str, *, only_look: bool) -> RealSystem:
    ior = Path("/opt/forebay/openmpi/forebay-ior")
    programs = {str(ior): ProgramFacts(path=ior, linkage=Linkage.DYNAMIC)}
    world.programs.programs = programs  # type: ignore[attr-defined]
    where = Where(
        directory=folder, folder="forebay-probe-1", launch=Launch(words=tuple(line.split())),
        level="quick", seed=1, date="2026-11-22", only_look=only_look,
    )  # fmt: skip
    return RealSystem(
        where,
        BenchWorld(
            world=world,
            results=ResultFiles(),
            pages=HtmlPages(),
            letters=flag_letters(),
            is_root=True,
        ),
    )


def looked_at(world: World, folder: Path, line: str) -> ProbePlan:
    plan = plan_probe(REQUEST, real(world, folder, line, only_look=True))
    assert world.processes.started == []  # type: ignore[attr-defined]
    assert list(folder.iterdir()) == []
    return plan


def test_a_look_starts_and_makes_nothing(make_world: MakeWorld, tmp_path: Path) -> None:
    plan = looked_at(make_world(), tmp_path, "mpirun -n 16")
    assert plan.ground.unknown == {Unknown.NODES}
    priced = 3 * 7 * (1 + 4 + 16)
    assert (plan.estimate.probes, plan.estimate.files) == (60, (60 + 2) * 16 + 16 + 3 + priced)


def test_a_look_does_not_know_ranks_that_are_not_said(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    plan = looked_at(make_world(), tmp_path, "mpirun")
    assert Unknown.RANKS in plan.ground.unknown
    assert plan.estimate.files == REQUEST.budget.files


def test_a_look_sees_what_is_not_there(make_world: MakeWorld, tmp_path: Path) -> None:
    with pytest.raises(BenchUsageError, match="no launcher"):
        looked_at(make_world(), tmp_path, "./program")
    with pytest.raises(SetupError, match="no forebay-ior for the MPICH"):
        looked_at(make_world(), tmp_path, "mpiexec -n 2")


def test_open_mpi_that_will_not_start_as_root_is_told_what_to_do(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    captured = Captured(status=1, output="", errors=AS_ROOT)
    world = make_world(processes={"captured": captured})
    with pytest.raises(ProbeError, match=r"Add --allow-run-as-root behind"):
        plan_probe(REQUEST, real(world, tmp_path, "mpirun -n 2", only_look=False))
    assert list(tmp_path.iterdir()) == []


def test_the_command_that_shows_more_names_the_program_where_it_is(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    captured = Captured(status=1, output="", errors="Error: not today")
    world = make_world(processes={"captured": captured})
    with pytest.raises(ProbeError, match=r"mpirun -n 2 /opt/forebay/openmpi/forebay-ior -w"):
        plan_probe(REQUEST, real(world, tmp_path, "mpirun -n 2", only_look=False))


def test_a_dry_run_has_a_format(forebay: Command, tmp_path: Path) -> None:
    words = ("probe", "--simulate", "laptop", "--formulas", "--dry-run")
    done = forebay(*words, "--format", "json", folder=tmp_path)
    said = json.loads(done.stdout)
    assert (said["schema"], said["nodes"], said["ranks"]) == ("forebay.probe.estimate/1", 1, 4)
    assert said["probes"] == 60
    assert "at most 60 probes in 300 s" in forebay(*words, folder=tmp_path).stdout
    assert list(tmp_path.iterdir()) == []


def test_a_launcher_in_the_place_of_the_directory_is_told(forebay: Command, tmp_path: Path) -> None:
    done = forebay("probe", "--", "mpiexec", "-n", "2", folder=tmp_path)
    assert done.returncode == 2
    assert 'the directory is missing ("mpiexec" is a launcher)' in done.stderr
