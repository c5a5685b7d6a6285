"""Tests which programs can have I/O ranks, and with what words others are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forebay.common.files.records import RecordFiles
from forebay.common.model.errors import SetupError, UsageError
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import ranks_of
from forebay.common.model.program import Linkage, ProgramFacts, counts_ranks
from forebay.machine_ports import World
from forebay.ports import CutWorld
from forebay.run.report.summary import as_text
from forebay.run.use_case.io_ranks import IoRanks, io_ranks_of
from forebay.run.use_case.run_plan import RunPlan, RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out

MakeWorld = Callable[..., World]


def planned(line: str, world: World, io_ranks: IoRanks) -> RunPlan:
    """The plan of a run with I/O ranks and a pool."""
    return plan_run(RunRequest(command=tuple(line.split()), io_ranks=io_ranks), world)


def test_the_library_comes_first_and_the_ranks_are_told(make_world: MakeWorld) -> None:
    plan = planned("mpiexec -n 6 ./program", make_world(), IoRanks(count=2, spread=2))
    preload = plan.environment["LD_PRELOAD"].split(":")
    assert preload[0] == "/opt/forebay/mpich/libforebay_io_ranks.so"
    assert Path(preload[1]).name == "libforebay_mpi.so"
    assert plan.environment["FOREBAY_IO_RANKS"] == "2"
    assert plan.environment["FOREBAY_IO_RANKS_SPREAD"] == "2"


def test_the_pool_is_that_of_the_working_folder(make_world: MakeWorld) -> None:
    world = make_world()
    plan = planned("mpiexec -n 6 ./program", world, IoRanks(count=2))
    assert plan.pool is not None
    assert plan.pool.paths == (world.folder.resolve(),)


def test_a_script_is_taken_to_use_the_launchers_mpi(make_world: MakeWorld) -> None:
    plan = planned("mpirun -n 6 ./job.sh", make_world(), IoRanks(count=2))
    assert "/openmpi/libforebay_io_ranks.so" in plan.environment["LD_PRELOAD"]
    with pytest.raises(UsageError, match="neither launcher nor program"):
        planned("srun -n 6 ./job.sh", make_world(), IoRanks(count=2))


def test_who_is_refused(make_world: MakeWorld) -> None:
    one = IoRanks(count=1)
    with pytest.raises(UsageError, match="no launcher of MPI"):
        planned("./program", make_world(), one)
    with pytest.raises(UsageError, match="statically linked"):
        planned("mpiexec -n 4 ./static", make_world(), one)
    with pytest.raises(UsageError, match=r"cannot have 3 I/O ranks of 4 \(there would be fewer"):
        planned("mpiexec -n 4 ./program", make_world(), IoRanks(count=3))
    with pytest.raises(SetupError, match="was built without them for the MPICH family"):
        planned("mpiexec -n 4 ./program", make_world(libraries={"cores": ()}), one)
    shmem = ProgramFacts(
        path=Path("./shmem"), linkage=Linkage.DYNAMIC, counts_ranks_by="liboshmem.so.40"
    )
    with pytest.raises(UsageError, match=r"linked to liboshmem\.so\.40, which tells it the number"):
        planned("mpiexec -n 4 ./shmem", make_world(programs={"programs": {"./shmem": shmem}}), one)


def test_options_that_cannot_be_used() -> None:
    alone = {"has_tiers": False, "compares": False}
    assert io_ranks_of(None, None, **alone) is None
    assert io_ranks_of("4", "2", **alone) == IoRanks(count=4, spread=2)
    for count, spread, why in (
        (None, "2", "there are no I/O ranks"),
        ("automatic", None, "or auto"),
        ("0", None, "no number from 1"),
        ("2", "0", "no number from 1"),
        ("3", "2", "--io-ranks 4"),
    ):
        with pytest.raises(UsageError, match=why):
            io_ranks_of(count, spread, **alone)
    with pytest.raises(UsageError, match="--compare"):
        io_ranks_of("1", None, has_tiers=False, compares=True)
    with pytest.raises(UsageError, match="--tier"):
        io_ranks_of("1", None, has_tiers=True, compares=False)


@pytest.mark.parametrize(
    ("line", "flavour", "ranks"),
    [
        ("mpiexec -n 6 ./a", Flavour.HYDRA, 6),
        ("mpirun -np 4 ./a x : --np 2 ./b -n 9", Flavour.OPEN_MPI, 6),
        ("srun --ntasks=12 -c 2 ./a", Flavour.SLURM, 12),
        ("mpirun -c 3 ./a", Flavour.OPEN_MPI, 3),
        ("mpiexec ./a -n 6", Flavour.HYDRA, None),
        ("mpiexec -n 4 ./a : ./b", Flavour.HYDRA, None),
    ],
)
def test_the_number_of_ranks_in_a_command_line(
    line: str, flavour: Flavour, ranks: int | None
) -> None:
    found = ranks_of(
        line.split(), launcher=0, flavour=flavour, is_program=lambda word: word.startswith("./")
    )
    assert found == ranks


def test_libraries_that_count_ranks() -> None:
    assert counts_ranks("liboshmem.so.40")
    assert counts_ranks("libpmix.so.2")
    assert counts_ranks("libpmi2.so.0")
    assert not counts_ranks("libmpi.so.40")
    assert not counts_ranks("libnccl.so.2")


def test_the_ranks_note_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "record.io-ranks").write_text("6 2\nnonsense\n10 3\n")
    records = RecordFiles()
    found = records.cut_worlds(tmp_path / "record")
    assert found == (CutWorld(ranks=6, io_ranks=2), CutWorld(ranks=10, io_ranks=3))
    assert records.cut_worlds(tmp_path / "record") == ()


def test_the_summary_says_how_many_there_were(make_world: MakeWorld) -> None:
    for worlds, told in (
        ((CutWorld(ranks=6, io_ranks=2),), "I/O ranks: 2 of 6; the program saw 4 ranks"),
        ((), "warning: there were no I/O ranks"),
    ):
        world = make_world(records={"worlds": worlds})
        plan = planned("mpiexec -n 6 ./program", world, IoRanks(count=2))
        assert told in as_text(carry_out(plan, world))
