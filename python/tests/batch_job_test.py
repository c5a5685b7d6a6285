"""When the batch job ends: by its variable, or by asking Slurm; and whether it has one node."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from forebay.common.files.batch_job import (
    END_VARIABLE,
    is_job_of_one_node,
    job_end_of,
    with_job_end,
)
from forebay.ports import Captured, Finished, Hook

IN_A_JOB = {"SLURM_JOB_ID": "7"}


class Squeue:
    """Says what it is told to say."""

    def __init__(self, status: int, output: str) -> None:
        self._said = Captured(status=status, output=output, errors="")

    def capture(
        self, words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
    ) -> Captured:
        assert words[0] == "squeue"
        assert "--jobs=7" in words
        assert environment["SLURM_TIME_FORMAT"] == "standard"
        return self._said

    def run(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        started: Hook = None,
        job_ending: Hook = None,
    ) -> Finished:
        raise AssertionError(words)


@pytest.mark.parametrize(
    ("around", "said", "end"),
    [
        ({}, "2026-11-25T10:00:00", None),
        (IN_A_JOB, "2026-11-25T10:00:00+00:00\n", "1795600800"),
        (IN_A_JOB, "NONE\n", None),
        (IN_A_JOB, "", None),
        ({**IN_A_JOB, END_VARIABLE: "5"}, "2026-11-25T10:00:00+00:00\n", "5"),
    ],
)
def test_slurm_is_asked_where_its_variables_do_not_tell(
    around: Mapping[str, str], said: str, end: str | None
) -> None:
    assert with_job_end(around, Squeue(0, said)).get(END_VARIABLE) == end
    assert job_end_of(around, Squeue(0, said)) == int(end or 0)


def test_a_slurm_that_fails_tells_nothing() -> None:
    assert END_VARIABLE not in with_job_end(IN_A_JOB, Squeue(1, "2026-11-25T10:00:00"))


@pytest.mark.parametrize(
    ("around", "is_one"),
    [
        ({}, False),
        ({"SLURM_JOB_ID": "7"}, False),
        ({"SLURM_JOB_NUM_NODES": "1"}, True),
        ({"SLURM_JOB_NUM_NODES": "12"}, False),
        ({"LSB_MCPU_HOSTS": "a 4"}, True),
        ({"LSB_MCPU_HOSTS": "a 4 b 4"}, False),
        ({"PBS_NODEFILE": "one"}, True),
        ({"PBS_NODEFILE": "two"}, False),
        ({"PBS_NODEFILE": "none"}, False),
    ],
)
def test_whether_the_job_has_one_node(
    around: Mapping[str, str], is_one: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").write_text("a\na\n")
    (tmp_path / "two").write_text("a\nb\n")
    assert is_job_of_one_node(around) == is_one
