"""Records: the example that both languages decode, damage, and summaries."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.common.files.record_file import decode_line, read_record
from forebay.common.files.records import RecordFiles
from forebay.common.model.errors import RecordError
from forebay.common.model.record import (
    ErrorNote,
    FileRecord,
    JobRecord,
    PassedThrough,
    Record,
    distinct_jobs,
    summarise,
)
from forebay.run.report.summary import as_text
from forebay.run.use_case.run_report import RunReport


@pytest.fixture
def example(root: Path) -> Path:
    return root / "schema" / "examples" / "record-1.jsonl"


def test_example_is_decoded(example: Path) -> None:
    record = read_record(example)
    assert record.damaged_lines == ()
    (job,) = record.jobs
    assert (job.family, job.ranks, job.mpi, job.pid) == ("mpich", 4, "MPICH Version: 4.0.2", 4242)
    (file,) = record.files
    assert file.path == "/scratch/ocean.nc"
    assert file.closed
    assert file.aggregators == (0,)
    assert file.settings["cb_buffer_size"] == "4194304"
    assert file.write.mib_per_second == 2.0
    assert file.read.mib_per_second is None
    assert file.passed_through == (
        PassedThrough(call="MPI_File_write_at", calls=3, bytes=96, reason="independent call"),
    )
    (error,) = file.errors
    assert isinstance(error, ErrorNote)
    assert error.error_class == "MPI_ERR_NO_SPACE"
    assert file.write.found_requests_in_flight == 3
    (slow,) = file.slow_targets
    assert (slow.target, slow.direction, slow.rate) == (2, "write", 5e7)
    (end,) = record.ends
    assert (end.rank, end.pid, end.host, end.seconds) == (0, job.pid, job.host, 12.5)
    (warning,) = file.warnings
    assert "1 stripe instead of 3" in warning


def test_offset_skips_what_was_there_before(example: Path, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_bytes(example.read_bytes())
    files = RecordFiles()
    offset = files.end(path)
    path.write_bytes(example.read_bytes() + example.read_bytes().splitlines()[1] + b"\n")
    record = files.read(path, offset=offset)
    assert (len(record.jobs), len(record.files)) == (0, 1)


def test_unknown_keys_and_kinds_are_passed_over(example: Path) -> None:
    job = json.loads(example.read_text().splitlines()[0])
    assert isinstance(decode_line(json.dumps({**job, "colour": "blue"})), JobRecord)
    assert decode_line(json.dumps({**job, "kind": "spool"})) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON",
        "[1]",
        '{"schema":"forebay.record/2","kind":"job"}',
        '{"schema":"forebay.record/1"}',
        '{"schema":"forebay.record/1","kind":"file","path":"x"}',
    ],
)
def test_line_that_is_no_record(text: str) -> None:
    with pytest.raises(RecordError, match=r"\)\. (Was it|Read it) "):
        decode_line(text)


def test_half_a_line_does_not_lose_the_others(example: Path, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    text = example.read_bytes()
    path.write_bytes(text + text.splitlines()[1][:100] + b"\n\xff\xfe\n" + text)
    record = read_record(path)
    assert record.damaged_lines == (4, 5)
    assert len(record.files) == 2


def test_bytes_that_are_not_known(example: Path) -> None:
    line = json.loads(example.read_text().splitlines()[1])
    line["passed_through"][0]["bytes"] = -1
    file = decode_line(json.dumps(line))
    assert isinstance(file, FileRecord)
    assert file.passed_through[0].bytes is None
    (summary,) = summarise([file, file])
    assert summary.passed_through[0].bytes is None


def test_openings_of_one_path_are_added_up(example: Path) -> None:
    (file,) = read_record(example).files
    (summary,) = summarise([file, file])
    assert (summary.opened, summary.closed) == (2, 2)
    assert summary.write.calls == 20
    assert summary.write.seconds == 1.0
    assert summary.write.mib_per_second == 2.0
    assert summary.passed_through[0].calls == 6
    assert summary.passed_through[0].bytes == 192
    assert len(summary.errors) == 2


def test_a_slow_target_is_told_once(example: Path) -> None:
    (file,) = read_record(example).files
    (slow,) = file.slow_targets
    later = replace(file, slow_targets=(replace(slow, rate=4e7),))
    (summary,) = summarise([file, later])
    assert [one.rate for one in summary.slow_targets] == [4e7]
    assert summary.write.found_requests_in_flight == 3


def test_an_opening_without_collective_calls_hides_no_aggregator(example: Path) -> None:
    file = read_record(example).files[0]
    (summary,) = summarise([file, replace(file, aggregators=(), targets=0)])
    assert (summary.aggregators, summary.targets) == (file.aggregators, file.targets)


def test_record_that_is_not_there(tmp_path: Path) -> None:
    assert RecordFiles().read(tmp_path / "none", offset=0) == Record()
    assert RecordFiles().end(tmp_path / "none") == 0
    with pytest.raises(RecordError):
        read_record(tmp_path / "none")


def test_a_record_that_is_there_and_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path, tmp_path / "loop"):
        with pytest.raises(RecordError, match="cannot read the record"):
            RecordFiles().read(path, offset=0)


def test_temporary_record_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = RecordFiles()
    for shared in (False, True):
        path = files.temporary(shared=shared)
        path.write_text("x")
        assert path.parent.parent == tmp_path or not shared
        files.remove(path)
        assert not path.parent.exists()


def job(rank: int, *, ranks: int = 4, command: str = "./program", nodes: int = 1) -> JobRecord:
    return JobRecord(
        forebay="0.1.0",
        mpi="MPICH",
        family="mpich",
        ranks=ranks,
        nodes=nodes,
        pid=100 + rank,
        host="n001",
        command=command,
        started="2026-11-21T07:00:00Z",
        rank=rank,
    )


def test_ranks_that_open_files_alone_are_one_job() -> None:
    alone = [job(rank, nodes=rank + 1) for rank in (2, 0, 3, 1)]
    assert distinct_jobs(alone) == (replace(job(0), nodes=4),)
    assert distinct_jobs([*alone, *alone]) == (replace(job(0), nodes=4),) * 2
    assert len(distinct_jobs([job(0), job(1, command="./other")])) == 2


def test_jobs_of_one_rank_stay_many() -> None:
    """A launcher of one MPI with a program of another starts them."""
    assert len(distinct_jobs([job(0, ranks=1)] * 4)) == 4


def test_a_full_disk_is_told_once(example: Path) -> None:
    (file,) = summarise(read_record(example).files)
    full = "cannot write /scratch/f at byte {} (No space left on device). Free space there."
    errors = tuple(
        ErrorNote(
            call="MPI_File_write_all", error_class="MPI_ERR_NO_SPACE", message=full.format(at)
        )
        for at in (4096, 8192, 12288)
    )
    report = RunReport(
        status=0,
        seconds=1.0,
        command=("./program",),
        record=None,
        jobs=(),
        files=(replace(file, errors=errors),),
        warnings=(),
        reasons=(),
    )
    text = as_text(report)
    assert text.count("No space left on device") == 1
    assert "at byte 4096" in text
    assert "(2 more errors like it)" in text
