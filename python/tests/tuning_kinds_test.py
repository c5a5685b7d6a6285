"""`forebay report` on kinds of programs that troubles.c cannot make. (That the first item is right
is in tuning_verdict_test.py.)"""

from __future__ import annotations

from pathlib import Path

import pytest
from tuning_verdict_test import LABELS, check_text, diagnosed, path_of

from forebay.common.model.errors import EvidenceError
from forebay_tuning.report.files.darshan_log import read_log
from forebay_tuning.report.model.diagnosis import diagnose
from forebay_tuning.report.model.takeover import takeovers
from forebay_tuning.report.report.text import as_text


def test_each_kind_has_its_log_and_its_label() -> None:
    pytest.importorskip("darshan")
    from tools.darshan_logs.divided_work import divided_work
    from tools.darshan_logs.kinds import kinds
    from tools.darshan_logs.odd_logs import odd_logs
    from tools.darshan_logs.workloads import workloads

    made = (*kinds(), *odd_logs(), *workloads(), *divided_work())
    found = {name: label for name, label, _, _ in made}
    assert len(found) >= 70
    assert found == {name: LABELS.get(name) for name in found}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("few-writers", ("3 of 64 ranks write for all", "the other 61 ranks wrote nothing")),
        ("one-aggregator", ("1 aggregator writes for 512 ranks", "by 1 of 512")),
        ("late-rank", ("rank 17 last", "MPIIO_F_FASTEST_RANK_TIME = 9.2")),
        ("subfiles", ("I/O took 6% of the run",)),
        ("steps-small", ("small writes of 1.00 KiB each", "other files alike")),
        ("imports", ("opening and closing files", "other files alike")),
        ("one-target-for-all", ("files of 128 ranks lie on 1 target", "OST_ID = 0")),
        ("read-again", ("each byte 20.0 times", "POSIX_BYTES_READ = 107374182400 for")),
        ("h5-chunks-read", ("for 2.00 GiB that the program read through HDF5, 200 GiB",)),
        ("h5-chunks-written", ("HDF5 reads chunks to change them", "H5Pset_chunk_cache")),
        ("large-flushes", ("no cause found",)),
        ("mpi-syncs-alone", ("MPIIO_SYNCS = 3200",)),
        ("printing", ("printing to <STDOUT>", "rank 0")),
        ("seeks", ("POSIX_SEEKS = 20000000",)),
        ("closing-writes-back", ("closing files waits", "forebay run --pool")),
        (
            "small-files-on-many-stripes",
            ("while 256 ranks did the same", "forebay layout set -c 1"),
        ),
        ("training-on-images", ("small files, each read by a call of 110 KiB", "an archive")),
        ("input-on-four-stripes", ("Copy it into a folder with more stripes",)),
        ("collective-reads-with-holes", ("Read without holes in one call",)),
        ("h5-fill-values", ("H5D_FILL_TIME_NEVER", "H5D_BYTES_WRITTEN 21474836480 = 2.1")),
        ("ramp-in-a-shared-file", ("rank 63 in shared", "it moved 2.0 × the mean of bytes")),
        ("one-slow-aggregator", ("rank 80 in shared", "Look at its node")),
        ("files-crowded-on-one-target", ("60 of 100 files lie on target 3",)),
        ("root-saves-the-model", ("rank 0 writes for all", "40.0 GiB; the other 63 ranks")),
        ("root-writes-what-all-have-read", ("rank 0 writes for all",)),
        ("root-reads-what-all-write", ("rank 0 reads for all",)),
        ("one-rank-that-opens-late", ("others waited for rank 17",)),
        ("small-writes-of-the-root-beside-large-ones", ("80000 of all 88192 writes",)),
        ("run-of-half-a-second", ("less than a second",)),
        ("counters-that-overflow", ("3 records have impossible counts", "1.00 GiB written in 7")),
        ("polling", ("Ask once and keep the answer; wait",)),
        ("closing-a-shared-file", ("closing files waits", "returned after 5")),
        ("dfs-lookups", ("DFS_STATS + LOOKUPS + GET_SIZES = 1600000",)),
        ("no-modules", ("The log tells of no I/O",)),
        ("checkpoint-bursts", ("up to 45.0 s of writing could go on", "640 GiB in all")),
        ("opening-once", ("10.4 s of it in opening and closing files together",)),
    ],
)
def test_a_kind_is_told_with_its_numbers(name: str, told: tuple[str, ...]) -> None:
    text = as_text(diagnosed(name))
    assert [one for one in told if one not in text] == []


