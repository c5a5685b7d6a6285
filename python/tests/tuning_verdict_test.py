"""`forebay report` on logs whose trouble is known: darshan_logs/labels.tsv says what a specialist
would say first (the kind of the item, or none). tools/darshan_logs makes them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tuning_scenes import darshan_logs

from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import ProgramIo
from forebay_tuning.report.files.darshan_log import read_log
from forebay_tuning.report.model.claims import CauseKind
from forebay_tuning.report.model.diagnosis import KEEP_MOST, ProgramDiagnosis, diagnose
from forebay_tuning.report.report.text import as_json, as_text

HERE = Path(__file__).parent / "darshan_logs"
ROWS = [line.split("\t") for line in (HERE / "labels.tsv").read_text().splitlines()[1:] if line]
LABELS = {row[0]: row[1] for row in ROWS}
PUBLIC = {
    "sample-badost": "sick-target",
    "sample-goodost": "none",
    "example": "none",
    "shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158": "read-modify-write",
    "noposix": "none",
    "noposixopens": "none",
    "dxt": "none",
    "ior_hdf5_example": "none",
    "sample-dxt-simple": "none",
}
"""Logs that come with PyDarshan."""


EVERY_LOG = pytest.mark.parametrize("name", [*LABELS, *PUBLIC], scope="module")
"""The tests of a log run one after the other, so that it is read once."""


def public_logs() -> dict[str, Path]:
    return {one.stem: one for one in darshan_logs()}


def path_of(name: str) -> Path:
    return HERE / f"{name}.darshan" if name in LABELS else public_logs()[name]


def label_of(name: str) -> str:
    return LABELS.get(name) or PUBLIC[name]


@cache
def diagnosed(name: str) -> ProgramDiagnosis:
    pytest.importorskip("darshan")
    return diagnose(read_log(path_of(name)))


def first_of(found: ProgramDiagnosis) -> str:
    return found.troubles[0].kind.value if found.troubles else "none"


def test_there_are_enough_logs_and_each_has_a_label() -> None:
    assert {one.stem for one in HERE.glob("*.darshan")} == set(LABELS)
    assert len(LABELS) == len(ROWS) >= 60
    assert all(len(row) == 4 and all(row) for row in ROWS), "a label without its reason"


@pytest.mark.parametrize("module", ["POSIX", "STDIO", "MPI-IO", "DFS", "H5D", "PNETCDF_VAR"])
def test_there_are_logs_of_every_module_that_is_read(module: str) -> None:
    darshan = pytest.importorskip("darshan")
    logs = (darshan.DarshanReport(str(path_of(one)), read_all=False) for one in LABELS)
    assert any(module in one.modules for one in logs)


@pytest.mark.parametrize("name", [one for one in LABELS if one.endswith("-partial")])
def test_what_is_missing_in_a_partial_log_is_told(name: str) -> None:
    assert any("POSIX are partial" in one for one in diagnosed(name).program.gaps)


@EVERY_LOG
def test_the_first_item_is_what_a_specialist_says(name: str) -> None:
    assert first_of(diagnosed(name)) == label_of(name)


CONSEQUENCES = {
    "data-sieving": {"mpi-io-itself", "library", "imbalance"},
    "few-stripes": {"exchange"},
    "metadata": {"small-calls"},
    "opening-together": {"exchange", "metadata"},
    "read-modify-write": {"exchange", "mpi-io-itself", "library"},
    "small-calls": {"lock-contention"},
    "sync-storm": {"exchange", "imbalance"},
}
"""For a label, the kinds of items that may be listed behind the first one."""
BESIDES = {
    "case-imbalanced-io": {"small-calls"},
    "case-skew-ior": {"imbalance"},
    "settings-read-for-each-step": {"same-bytes"},
}
"""Second troubles of single logs: rank 0 spends 113 s in small writes of a stream; of 56 ranks that
read, rank 1024 takes twice the mean; a file that is opened for each step is read for each, too."""


@EVERY_LOG
def test_no_item_is_false(name: str) -> None:
    """Ranks that data sieving made read the whole file were said to read the same bytes, and who
    waited for a single writer was listed a second time."""
    also = {one.kind.value for one in diagnosed(name).troubles[1:]}
    assert also <= CONSEQUENCES.get(label_of(name), set()) | BESIDES.get(name, set())


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("e3sm", ("71.8 GiB of MPI-IO, storage was written 282 GiB", "512 ranks, 726.0 s")),
        ("fsyncs", ("100 syncs for 100 writes of 64.0 KiB",)),
        ("imbalanced-io", ("LUSTRE_COMP_STRIPE_COUNT = 1", "records of POSIX are partial")),
        ("ior-dfs", ("16.0 MiB written and 16.0 MiB read in 1 file",)),
        ("ior-read-1k", ("262144 reads moved 256 MiB", "Read some MiB at a time")),
        ("nc4-72s", ("pieces of 256 B", "655384 writes moved 160 MiB", "I/O took 100%")),
        ("openstorm", ("nothing moved in 4 files", "20001 opens of 1 file")),
        ("rootwriter", ("rank 0 writes for all", "the other 3 ranks wrote nothing")),
        ("sieve", ("for 4.88 MiB of MPI-IO, storage was written 19.5 MiB",)),
        (
            "skew-ior",
            ("in 64 collective reads", "exchange between ranks, not storage", "2048 ranks"),
        ),
        ("slowrank", ("fsync behind writes of rank 3 alone",)),
        ("tinycoll", ("collective writes of 16 B", "each rank spent 25.5 s")),
    ],
)
def test_a_case_tells_what_a_specialist_reads_in_it(name: str, told: tuple[str, ...]) -> None:
    """Collective programs came out as "keep", and a rank of a run of 727 s took 7130.9."""
    text = as_text(diagnosed(f"case-{name}"))
    assert [one for one in told if one not in text] == []


def test_each_case_of_the_table_has_its_log() -> None:
    from tools.darshan_logs.cases import cases

    assert set(cases()) == {one for one in LABELS if one.startswith("case-")}


def test_a_single_writers_seconds_were_spread_over_all_ranks() -> None:
    """0.08 s of the 0.42 that rank 0 wrote, since the others spent theirs in closing."""
    found = diagnosed("ncroot-4x200x1048576")
    (layer,) = [one for file in found.program.files for one in file.layers if one.name == "POSIX"]
    assert found.troubles[0].seconds >= 0.7 * layer.slowest_seconds


@pytest.mark.parametrize("name", ["nctiny-4x60x256", "h5tiny-4x60x128", "nctiny-2x150x64-partial"])
def test_views_that_are_set_for_each_call_were_called_opening(name: str) -> None:
    found = diagnosed(name)
    assert found.seconds_lost >= 0.9 * found.program.seconds_io


def test_views_of_single_ranks_are_not_what_opening_waited_for() -> None:
    assert "view" not in " ".join(one.title for one in diagnosed("ncroot-4x200x1048576").troubles)


@EVERY_LOG
def test_no_program_with_trouble_is_told_to_keep_everything(name: str) -> None:
    found = diagnosed(name)
    program = found.program
    if "keep everything" not in found.verdict:
        return
    assert {**LABELS, **PUBLIC}[name] == "none"
    assert program.seconds_io <= KEEP_MOST * program.seconds


@EVERY_LOG
def test_no_number_is_impossible(name: str) -> None:
    found = diagnosed(name)
    program = found.program
    assert program.seconds > 0 or not found.troubles
    assert found.seconds_lost <= program.seconds * (1 + 1e-9)
    assert program.seconds_io <= program.seconds
    for one in found.troubles:
        assert 0 < one.seconds <= program.seconds
        assert re.fullmatch(r".+ = .+ \(.+\)", one.proof), one.proof
    check_sum(found)
    check_files(program)
    check_text(found)
    assert as_json(found)["ranks"] == program.ranks


def check_sum(found: ProgramDiagnosis) -> None:
    """The items cost no more than I/O took; only what libraries do themselves is not I/O."""
    above = sum(one.seconds for one in found.troubles if one.kind is CauseKind.LIBRARY)
    assert found.seconds_lost - above <= found.program.seconds_io * (1 + 1e-9)


def check_text(found: ProgramDiagnosis) -> None:
    """The text for people has no second above the run, no share above 100 %, and no rank too many.
    Proofs are the log's own sums over ranks."""
    program = found.program
    lines = [one for one in as_text(found).splitlines() if not one.startswith("   proof:")]
    text = "\n".join(lines[1:])  # the first line is the program's command
    assert all(float(one) <= 100 for one in re.findall(r"([\d.]+) ?%", text))
    assert all(int(one) <= program.ranks for one in re.findall(r"\b(\d+) ranks?\b", text))
    assert all(int(one) < program.ranks for one in re.findall(r"\brank (\d+)\b", text))
    if program.seconds > 0:
        seconds = [float(one) for one in re.findall(r"\b([\d.]+) s\b", text)]
        assert all(one <= program.seconds * 1.001 + 0.05 for one in seconds), seconds


