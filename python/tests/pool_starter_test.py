"""Which nodes a launcher's words name, and what starts one daemon on each of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forebay.common.model.launcher import Flavour
from forebay.machine_ports import World
from forebay.pool.model.starter import Launching, launching, nodes_of, starter_by
from forebay.run.use_case.run_plan import RunRequest, plan_run

FILES = {
    "hydra": "# nodes\na:8\n\nb:8\nb\n",
    "slots": "a slots=8\nb slots=8 max-slots=9\nc\n",
}


def of(line: str) -> Launching:
    words = line.split()
    flavour = Flavour.OPEN_MPI if words[0] == "mpirun" else Flavour.HYDRA
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
    ],
)
def test_nodes_that_are_named(line: str, nodes: int) -> None:
    assert nodes_of(of(line), FILES.get) == nodes


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
