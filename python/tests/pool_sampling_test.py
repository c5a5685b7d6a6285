"""The samples of a pool over a run, and the time lines that a report makes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from forebay.common.files.record_file import decode_line
from forebay.common.files.records import RecordFiles
from forebay.common.model.record import (
    PoolFileRecord,
    PoolNode,
    PoolRecord,
    PoolSample,
    Record,
    RunRecord,
)
from forebay.common.model.units import MIB
from forebay.pool.model.sampling import (
    AT_START,
    FIRST_INTERVAL_SECONDS,
    SAMPLES_MAX,
    PoolSampling,
    samples_max_of,
    since_start,
    summed,
)
from forebay_tuning.model.course import PoolCourse, binned, rates_of
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis, diagnose
from forebay_tuning.report.model.from_record import program_of
from forebay_tuning.report.report.text import as_text

# 100 MiB are deposited in the first second, and written at 20 MiB/s until second 5; a wait of two
# seconds is over at second 3.
SAMPLES = tuple(
    PoolSample(
        seconds=float(at),
        taken=100 * MIB if at else 0,
        stored=20 * at * MIB,
        outstanding=(100 - 20 * at) * MIB if at else 0,
        waited_seconds=2.0 if at >= 3 else 0.0,
    )
    for at in range(6)
)
FILE = PoolFileRecord(
    path="/scratch/out",
    taken=100 * MIB,
    drained=100 * MIB,
    waited_seconds=2.0,
    storage_seconds=5.0,
    storage_bytes=100 * MIB,
    requests=100,
    times=1,
    past_the_pool=None,
)
POOL = PoolRecord(
    paths=("/scratch",),
    arrived=True,
    drain_seconds=1.0,
    taken=100 * MIB,
    cap=200 * MIB,
    high=100 * MIB,
    read_ahead=0,
    files=(FILE,),
    files_dropped=0,
    samples=SAMPLES,
)
RUN = RunRecord(forebay="0.1.0", command="./model", seconds=4.0, status=0, pool=POOL)
COURSE = PoolCourse(command="./model", seconds=4.0, pool=POOL)
NODE = PoolNode(host="n7", taken=60 * MIB, cap=100 * MIB, waited_seconds=2.0, samples=SAMPLES)
NODES_POOL = replace(POOL, nodes=3, most_waited=NODE)
NODES_RUN = replace(RUN, pool=NODES_POOL)


def found(*runs: RunRecord) -> ProgramDiagnosis:
    return diagnose(program_of(Record(runs=runs), source="record r"))


def at(seconds: float) -> PoolSample:
    return replace(SAMPLES[0], seconds=seconds)


def test_samples_are_bounded_and_cover_the_whole_run() -> None:
    kept = PoolSampling()
    moment = 0.0
    for _ in range(10 * SAMPLES_MAX):
        kept.add(at(moment))
        assert len(kept.samples) < SAMPLES_MAX
        assert kept.samples[-1].seconds == moment, "the newest was dropped"
        moment += kept.pause_seconds(0.0)
    moments = [one.seconds for one in kept.samples]
    assert moments == sorted(moments)
    assert len(moments) > SAMPLES_MAX // 3
    steps = {round(b - a, 6) for a, b in pairwise(moments)}
    assert max(steps) <= 2 * kept.interval_seconds, "there is a gap"
    assert kept.interval_seconds > FIRST_INTERVAL_SECONDS


def test_a_moment_is_sampled_once_and_time_does_not_go_back() -> None:
    kept = PoolSampling()
    for moment in (1.0, 1.0, 0.5, 2.0):
        kept.add(at(moment))
    assert [one.seconds for one in kept.samples] == [1.0, 2.0]


def test_a_status_that_takes_long_is_asked_for_seldom() -> None:
    assert PoolSampling().pause_seconds(0.1) == pytest.approx(5.0)


def test_the_samples_of_nodes_are_summed_at_each_moment() -> None:
    late = (at(0.0), replace(SAMPLES[1], seconds=1.5), replace(SAMPLES[-1], seconds=6.0))
    found = summed((SAMPLES, late))
    assert [one.seconds for one in found] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert found[0] == AT_START
    # Two thirds of 100 MiB in 1.5 s are there after 1 s; a wait is not spread over time.
    assert found[1].taken == 100 * MIB + round(100 * MIB / 1.5)
    assert [one.waited_seconds for one in found] == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 4.0]
    assert (found[-1].taken, found[-1].stored) == (200 * MIB, 200 * MIB)
    assert found[-1].outstanding == 0
    assert summed((SAMPLES,)) == SAMPLES
    assert summed(()) == ()


def test_sums_are_no_more_than_the_samples_of_a_node() -> None:
    nodes = [[at(0.1 * number + 0.01 * node) for number in range(300)] for node in range(20)]
    assert len(summed(nodes)) <= 301


def test_a_daemon_samples_before_the_program_starts() -> None:
    found = since_start(SAMPLES, 1.5)
    assert [one.seconds for one in found] == [0.0, 0.5, 1.5, 2.5, 3.5]
    assert found[0] == AT_START
    assert found[1].taken == 100 * MIB


def test_many_daemons_keep_fewer_samples_each() -> None:
    assert samples_max_of(2) == SAMPLES_MAX
    assert samples_max_of(400) == SAMPLES_MAX // 4
    assert samples_max_of(60_000) > 1


@pytest.mark.parametrize("bins", [1, 7, 40, 400])
def test_columns_have_all_bytes_and_waits(bins: int) -> None:
    columns = binned(COURSE, bins)
    width = COURSE.seconds_shown / bins
    assert sum(one.deposited for one in columns) * width == pytest.approx(100 * MIB)
    assert sum(one.stored for one in columns) * width == pytest.approx(100 * MIB)
    assert max(one.outstanding for one in columns) == 80 * MIB
    assert columns[-1].waited_seconds == 2.0
    assert [one.waited_seconds for one in columns] == sorted(one.waited_seconds for one in columns)


def test_a_wait_counts_when_it_is_over() -> None:
    assert [one.waited_seconds for one in binned(COURSE, 5)] == [0.0, 0.0, 2.0, 2.0, 2.0]


def test_counts_that_were_dropped_are_no_negative_rate() -> None:
    fallen = (*SAMPLES, replace(SAMPLES[-1], seconds=6.0, taken=0, stored=0))
    assert min(one.deposited for one in rates_of(fallen)) == 0.0
    dropped = replace(POOL, samples=fallen, files_dropped=3)
    assert "less than what there was" in as_text(found(replace(RUN, pool=dropped)))


def test_the_text_has_a_time_line_with_units() -> None:
    lines = as_text(found(RUN)).splitlines()
    (begin,) = [number for number, line in enumerate(lines) if "in 40 columns of 0.125 s" in line]
    deposits, storage, memory, waited, end = lines[begin + 1 : begin + 6]
    assert deposits.split()[0] == "deposits"
    assert deposits.endswith("at most 100 MiB/s")
    assert storage.endswith("at most 20.0 MiB/s")
    assert memory.endswith("at most 80.0 MiB of 200 MiB")
    assert waited.endswith("2.000 s, all processes")
    assert deposits.count("█") == 8, "a fifth of the time is the first second"
    assert end.index("^") == len("  ") + 14 + 32, "the program ended after four fifths"


def test_a_terminal_of_ascii_gets_no_blocks() -> None:
    assert as_text(found(RUN), is_ascii=True).isascii()


def test_the_last_runs_of_many_are_shown() -> None:
    text = as_text(found(*(replace(RUN, command=f"./step {number}") for number in range(5))))
    assert "The last 3 of 5 runs through the pool" in text
    assert "./step 1\n" not in text
    assert "./step 4\n" in text


def test_on_several_nodes_there_is_a_second_time_line_of_one() -> None:
    text = as_text(found(NODES_RUN))
    assert "100 MiB taken on 3 nodes" in text
    assert "through the pools of 3 nodes, in 40 columns" in text
    assert "through the pool of n7, the node that waited longest, in 40 columns" in text
    assert text.count("at most 80.0 MiB of 200 MiB") == 1
    assert text.count("at most 80.0 MiB of 100 MiB") == 1
    without = replace(NODES_RUN, pool=replace(NODES_POOL, most_waited=None))
    assert "waited longest" not in as_text(found(without))


def test_few_samples_are_no_time_line() -> None:
    short = replace(RUN, pool=replace(POOL, samples=SAMPLES[:3]))
    assert "columns" not in as_text(found(short))


def test_the_page_draws_the_course() -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from forebay_tuning.report.report.page import render

    page = render(found(RUN))
    assert "<h2>Through the pool</h2>" in page, "the page begins with the command"
    assert "Through the pool: ./model" in render(found(RUN, RUN))
    page = render(found(NODES_RUN))
    assert "<h2>Through the pools of 3 nodes</h2>" in page
    assert "<h2>Through the pool of n7, the node that waited longest</h2>" in page
    for label in ("deposits of programs", "written to the file system", "MiB/s", "(pool_cap)"):
        assert f"<!-- {label}" in page or label in page, label
    assert "Through the pool" not in render(found(replace(RUN, pool=replace(POOL, samples=()))))


def test_the_record_keeps_the_samples_and_older_records_have_none(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    RecordFiles().append(path, RUN)
    (run,) = RecordFiles().read(path, offset=0).runs
    assert run.pool is not None
    assert run.pool.samples == SAMPLES
    line = json.loads(path.read_text())
    for key in ("samples", "nodes", "most_waited"):
        del line["pool"][key]
    older = decode_line(json.dumps(line))
    assert isinstance(older, RunRecord)
    assert older.pool is not None
    assert older.pool.samples == ()
    assert (older.pool.nodes, older.pool.most_waited) == (1, None)


def test_the_record_keeps_the_node_that_waited_longest(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    RecordFiles().append(path, NODES_RUN)
    (run,) = RecordFiles().read(path, offset=0).runs
    assert run.pool == NODES_POOL