def check_files(program: ProgramIo) -> None:
    for one in program.files:
        assert 1 <= one.ranks <= program.ranks
        assert one.slowest_seconds <= program.seconds
        assert one.seconds <= program.seconds * one.ranks * max(1, len(one.layers)) * 1.001
        for layer in one.layers:
            assert layer.ranks <= program.ranks
            assert layer.effective_movers <= program.ranks
            assert layer.sync_seconds <= layer.write.seconds + 1e-9
            assert 0 <= layer.write.collective_bytes <= layer.write.bytes


BOTH_WAYS = [one for one in LABELS if f"{one}-by-rank" in LABELS]


def test_there_are_logs_with_both_kinds_of_records() -> None:
    assert len(BOTH_WAYS) >= 2


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_records_of_single_ranks_say_what_a_shared_record_says(name: str) -> None:
    """They were merged into a file of two ranks, whose seconds were those of all of them."""
    (together,) = [one for one in diagnosed(name).program.files if one.path.endswith("/shared")]
    by_rank = f"{name}-by-rank"
    (alone,) = [one for one in diagnosed(by_rank).program.files if one.path.endswith("/shared")]
    assert alone.ranks == together.ranks == diagnosed(by_rank).program.ranks
    assert first_of(diagnosed(by_rank)) == first_of(diagnosed(name))


