"""Darshan logs of more files than are listed one by one: what the sums of the others say of the run
is what the files would say. Here two files are listed; `forebay report` lists 4096."""

from __future__ import annotations

import pytest
from tuning_scenes import read_here
from tuning_verdict_test import EVERY_LOG, path_of

from forebay_tuning.report.model.diagnosis import diagnose
from forebay_tuning.report.model.waits import waits_of

ALL, FEW = 4096, 2


@EVERY_LOG
def test_sums_of_files_count_for_the_run_as_the_files_do(name: str) -> None:
    """MPI-IO's records of the others were left out: 62 s of I/O in 200 files became 6.6, and a
    program with trouble was told to keep everything."""
    whole, few = (read_here(path_of(name), most) for most in (ALL, FEW))
    assert few.bytes == whole.bytes
    assert few.file_count == whole.file_count
    assert few.seconds_io == pytest.approx(whole.seconds_io, rel=0.02, abs=0.001 * whole.seconds)
    if "keep everything" in diagnose(few).verdict:
        assert "keep everything" in diagnose(whole).verdict


def test_files_of_mpi_io_that_are_not_listed_keep_the_seconds_above_storage() -> None:
    (rest,) = [one for one in read_here(path_of("many-mpi-files"), FEW).files if one.files > 1]
    assert {one.name for one in rest.layers} == {"MPI-IO", "POSIX"}
    assert rest.by_mpi


def test_files_of_other_groups_of_ranks_are_not_added_to_those_of_the_slowest() -> None:
    """Groups use their files at the same time: 5.6 s became 11.2."""
    few = read_here(path_of("subfiles"), FEW)
    assert {one.waited for one in few.files if one.files > 1} == {False}
    assert sum(one.total for one in waits_of(few)) <= few.seconds_io * (1 + 1e-9)


def test_the_end_of_many_files_is_not_that_of_the_largest() -> None:
    """Ranks that read 200 files were said to read the same bytes of one again and again."""
    few, whole = (read_here(path_of("many-mpi-files"), most) for most in (FEW, ALL))
    assert sum(one.extent for one in few.files) == sum(one.extent for one in whole.files)
