"""Records that tell of a whole run: how long it was, and what its pool did, with MPI or without."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.common.files.record_file import decode_line
from forebay.common.files.records import RecordFiles
from forebay.common.model.errors import EvidenceError
from forebay.common.model.record import PoolFileRecord, PoolRecord, Record, RunRecord
from forebay.common.model.units import GIB
from forebay.machine_ports import World
from forebay.run.use_case.run_plan import RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay_tuning.report.model.diagnosis import diagnose
from forebay_tuning.report.model.from_record import program_of
from forebay_tuning.report.report.text import as_json, as_text

MakeWorld = Callable[..., World]
EXAMPLE = Path(__file__).resolve().parents[2] / "schema" / "examples" / "record-1.jsonl"
FILE = PoolFileRecord(
    path="/scratch/me/out.dat",
    taken=3 * GIB,
    drained=3 * GIB,
    waited_seconds=0.4,
    storage_seconds=6.0,
    storage_bytes=3 * GIB,
    requests=768,
    times=1,
    past_the_pool=None,
)
LOG = replace(
    FILE, path="/scratch/me/log", taken=0, drained=0, past_the_pool="opened for appending"
)
POOL = PoolRecord(
    paths=("/scratch/me",),
    arrived=True,
    drain_seconds=1.5,
    taken=3 * GIB,
    cap=4 * GIB,
    high=4 * GIB,
    read_ahead=0,
    files=(FILE, LOG),
    files_dropped=0,
)
RUN = RunRecord(
    forebay="0.1.0",
    command="./serial input",
    seconds=20.0,
    status=0,
    pool=POOL,
    started="2026-11-27T03:00:00Z",
)


def test_a_run_without_mpi_is_reported_from_its_pool() -> None:
    found = diagnose(program_of(Record(runs=(RUN,)), source="record r"))
    text = as_text(found)
    assert "./serial input" in text
    assert "20.0 s, started 2026-11-27T03:00:00Z" in text
    assert "pool: 3.00 GiB taken; processes waited 0.800 s for it" in text
    assert "1.500 s from the program's end until all was written out" in text
    assert "its memory was full at times" in text
    assert "past the pool: /scratch/me/log: opened for appending" in text
    assert "unknown" not in text
    document = as_json(found)
    assert document["seconds"] == 20.0
    assert document["pools"][0]["files"][0]["taken"] == 3 * GIB


def test_the_page_has_the_pool_and_the_length_too() -> None:
    from forebay_tuning.report.report.page import render

    page = render(diagnose(program_of(Record(runs=(RUN,)), source="record r")))
    assert "20.0 s, started" in page
    assert "pool: 3.00 GiB taken" in page


def test_what_did_not_arrive_is_told_first_of_all() -> None:
    run = replace(RUN, pool=replace(POOL, arrived=False))
    text = as_text(diagnose(program_of(Record(runs=(run,)), source="record r")))
    assert "NOT ALL BYTES ARRIVED" in text


def test_a_share_is_told_where_the_run_is_known() -> None:
    """ "0.005 s… I/O took 100 %" was said of a run of minutes."""
    record = replace(RecordFiles().read(EXAMPLE, offset=0), runs=(replace(RUN, pool=None),))
    found = diagnose(program_of(record, source="record r"))
    assert found.program.seconds == 20.0
    assert "unknown length" not in found.verdict
    assert found.program.seconds_io <= 20.0
    assert not any("how long" in one for one in found.program.gaps)
    assert found.seconds_lost <= 20.0


def test_a_record_of_the_setting_alone_lacked_the_length_of_its_program() -> None:
    record = RecordFiles().read(EXAMPLE, offset=0)
    found = diagnose(program_of(record, source="record r"))
    assert found.program.seconds == 12.5
    assert "unknown length" not in found.verdict
    assert not any("how long" in one for one in found.program.gaps)


def test_of_the_processes_of_a_job_the_longest_counts_and_jobs_are_added_up() -> None:
    record = RecordFiles().read(EXAMPLE, offset=0)
    (job,), (end,) = record.jobs, record.ends
    other = replace(job, rank=2, pid=7)
    ends = (replace(end, rank=2, pid=7, seconds=20.0), end)
    assert replace(record, jobs=(job, other), ends=ends).seconds == 20.0
    again = replace(job, pid=9)
    jobs = (job, other, again)
    assert replace(record, jobs=jobs, ends=(*ends, replace(end, pid=9))).seconds == 32.5
    assert replace(record, jobs=jobs, ends=ends).seconds == 0.0, "the second one was killed"
    assert replace(record, runs=(RUN,)).seconds == 20.0


@pytest.mark.parametrize("waited", [0.0, 0.4, 19.0, 500.0])
def test_no_second_is_above_the_run(waited: float) -> None:
    """Processes wait together: their seconds may be more than the run's."""
    run = replace(RUN, pool=replace(POOL, files=(replace(FILE, waited_seconds=waited),)))
    found = diagnose(program_of(Record(runs=(run,)), source="record r"))
    assert found.program.seconds_io <= run.seconds
    assert found.seconds_lost <= run.seconds
    if waited > 0.2 * run.seconds:
        assert "keep everything" not in found.verdict


def test_a_run_of_nothing_is_no_evidence() -> None:
    with pytest.raises(EvidenceError, match="no file was recorded"):
        program_of(Record(runs=(replace(RUN, pool=None),)), source="record r")


def test_the_line_of_a_run_comes_back_and_has_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(EXAMPLE.read_text())
    files = RecordFiles()
    files.append(path, replace(RUN, started=""))
    found = files.read(path, offset=0)
    assert (len(found.jobs), len(found.files), found.damaged_lines) == (1, 1, ())
    assert replace(found.runs[0], started="") == replace(RUN, started="")
    assert found.runs[0].started.endswith("Z")


def test_newer_keys_of_a_run_are_passed_over() -> None:
    line: dict[str, object] = {"schema": "forebay.record/1", "kind": "run", "forebay": "9"}
    line |= {"command": "c", "seconds": 1.5, "status": 0, "pool": None, "started": "x"}
    line["colour"] = "red"
    assert decode_line(json.dumps(line)) == RunRecord(
        forebay="9", command="c", seconds=1.5, status=0, started="x"
    )


def test_a_kept_record_gets_the_run_and_one_that_is_not_kept_does_not(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    world = make_world(folder=tmp_path)
    carry_out(plan_run(RunRequest(command=("./program", "a b")), world), world)
    appended = world.records.appended  # type: ignore[attr-defined]
    assert appended == []
    kept = RunRequest(command=("./program", "a b"), record=tmp_path / "r.jsonl")
    carry_out(plan_run(kept, world), world)
    assert [one.command for one in appended] == ["./program 'a b'"]
    assert appended[0].pool is None
