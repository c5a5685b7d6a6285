"""Advice that is used elsewhere, later, or for programs that are not of MPI."""

import datetime
from dataclasses import replace
from typing import Any

import pytest
from tuning_scenes import advice, darshan_log, darshan_logs, priced_portrait

from forebay_tuning.advise.model.advice import Question, advise
from forebay_tuning.advise.model.ready import ready
from forebay_tuning.advise.model.rules import USUAL
from forebay_tuning.advise.report.text import as_text
from forebay_tuning.advise.use_case import extrapolated
from forebay_tuning.model.portrait import Here, Identity, doubts
from forebay_tuning.model.program_workloads import workloads_of
from forebay_tuning.report.files.darshan_log import read_log
from forebay_tuning.report.model.diagnosis import diagnose

THERE = Identity(
    name="scratch",
    directory="/scratch/me",
    file_system="lustre",
    mount_point="/scratch",
    host="node1",
    client="Linux",
    forebay="1.0",
    date="2026-11-20T00:00:00+00:00",
    level="quick",
    seed=1,
    nodes=1,
    ranks_per_node=2,
    targets=4,
    stripe_count=1,
    stripe_bytes=1 << 20,
)
HERE = Here(
    forebay="1.0",
    date=datetime.date(2026, 11, 23),
    directory="/scratch/me",
    file_system="lustre",
    mount_point="/scratch",
)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, []),
        ({"mount_point": "/home", "host": "login1"}, ["another file system (lustre at /home of"]),
        ({"file_system": "nfs4"}, ["/scratch/me is on lustre at /scratch"]),
        ({"forebay": "0.9"}, ["drawn by Forebay 0.9 (this is 1.0"]),
        ({"date": "2026-01-01T00:00:00+00:00"}, ["326 days old"]),
        ({"date": "", "forebay": ""}, ["drawn by Forebay"]),
        ({"is_modelled": True, "mount_point": "", "forebay": "0"}, []),
    ],
)
def test_a_portrait_of_elsewhere_or_of_long_ago_is_told(
    changes: dict[str, Any], told: list[str]
) -> None:
    found = doubts(replace(THERE, **changes), HERE)
    assert len(found) == len(told)
    for text, part in zip(found, told, strict=True):
        assert part in text
        assert "robe" in text.rpartition(").")[2]  # what to do


@pytest.mark.parametrize(
    ("source", "here", "told"),
    [
        ("10.0.0.1@o2ib:/scratch", "10.0.0.1@o2ib:/scratch", False),
        ("10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch", "10.0.0.2@o2ib:/scratch", False),
        ("10.0.0.1@o2ib:/scratch", "192.168.1.1@tcp:/scratch", False),  # a login node
        ("10.0.0.1@o2ib:/scratch", "10.9.0.1@o2ib:/scratch", True),
        ("10.0.0.1@o2ib:/scratch", "10.0.0.1@o2ib:/work", True),
        ("nas:/export/home", "nas:/export/home", False),
        ("nas:/export/home", "other:/export/home", True),
        ("/dev/sda1", "/dev/nvme0n1p1", False),
        ("", "10.0.0.1@o2ib:/scratch", False),
    ],
)
def test_the_same_mount_point_may_be_of_another_machine(source: str, here: str, told: bool) -> None:
    found = doubts(replace(THERE, source=source, host="login1"), replace(HERE, source=here))
    assert ["another file system" in one for one in found] == ([True] if told else [])


def test_the_commands_that_prove_it_are_told_where_there_is_a_file() -> None:
    one = advice(collective=False, stripe_count=8)
    made = ready(one, directory="/my out", command="srun ./p", file="a.json")
    assert made.proof[1] == "forebay verify a.json --output-dir '/my out' -- srun ./p"
    assert "\n  forebay apply a.json" in as_text(one, made)
    assert ready(one, directory="/x", command="srun ./p").proof == ()


def test_a_log_of_a_program_without_mpi_gets_no_aggregators() -> None:
    path = next(one for one in darshan_logs() if one.name.startswith("pq_app_write_"))
    program = read_log(path)
    assert program.ranks == 1
    assert "keep everything" in diagnose(program).verdict
    (work,) = workloads_of(program, nodes=1)
    assert not work.collective
    one = advise(Question(workload=work, portrait=None, rules=USUAL))
    made = ready(one, directory="/x", command="./program")
    assert "cb_" not in made.settings + made.hints
    assert not any(line.startswith("forebay run") for line in made.batch)


def test_files_of_a_long_log_are_put_together_by_rank() -> None:
    path = darshan_log("sample-badost.darshan")
    whole = read_log(path)
    assert whole.file_count == len(whole.files) > 2000
    few = read_log(path, files_max=100)
    assert few.file_count == whole.file_count
    assert len([one for one in few.files if one.files == 1 and one.targets]) == 100
    for told in ("bytes", "metadata_share", "seconds_io"):
        assert getattr(few, told) == pytest.approx(getattr(whole, told)), told
    (a,), (b,) = workloads_of(whole, nodes=64), workloads_of(few, nodes=64)
    assert (a.files, a.file_bytes, a.ranks, a.shared) == (b.files, b.file_bytes, b.ranks, b.shared)


@pytest.mark.parametrize(
    ("probed", "nodes", "modelled", "told"),
    [
        (1, 16, False, "this is extrapolated from 1 node to 16 (the portrait was measured on 1"),
        (4, 16, False, "this is extrapolated from 4 nodes to 16"),
        (16, 16, False, ""),
        (1, 1, False, ""),
        (1, 16, True, ""),
    ],
)
def test_advice_for_more_nodes_than_were_probed_says_so(
    probed: int, nodes: int, modelled: bool, told: str
) -> None:
    portrait = priced_portrait(None)
    identity = replace(portrait.identity, nodes=probed, is_modelled=modelled)
    workload = replace(advice().workload, nodes=nodes)
    found = extrapolated(workload, replace(portrait, identity=identity))
    assert found == () if not told else told in found[0]
    assert extrapolated(workload, None) == ()
