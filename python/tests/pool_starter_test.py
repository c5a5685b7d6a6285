"""Which nodes a launcher's words name, and what starts one daemon on each of them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from forebay.common.model.known_launchers import TASK_NUMBERS, Flavour
from forebay.machine_ports import World
from forebay.pool.files.fleet import task_text
from forebay.pool.model.starter import Launching, launching, nodes_of, starter_by
from forebay.ports import Captured
from forebay.run.use_case.run_plan import RunRequest, plan_run
from forebay.settings.model.given import Override

FILES = {
    "hydra": "# nodes\na:8\n\nb:8\nb\n",
    "slots": "a slots=8\nb slots=8 max-slots=9\nc\n",
}


FLAVOURS = {
    "mpirun": Flavour.OPEN_MPI,
    "mpiexec": Flavour.HYDRA,
    "/pals/mpiexec": Flavour.PALS,
    "prun": Flavour.PRUN,
    "jsrun": Flavour.JSRUN,
    "aprun": Flavour.APRUN,
    "ibrun": Flavour.IBRUN,
    "flux": Flavour.FLUX,
}


def of(line: str) -> Launching:
    words = line.split()
    flavour = FLAVOURS[words[0]]
    return launching(words, launcher=0, flavour=flavour, is_program=lambda word: word == "./a")


@pytest.mark.parametrize(
    ("line", "nodes"),
    [
        ("mpiexec -n 4 ./a", 0),
        ("mpiexec -f hydra -n 64 ./a", 2),
        ("mpiexec -f hydra -n 1 ./a", 1),
        ("mpiexec -f none -n 64 ./a", 0),
        ("mpiexec -hosts a,b,c ./a", 3),
        ("mpiexec -hosts a:2,b:2,a -n 8 ./a -hosts d,e,f,g", 2),
        ("mpiexec -n 1 -host a ./a : -n 1 -host b ./a", 2),
        ("mpirun --hostfile slots -np 64 ./a", 3),
        ("mpirun -H a:4,b:4 ./a", 2),
        ("mpirun --host=a,b ./a", 2),
        ("mpirun --host localhost:4 -n 4 ./a", 1),
        ("/pals/mpiexec --hosts a,b -n 4 ./a", 2),
        ("/pals/mpiexec --hostfile hydra -n 4 --ppn 2 ./a", 2),
        ("/pals/mpiexec -n 4 ./a", 3),
        ("/pals/mpiexec -n 1 ./a", 1),
        ("jsrun -n 4 ./a", 0),
        ("aprun -n 4 -L 1,2 ./a", 0),
    ],
)
def test_nodes_that_are_named(line: str, nodes: int) -> None:
    assert nodes_of(of(line), FILES.get, {"PBS_NODEFILE": "slots"}) == nodes


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "mpiexec -f hydra -launcher rsh -genv A b -n 64 -ppn 8 -bind-to core ./a -x",
            "mpiexec -f hydra -launcher rsh -n 2 -ppn 1",
        ),
        ("mpiexec ./a", "mpiexec -n 2 -ppn 1"),
        (
            "mpirun --mca plm_rsh_agent rsh --hostfile slots --allow-run-as-root -x B -np 8 "
            "--map-by core ./a",
            "mpirun --mca plm_rsh_agent rsh --hostfile slots --allow-run-as-root -n 2 "
            "--map-by ppr:1:node --bind-to none -x FOREBAY_A",
        ),
        (
            "/pals/mpiexec --hostfile hydra -n 64 --ppn 8 --cpu-bind depth ./a",
            "/pals/mpiexec --hostfile hydra -n 2 --ppn 1 --cpu-bind none",
        ),
        (
            "prun --dvm-uri file:x -n 8 ./a",
            "prun --dvm-uri file:x -n 2 --map-by ppr:1:node --bind-to none -x FOREBAY_A",
        ),
        (
            "jsrun -n 8 -r 4 -x bad -c 7 -g 1 ./a",
            "jsrun -x bad -n 2 -r 1 -a 1 -c 1 --bind=none",
        ),
    ],
)
def test_one_task_on_each_node_reached_in_the_same_way(line: str, words: str) -> None:
    assert " ".join(starter_by(of(line), 2, ["FOREBAY_A"])) == words


def test_in_a_slurm_job_it_is_slurm_that_starts_them(make_world: Callable[..., World]) -> None:
    words = ("mpirun", "--host", "a,b", "./program")
    world = make_world(environment={"SLURM_JOB_NUM_NODES": "4"})
    plan = plan_run(RunRequest(command=words, pool=(Path(),)), world)
    assert plan.pool is not None
    assert (plan.pool.nodes, plan.pool.by) == (4, None)


def test_flux_starts_them_past_its_scheduler_and_numbers_them() -> None:
    words = starter_by(of("flux run -n 8 ./a"), 3, ["FOREBAY_A"])
    assert words[:4] == ("flux", "exec", "--rank=0-2", "sh")
    assert "FLUX_TASK_RANK=$(flux getattr rank)" in words[5]


@pytest.mark.parametrize("line", ["aprun ./a", "ibrun ./a", "flux submit ./a", "flux alloc ./a"])
def test_those_that_cannot_start_them_are_not_used(line: str) -> None:
    assert not of(line).is_usable


def flux(world: World, words: str, *overrides: Override) -> tuple[int, bool]:
    plan = plan_run(
        RunRequest(command=tuple(words.split()), pool=(Path(),), overrides=overrides), world
    )
    assert plan.pool is not None
    return plan.pool.nodes, plan.pool.by is not None


def test_the_nodes_of_a_flux_instance_are_asked_for(make_world: Callable[..., World]) -> None:
    for status, output, wanted in ((0, "4\n", (4, True)), (1, "", (1, False))):
        said = Captured(status=status, output=output, errors="")
        world = make_world(processes={"captured": said})
        assert flux(world, "flux run -n 8 ./program") == wanted
    world = make_world()
    plan_run(RunRequest(command=("flux", "run", "./program")), world)
    assert not world.processes.started  # type: ignore[attr-defined]


def test_a_launcher_that_takes_cores_is_used_only_if_told(make_world: Callable[..., World]) -> None:
    world = make_world()
    assert flux(world, "jsrun -n 8 ./program") == (1, False)
    assert flux(world, "jsrun -n 8 ./program", Override("pool_nodes", "2")) == (2, True)


LSF = {"LSB_JOBID": "7", "LSB_MCPU_HOSTS": "batch 1 a 42 b 42", "CSM_ALLOCATION_ID": "9"}


@pytest.mark.parametrize(
    ("line", "around", "told"),
    [
        ("jsrun -n 8 ./program", LSF, ["`--set pool_nodes=2`: jsrun", "takes a core"]),
        ("aprun -n 8 ./program", {}, ["aprun may start all ranks on others", "pool_starter"]),
        ("flux submit -n 8 ./program", {}, ["`flux submit` returns", "Use `flux run`"]),
        ("mympirun -n 8 ./program", LSF, ["mympirun is not known", "pool_starter=", "has 2:"]),
        ("./serial", LSF, ["serial is not known"]),
        ("flux run -n 8 ./program", {"FLUX_URI": "local:///x"}, ["`--set pool_nodes=N`: flux"]),
        ("mympirun -n 8 ./program", {}, []),
        ("./serial", {**LSF, "LSB_MCPU_HOSTS": "batch 1 a 42"}, []),
    ],
)
def test_ranks_that_the_pool_does_not_reach_are_told_with_what_to_say(
    line: str, around: dict[str, str], told: list[str], make_world: Callable[..., World]
) -> None:
    world = make_world(environment=around)
    plan = plan_run(RunRequest(command=tuple(line.split()), pool=(Path(),)), world)
    said = [one for one in plan.warnings if "the pool is on" in one or "this pool" in one]
    assert len(said) == (1 if told else 0), plan.warnings
    assert all(text in said[0] for text in told), said


def test_who_says_that_one_node_is_right_is_not_warned(make_world: Callable[..., World]) -> None:
    one = (Override("pool_nodes", "1"),)
    world = make_world(environment=LSF)
    plan = plan_run(RunRequest(command=("mympirun", "./a"), pool=(Path(),), overrides=one), world)
    assert not any("mympirun" in warning for warning in plan.warnings)


def test_the_task_on_each_node_knows_the_numbers_of_the_table() -> None:
    text = task_text()
    names = text[text.index("for variable in") : text.index("; do")].replace("\\", " ").split()[3:]
    assert tuple(names) == TASK_NUMBERS


@pytest.mark.parametrize("launcher", [[], ["FLUX_TASK_RANK"], ["JSM_NAMESPACE_RANK"]])
def test_the_number_of_a_task(launcher: list[str]) -> None:
    text = task_text().split("daemon=$0")[0] + 'echo "$node"'
    around = dict.fromkeys(launcher or ["ALPS_APP_PE"], "3")
    done = subprocess.run(["/bin/sh", "-c", text], env=around, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"3\n"