ONE_RANK = [row[0] for row in ROWS if ", 1 ranks:" in row[2]]


@pytest.mark.parametrize("name", ONE_RANK)
def test_a_program_of_one_rank_is_told_nothing_of_others(name: str) -> None:
    """It was told to use collective calls, and of ranks that wait for each other."""
    for one in diagnosed(name).troubles:
        text = f"{one.title} {one.detail} {one.action}"
        assert not re.search(r"ranks|others|collective|_all\b|aggregator|MPI_Bcast", text), text


@EVERY_LOG
def test_items_of_reads_do_not_speak_of_writes_and_vice_versa(name: str) -> None:
    found = diagnosed(name)
    read, written = (
        sum(one.passing(way).calls for one in found.program.files)
        for way in (Direction.READ, Direction.WRITE)
    )
    for one in found.troubles:
        text = f"{one.title} {one.detail} {one.action}"
        assert written or not re.search(r"\bwr[io]t", text, re.IGNORECASE), text
        assert read or not re.search(r"\bread(s|ing)?\b", text, re.IGNORECASE), text


def test_a_pipe_is_left_out() -> None:
    """Its opening waits for the other end: 1462 s of "metadata"."""
    found = diagnosed("dxt")
    assert found.program.seconds_io < 1
    assert any("a pipe" in one for one in found.program.gaps)


def test_a_log_of_darshan_2_is_called_so(tmp_path: Path) -> None:
    import gzip

    from forebay.common.model.errors import EvidenceError

    old = tmp_path / "old.darshan.gz"
    old.write_bytes(gzip.compress(b"2.06" + bytes(2000), mtime=0) + bytes(100))
    with pytest.raises(EvidenceError, match="Darshan 2"):
        read_log(old)


