"""Reports: what held a program back, logs and records of all kinds, and the page."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tuning_scenes import darshan_log, darshan_logs

from forebay.common.files.records import RecordFiles
from forebay.common.model.errors import EvidenceError
from forebay.common.model.units import MIB
from forebay_tuning.model.program_io import FileIo, Passing, ProgramIo
from forebay_tuning.model.program_workloads import workloads_of
from forebay_tuning.report.files.darshan_log import DarshanLogs, read_log
from forebay_tuning.report.files.darshan_reader import load_late
from forebay_tuning.report.files.darshan_tables import Names, among
from forebay_tuning.report.model.diagnosis import diagnose
from forebay_tuning.report.report.text import as_json as report_json
from forebay_tuning.report.report.text import as_text
from forebay_tuning.report.use_case import Sources, diagnose_file

GIB = 1024 * MIB


def own_file(rank: int, seconds: float, target: int = 0, size: int = 64 * MIB) -> FileIo:
    return FileIo(
        path=f"/s/f.{rank}",
        ranks=1,
        rank=rank,
        write=Passing(bytes=size, calls=16, seconds=seconds, usual_transfer=4 * MIB, end=seconds),
        opens=1,
        extent=size,
        slowest_seconds=seconds,
        stripe_count=1,
        targets=(target,),
    )


def shared_file(*, slowest: float, **changes: Any) -> FileIo:
    """A file of 16 ranks, which spend 10 s each in the mean."""
    usual = FileIo(
        path="/s/shared",
        ranks=16,
        rank=None,
        write=Passing(bytes=GIB, calls=256, seconds=160.0, usual_transfer=4 * MIB, end=slowest),
        opens=16,
        extent=GIB,
        slowest_seconds=slowest,
        fastest_seconds=4.0,
        stripe_count=16,
        targets=tuple(range(16)),
    )
    return replace(usual, **changes)


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (shared_file(slowest=40.0), True),
        (shared_file(slowest=12.0), False),
        (shared_file(slowest=40.0, collective=True), False),
        (shared_file(slowest=40.0, fastest_seconds=0.0), False),
    ],
)
def test_who_waited_in_a_shared_file_is_told(file: FileIo, told: bool) -> None:
    titles = [one.title for one in diagnose(run_of(file)).troubles]
    assert ("others waited for one rank in shared" in titles) == told


def run_of(*files: FileIo, ranks: int = 16, seconds: float = 100.0) -> ProgramIo:
    return ProgramIo(
        source="a test",
        command="./program",
        ranks=ranks,
        nodes=None,
        seconds=seconds,
        started="",
        files=files,
    )


def test_a_sick_target_comes_first() -> None:
    files = [own_file(rank, 90.0 if rank % 8 == 3 else 10.0, rank % 8) for rank in range(32)]
    found = diagnose(run_of(*files, ranks=32))
    assert found.troubles[0].title == "target 3 is sick"
    assert [one.target for one in found.sick] == [3]


def test_a_rank_with_more_to_do_is_told_from_a_slow_one() -> None:
    usual = [own_file(rank, 10.0, rank) for rank in range(8)]
    more = diagnose(run_of(*usual[1:], own_file(0, 80.0, 0, 512 * MIB), ranks=8))
    slow = diagnose(run_of(*usual[1:], own_file(0, 80.0, 0), ranks=8))
    assert "8.0 × as much" in more.troubles[0].detail
    assert "no more than they" in slow.troubles[0].detail


def test_the_share_of_metadata_is_told() -> None:
    files = [replace(own_file(rank, 3.0), seconds_meta=1.0) for rank in range(4)]
    found = diagnose(run_of(*files, ranks=4))
    assert "opening, closing and the like: 25% of the I/O time" in as_text(found)
    assert report_json(found)["metadata_share"] == 0.25
    unknown = diagnose(run_of(own_file(0, 3.0), ranks=1))
    assert report_json(unknown)["metadata_share"] is None


def test_what_costs_little_is_not_in_the_list() -> None:
    quick = diagnose(run_of(own_file(0, 1.0), ranks=1, seconds=1000.0))
    assert quick.troubles == ()
    assert "keep everything" in quick.verdict


def test_a_file_that_all_read_is_seen() -> None:
    everybody = FileIo(
        path="/s/input",
        ranks=64,
        read=Passing(bytes=64 * 256 * MIB, calls=64, seconds=64 * 50.0, usual_transfer=MIB),
        opens=64,
        extent=256 * MIB,
        slowest_seconds=55.0,
        stripe_count=1,
    )
    program = run_of(everybody, ranks=64)
    assert "all ranks read the same bytes" in diagnose(program).troubles[0].title
    (workload,) = workloads_of(program, nodes=4)
    assert workload.same_bytes
    assert workload.file_bytes == 256 * MIB


def test_the_records_of_the_schema_are_reported(root: Path) -> None:
    sources = Sources(logs=DarshanLogs(), records=RecordFiles())
    found = diagnose_file(root / "schema" / "examples" / "record-1.jsonl", sources)
    assert found.troubles[0].title == "target 2 is sick"
    assert "/scratch/ocean.nc" in as_text(found)


def test_what_is_neither_log_nor_record_is_refused(tmp_path: Path) -> None:
    sources = Sources(logs=DarshanLogs(), records=RecordFiles())
    other = tmp_path / "x.txt"
    other.write_text("hello\n")
    with pytest.raises(EvidenceError, match="neither"):
        diagnose_file(other, sources)
    other.write_text("")
    with pytest.raises(EvidenceError, match="nothing in"):
        diagnose_file(other, sources)
    empty = tmp_path / "x.darshan"
    empty.touch()
    with pytest.raises(EvidenceError, match="0 bytes"):
        diagnose_file(empty, sources)


def test_no_log_that_comes_with_darshan_is_too_much() -> None:
    for path in darshan_logs():
        found = diagnose(read_log(path))
        assert found.verdict
        assert as_text(found)
        workloads_of(found.program, nodes=1)


def test_the_sick_target_of_a_real_log_is_the_first_item() -> None:
    found = diagnose(read_log(darshan_log("sample-badost.darshan")))
    assert [one.title for one in found.troubles] == ["target 14 is sick"]
    assert found.sick[0].slower > 20


@pytest.mark.parametrize("count", [100, 1000, 5000, 11000])
def test_a_log_that_was_cut_off_is_a_clear_error(tmp_path: Path, count: int) -> None:
    path = tmp_path / "cut.darshan"
    path.write_bytes(darshan_log("sample.darshan").read_bytes()[:count])
    with pytest.raises(EvidenceError, match="cannot read the log"):
        read_log(path)


def test_a_module_that_is_loaded_late_is_there_once_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    load_late("colorsys")
    late = importlib.import_module("colorsys")
    assert "rgb_to_hls" not in vars(late)
    assert late.rgb_to_hls(0, 0, 0) == (0, 0, 0)
    assert "rgb_to_hls" in vars(importlib.import_module("colorsys"))


def test_the_page_holds_what_the_text_says() -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from forebay_tuning.report.report.page import render as render_report

    files = [own_file(rank, 90.0 if rank % 8 == 3 else 10.0, rank % 8) for rank in range(32)]
    files[0] = replace(files[0], seconds_meta=files[0].seconds)
    page = render_report(diagnose(run_of(*files, ranks=32)))
    assert "of the I/O time" in page
    assert "target 3 is sick" in page
    assert page.count("<svg") == 4


def test_names_are_those_that_pydarshan_finds() -> None:
    """A file whose name the log lacks has none, and so it is for a log without any file."""
    darshan = pytest.importorskip("darshan")
    backend: Any = importlib.import_module("darshan.backend.cffi_backend")
    for path in darshan_logs():
        report, other = (darshan.DarshanReport(str(path), read_all=False) for _ in range(2))
        known = backend.log_get_name_records(other.log)
        names = Names(report)
        some = sorted(known)[::2]
        assert names.of(some) == {key: known[key] for key in some}
        assert names.of([]) == {}
        assert names.of([7]) == ({7: known[7]} if 7 in known else {})


@pytest.mark.parametrize("ascending", [[], [3], [1, 3, 3, 2**64 - 1]])
def test_ids_are_found_among_others_at_both_ends_and_in_none(ascending: list[int]) -> None:
    numpy = pytest.importorskip("numpy")
    ids = [0, 1, 2, 3, 4, 2**64 - 1, 3]
    found = among(numpy.array(ids, "u8"), numpy.array(ascending, "u8"))
    assert found.tolist() == [one in ascending for one in ids]
