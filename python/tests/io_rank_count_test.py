"""How many I/O ranks are chosen by a record, that the program is left a number of ranks that it can
divide, and where they are proposed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.common.files.record_file import read_record
from forebay.common.model.errors import UsageError
from forebay.common.model.io_rank_count import (
    OutputDemand,
    chosen_count,
    demand_of,
    sides_of,
    steps_of,
)
from forebay.common.model.record import (
    PoolFileRecord,
    PoolRecord,
    PoolSample,
    Record,
    RunRecord,
)
from forebay.common.model.units import GIB, MIB
from forebay.machine_ports import World
from forebay.ports import CutWorld
from forebay.run.use_case.io_ranks import AutoIoRanks, io_ranks_of
from forebay.run.use_case.run_plan import RunPlan, RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay_tuning.advise.model.io_ranks import worth_io_ranks

MakeWorld = Callable[..., World]
EXAMPLE = Path(__file__).resolve().parents[2] / "schema" / "examples" / "record-1.jsonl"


def _file(path: str = "/scratch/out", **changed: object) -> PoolFileRecord:
    one = PoolFileRecord(
        path=path,
        taken=10 * GIB,
        drained=10 * GIB,
        waited_seconds=0.0,
        storage_seconds=40.0,
        storage_bytes=10 * GIB,
        requests=2560,
        times=1,
        past_the_pool=None,
    )
    return replace(one, **changed)  # type: ignore[arg-type]


def _steps(count: int, *, every: float, size: int) -> tuple[PoolSample, ...]:
    """Samples of a run that computes, then gives `size` bytes within half a second, and so on."""
    samples = []
    for step in range(count):
        for part, taken in ((0.0, step), (every - 0.5, step), (every - 0.25, step + 0.5)):
            samples.append((step * every + part, int(taken * size)))
    samples.append((count * every, count * size))
    return tuple(
        PoolSample(seconds=at, taken=taken, stored=0, outstanding=0, waited_seconds=0.0)
        for at, taken in samples
    )


POOL = PoolRecord(
    paths=("/scratch",),
    arrived=True,
    drain_seconds=1.0,
    taken=10 * GIB,
    cap=4 * GIB,
    high=2 * GIB,
    read_ahead=0,
    files=(_file(),),
    files_dropped=0,
)
RUN = RunRecord(
    forebay="0.1.0",
    command="mpiexec -n 64 ./model",
    seconds=100.0,
    status=0,
    pool=POOL,
    started="2026-11-27T03:00:00Z",
    ranks=64,
)


def _of(pool: PoolRecord) -> OutputDemand:
    found = demand_of(Record(runs=(replace(RUN, pool=pool),)))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("count", "sides"),
    [(6144, (64, 96)), (6134, (2, 3067)), (1, (1, 1)), (7, (1, 7)), (49, (7, 7)), (8190, (90, 91))],
)
def test_the_most_even_factors(count: int, sides: tuple[int, int]) -> None:
    assert sides_of(count) == sides


@pytest.mark.parametrize(
    ("writers", "ranks", "groups", "known", "count"),
    [
        (2, 6146, 1, None, 2),  # 64 × 96
        (10, 6144, 1, None, 12),  # 6132 = 73 × 84, and not 6134 = 2 × 3067
        (10, 6144, 2, None, 12),
        (10, 6154, 2, 6144, 10),  # the number of ranks that it has run with
        (2, 68, 1, 64, 4),
        (5, 68, 1, 64, 5),  # 63 = 7 × 9: four would be too few for the bytes
        (1, 128, 1, 64, 2),  # 126 = 9 × 14; half of the ranks are not given away
        (1, 8, 1, None, 2),  # 6, and not 7
        (1, 2, 1, None, 1),
        (1, 1, 1, None, None),
        (2, 3, 1, None, None),
        (1, 96, 4, None, 8),  # as many on each of four nodes; 92 = 4 × 23, but 88 = 8 × 11
        (3, 64, 1, 70, 4),  # 60 = 6 × 10; the earlier run had more ranks than there are now
    ],
)
def test_the_ranks_that_are_left_can_be_divided(
    writers: int, ranks: int, groups: int, known: int | None, count: int | None
) -> None:
    assert chosen_count(writers, ranks=ranks, groups=groups, known=known) == count


def test_there_are_always_enough_and_in_each_group_as_many() -> None:
    for ranks in range(2, 200):
        for groups in (1, 2, 3):
            for writers in (1, 2, 5):
                count = chosen_count(writers, ranks=ranks, groups=groups)
                if count is None:
                    assert ranks // groups < 2 * -(-writers // groups)
                    continue
                assert count >= writers
                assert count % groups == 0
                assert ranks // groups >= 2 * (count // groups)


def test_the_demand_is_that_of_steps_where_they_can_be_seen() -> None:
    """Ten outputs of 1 GiB every 8 seconds, and 20 seconds at the end without one; the writer moves
    256 MiB/s."""
    found = _of(replace(POOL, samples=_steps(10, every=8.0, size=GIB)))
    assert found.step_bytes == GIB
    assert found.interval_seconds == pytest.approx(8.0)
    assert found.writer_rate == 256 * MIB
    assert found.busy_share == pytest.approx(0.5)
    assert found.writers == 1
    assert found.text == "1.00 GiB every 8.000 s, 256 MiB/s of one writer"


def test_without_steps_it_is_that_of_the_run() -> None:
    found = _of(POOL)
    assert (found.step_bytes, found.interval_seconds) == (10 * GIB, 100.0)
    assert steps_of(_steps(2, every=8.0, size=GIB)) is None


@pytest.mark.parametrize(
    ("interval", "writers"), [(8.0, 1), (5.7, 2), (4.0, 2), (2.0, 3), (0.5, 12)]
)
def test_a_writer_is_busy_for_seven_tenths_at_most(interval: float, writers: int) -> None:
    demand = OutputDemand(
        command="./model",
        step_bytes=GIB,
        interval_seconds=interval,
        seconds=100.0,
        writer_rate=256 * MIB,
    )
    assert demand.writers == writers


def test_files_that_overlap_in_time_do_not_make_the_writer_slower() -> None:
    two = (_file(storage_bytes=5 * GIB), _file("/scratch/b", storage_bytes=5 * GIB))
    pool = replace(POOL, files=two, storage_seconds=40.0, samples=_steps(10, every=8.0, size=GIB))
    assert _of(pool).writer_rate == 256 * MIB
    # On several nodes each node's files are listed by themselves. Older records have no samples.
    several = _of(replace(pool, nodes=2))
    assert several.writer_rate == 128 * MIB
    assert several.interval_seconds == pytest.approx(_of(pool).interval_seconds)
    assert _of(replace(pool, samples=())).writer_rate == 128 * MIB


def test_the_last_run_with_a_pool_counts_and_else_collective_writes() -> None:
    bare = replace(RUN, pool=None, command="./other")
    first = replace(RUN, command="./first")
    found = demand_of(Record(runs=(first, RUN, bare)))
    assert found is not None
    assert found.command == RUN.command
    example = read_record(EXAMPLE)
    assert demand_of(replace(example, runs=())) is None, "how long it ran is not known for sure"
    found = demand_of(replace(example, runs=(bare,)))
    assert found is not None
    assert found.pool is None
    assert found.interval_seconds < bare.seconds
    assert demand_of(Record(runs=(bare,))) is None
    assert demand_of(Record()) is None


AUTO = AutoIoRanks()
JOB = replace(read_record(EXAMPLE).jobs[0], ranks=32)


def _planned(
    line: str, world: World, *, asked: AutoIoRanks = AUTO, record: Path | None = None
) -> RunPlan:
    request = RunRequest(command=tuple(line.split()), io_ranks=asked, record=record)
    return plan_run(request, world)


def test_auto_is_what_the_record_asks_for(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world(records={"record": Record(runs=(RUN,), jobs=(JOB,))}, folder=tmp_path)
    plan = _planned("mpiexec -n 66 ./program", world, record=tmp_path / "run.jsonl")
    assert plan.environment["FOREBAY_IO_RANKS"] == "2"
    assert plan.io_ranks is not None
    assert "I/O ranks: 2 of 66; the program will see 64 = 8 × 8 ranks as before" in (
        plan.io_ranks.why
    )
    assert "10.0 GiB every 100.0 s" in plan.io_ranks.why
    spread = _planned(
        "mpiexec -n 64 ./program", world, asked=AutoIoRanks(spread=2), record=tmp_path / "r"
    )
    assert spread.environment["FOREBAY_IO_RANKS"] == "4"  # 60 = 6 × 10, and 62 = 2 × 31
    assert spread.environment["FOREBAY_IO_RANKS_SPREAD"] == "2"


def test_slurm_says_how_many_ranks_there_are(make_world: MakeWorld, tmp_path: Path) -> None:
    told = {"SLURM_NTASKS": "66"}
    for environment, count in ((told, "2"), ({}, None)):
        world = make_world(
            records={"record": Record(runs=(RUN,))}, folder=tmp_path, environment=environment
        )
        if count is None:
            with pytest.raises(UsageError, match="does not say how many ranks"):
                _planned("srun ./program", world, record=tmp_path / "r")
            continue
        plan = _planned("srun ./program", world, record=tmp_path / "r")
        assert plan.environment["FOREBAY_IO_RANKS"] == count


def test_auto_without_a_record_is_refused(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world(folder=tmp_path)
    with pytest.raises(UsageError, match=r"auto needs the record of an earlier run\)\. Run the"):
        _planned("mpiexec -n 6 ./program", world)
    with pytest.raises(UsageError, match=r"r\.jsonl has no run that wrote something"):
        _planned("mpiexec -n 6 ./program", world, record=tmp_path / "r.jsonl")
    with pytest.raises(UsageError, match="no launcher of MPI"):
        _planned("./program", world, record=tmp_path / "r.jsonl")
    busy = replace(RUN, seconds=1.0)
    world = make_world(records={"record": Record(runs=(busy,))}, folder=tmp_path)
    with pytest.raises(UsageError, match=r"58 writers would be needed for .* more than half"):
        _planned("mpiexec -n 64 ./program", world, record=tmp_path / "r.jsonl")


def test_auto_is_an_option() -> None:
    alone = {"has_tiers": False, "compares": False}
    assert io_ranks_of("auto", None, **alone) == AUTO
    assert io_ranks_of("auto", "3", **alone) == AutoIoRanks(spread=3)
    with pytest.raises(UsageError, match="no number from 1"):
        io_ranks_of("auto", "auto", **alone)
    with pytest.raises(UsageError, match="--compare"):
        io_ranks_of("auto", None, has_tiers=False, compares=True)


def test_a_record_has_the_ranks_that_the_program_saw(make_world: MakeWorld, tmp_path: Path) -> None:
    for worlds, seen in (((CutWorld(ranks=66, io_ranks=2),), 64), ((), 66)):
        given = {"record": Record(runs=(RUN,)), "worlds": worlds}
        world = make_world(records=given, folder=tmp_path)
        plan = _planned("mpiexec -n 66 ./program", world, record=tmp_path / "r")
        carry_out(plan, world)
        (told,) = world.records.appended  # type: ignore[attr-defined]
        assert told.ranks == seen


WAITING = replace(
    RUN,
    seconds=100.0,
    pool=replace(POOL, files=(_file(waited_seconds=64 * 20.0),)),
)


@pytest.mark.parametrize(
    ("run", "nodes", "pays"),
    [
        (WAITING, 1, True),
        (RUN, 1, False),  # nobody waited
        (replace(WAITING, seconds=30.0), 1, False),  # one writer is busy all the time
        (replace(WAITING, seconds=30.0), 2, True),
        (replace(WAITING, pool=replace(WAITING.pool, high=POOL.cap)), 1, False),  # memory was full
        (replace(WAITING, ranks=4), 1, True),
        (replace(WAITING, ranks=None), 1, False),
    ],
)
def test_they_are_proposed_where_the_writer_lacked_a_core(
    run: RunRecord, nodes: int, pays: bool
) -> None:
    told = worth_io_ranks(demand_of(Record(runs=(run,))), source=Path("r.jsonl"), nodes=nodes)
    assert bool(told) == pays
    if pays and run is WAITING:
        assert "each rank waited 20.0 s" in told[0]
        assert "busy for 40% of the time" in told[0]
        assert "--io-ranks auto --record r.jsonl" in told[0]