def test_two_logs_say_what_has_changed() -> None:
    from forebay_tuning.report.model.several import compare
    from forebay_tuning.report.report.several import comparison_json, comparison_text

    both = compare(diagnosed("smallwrites-4x50000x512"), diagnosed("fsyncs-4x50x65536"))
    told = comparison_json(both)
    assert told["comparable"] is False
    kinds = {one["kind"]: one for one in told["changes"]}
    assert kinds["small-calls"]["before"] > 0
    assert kinds["small-calls"]["after"] == 0
    assert kinds["sync-storm"]["after"] > 0
    assert "different programs" in comparison_text(both)
    same = compare(diagnosed("fsyncs-4x50x65536"), diagnosed("fsyncs-4x50x65536"))
    assert same.times == 1
    assert not same.differs


def test_a_run_of_unknown_length_was_0_times_as_fast() -> None:
    from forebay_tuning.report.model.several import compare
    from forebay_tuning.report.report.several import comparison_json, comparison_text

    known = diagnosed("fsyncs-4x50x65536")
    both = compare(replace(known, program=replace(known.program, seconds=0.0)), known)
    assert "is not known" in comparison_text(both)
    assert "as fast" not in comparison_text(both)
    assert comparison_json(both)["times_as_fast"] is None


def test_a_folder_is_a_table_of_programs_by_what_they_lose() -> None:
    from forebay_tuning.report.model.several import by_program
    from forebay_tuning.report.report.several import folder_json, folder_text

    names = ("lustre-one-stripe", "exchange-of-2048", "sample-goodost")
    losses = by_program([diagnosed(one) for one in names])
    assert [one.name for one in losses] == ["model", "ior"]
    assert losses[0].runs == 2
    assert 0 < losses[0].hours_lost <= losses[0].hours_io <= losses[0].hours
    assert losses[1].kind == "none"
    assert "rank hours lost" in folder_text([diagnosed(one) for one in names])
    assert folder_json([], ["why"])["programs"] == []
    assert folder_json([], ["why"])["refused"] == ["why"]


def test_a_folder_without_a_log_that_can_be_read_was_a_success(
    forebay: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "cut.darshan").write_bytes(bytes(10))
    done = forebay("report", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "it has 10 bytes" in done.stderr
    assert "no log in" in done.stderr


@pytest.mark.parametrize("name", ["case-tinycoll", "holes-of-512", "exchange-of-2048"])
def test_what_forebay_would_take_over_is_bounded_by_what_it_took(name: str) -> None:
    from forebay_tuning.report.model.takeover import takeovers

    program = diagnosed(name).program
    found = takeovers(program)
    assert found
    for one in found:
        assert 0 < one.seconds_least <= one.seconds_most <= one.seconds_now <= program.seconds
    assert "Forebay would take over" in as_text(diagnosed(name))


def test_calls_were_taken_over_that_gain_nothing() -> None:
    """0.5 s were to become 0.06, and storage that was busy for 80 of 85 s was to take none."""
    from forebay_tuning.report.model.takeover import takeovers

    assert not takeovers(diagnosed("tinycoll-4x600x16").program)
    assert not takeovers(diagnosed("nonblocking-puts").program)
    for one in takeovers(diagnosed("h5-fill-values").program):
        assert one.seconds_least > 30


def test_a_record_does_not_say_how_long_the_run_was() -> None:
    """The seconds of opening were taken for it: "0.005 s… I/O took 100 %"."""
    from forebay.common.files.records import RecordFiles
    from forebay_tuning.report.model.diagnosis import diagnose as of_program
    from forebay_tuning.report.model.from_record import program_of

    path = Path(__file__).resolve().parents[2] / "schema" / "examples" / "record-1.jsonl"
    killed = replace(RecordFiles().read(path, offset=0), ends=())
    found = of_program(program_of(killed, source="a record"))
    assert "unknown length" in found.verdict
    assert "%" not in found.verdict
    assert "0.001 s, started" not in as_text(found)