@pytest.mark.parametrize("name", ["mapped-files", "nearly-empty-partial"])
def test_a_log_that_lacks_io_was_a_reason_to_keep_everything(name: str) -> None:
    found = diagnosed(name)
    assert not found.program.is_whole
    assert "keep" not in found.verdict
    assert "does not have all I/O" in found.verdict
    assert "not known: " in as_text(found)


@pytest.mark.parametrize(
    ("name", "gap"), [("heatmap-only", "has HEATMAP, but no counters"), ("no-times", "no times")]
)
def test_a_log_that_does_not_say_what_io_took_was_called_healthy(name: str, gap: str) -> None:
    """A log of the heat map alone "tells of no I/O", and one without times was to be kept."""
    found = diagnosed(name)
    assert found.verdict == "The log does not say what I/O took, nor what held it back."
    assert any(gap in one for one in found.program.gaps)


@pytest.mark.parametrize("name", ["small-writes-into-the-cache", "syncs-of-100-mib"])
def test_no_pool_is_promised_for_writes_that_do_not_wait_or_want_to(name: str) -> None:
    assert "--pool" not in as_text(diagnosed(name))


def test_streams_are_known_by_their_ids_where_names_are_anonymous() -> None:
    """Files of STDIO were taken for streams, and left out, where their names were numbers."""
    assert len(diagnosed("names-made-anonymous").program.files) == 4
    assert len(diagnosed("names-missing").program.files) == 4
    assert "small" not in " ".join(one.title for one in diagnosed("sample-badost").troubles)


def test_files_that_groups_of_ranks_wrote_at_the_same_time_were_added_up() -> None:
    """64 files of 5 s each, by 4 ranks each, were 320 s of I/O in a run of 100."""
    program = diagnosed("subfiles").program
    assert 5 < program.seconds_io < 6
    assert sum(one.waited for one in program.files) == 1
    assert 20 < diagnosed("files-of-comm-self").program.seconds_io < 26


def test_waiting_for_a_late_rank_is_nothing_that_forebay_would_save() -> None:
    """142 of 151 s in collective writes were, although nobody wrote meanwhile."""
    (one,) = takeovers(diagnosed("late-rank").program)
    assert one.seconds_now < 10


def test_a_log_that_was_cut_off_was_read_as_far_as_it_went(tmp_path: Path) -> None:
    cut = tmp_path / "cut.darshan"
    whole = path_of("imports").read_bytes()
    cut.write_bytes(whole[: len(whole) * 9 // 10])
    with pytest.raises(EvidenceError, match="cut off or damaged amid the records of POSIX"):
        read_log(cut)


def test_sums_over_files_and_layers_were_longer_than_the_run(tmp_path: Path) -> None:
    """A rank of a run of 50 s was said to have spent 4000 s, and a library 9000."""
    pytest.importorskip("darshan")
    from tools.darshan_logs.invented import MIB, posix
    from tools.darshan_logs.logfile import Item, Run, write_log

    items = [
        posix(
            path=f"/scratch/run/{n}",
            rank=n // 4,
            written=64 * MIB,
            read=64 * MIB,
            write_seconds=900.0 + 90 * n,
            read_seconds=900.0,
        )
        for n in range(8)
    ]
    times = {"F_READ_TIME": 9000.0}
    items.append(Item(module="H5D", path="/scratch/run/0:/v", rank=0, times=times))
    log = tmp_path / "jumped.darshan"
    write_log(Run(command="/apps/model", ranks=2, seconds=50.0, items=items), log)
    found = diagnose(read_log(log))
    assert all(one.seconds <= 50 for one in (*found.program.own, *found.program.libraries))
    check_text(found)
