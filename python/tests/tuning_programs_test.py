"""`forebay advise` for fifteen programs on a machine of 96 targets, in ranges that an administrator
of Lustre would sign: the reason is beside each. And what holds for all advice: nothing is listed
that gains nothing, that Forebay would not carry out, or that contradicts something else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tuning_scenes import portrait_of

from forebay_tuning.advise.model.advice import STEP_LEAST, Advice, Lever, Question, advise
from forebay_tuning.advise.model.candidates import Room
from forebay_tuning.advise.model.worth import trifling
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.metadata import FileRate, MetadataRates
from forebay_tuning.model.placement import (
    PER_NODE_MOST,
    NodeRoom,
    aggregators,
    on_a_node,
)
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.probe.files.platform_file import read_platform

ROOT = Path(__file__).resolve().parents[2]
MIB, GIB = 1 << 20, 1 << 30


@cache
def portrait() -> Portrait:
    return portrait_of(read_platform(ROOT / "platforms" / "lustre-96-ost.toml"))


@dataclass(frozen=True, kw_only=True)
class Program:
    """`stripes`: the range of what is advised (None: as they are); `keeps`: nothing is."""

    name: str
    why: str
    work: dict[str, Any]
    stripes: tuple[int, int] | None = None
    keeps: bool = False


def shared(ranks: int, nodes: int, size: int, seconds: float, run: float, **more: Any) -> Any:
    usual = {"direction": Direction.WRITE, "collective": True, "stripe_count": 1}
    return usual | {
        "ranks": ranks,
        "nodes": nodes,
        "file_bytes": size,
        "seconds": seconds,
        "run_seconds": run,
        **more,
    }


ALONE = {"collective": False}
READ = {"direction": Direction.READ}
PROGRAMS = (
    Program(
        name="512 ranks share 64 GiB on one stripe",
        why="one target carries about 1 GB/s; sites ask for 16 or more from 50 GB on",
        work=shared(512, 16, 64 * GIB, 60, 600),
        stripes=(8, 96),
    ),
    Program(
        name="4096 ranks share 1 TiB on one stripe",
        why="the study: 16 from 256 GiB on; NERSC: 72 from 100 GB on, or all targets",
        work=shared(4096, 128, 1024 * GIB, 600, 3600),
        stripes=(16, 96),
    ),
    Program(
        name="64 ranks share 100 MB",
        why="0.4 s of 600: nobody would touch it",
        work=shared(64, 2, 100_000_000, 0.4, 600),
        keeps=True,
    ),
    Program(
        name="512 ranks, striped over 16 already",
        why="10 s of 600, of which more stripes would save less than 2 %",
        work=shared(512, 16, 64 * GIB, 10, 600, stripe_count=16),
        keeps=True,
    ),
    Program(
        name="512 ranks write 64 GiB by independent calls",
        why="the layout is all that can be changed from outside",
        work=shared(512, 16, 64 * GIB, 60, 600, **ALONE),
        stripes=(8, 96),
    ),
    Program(
        name="one rank writes 10 GiB",
        why="one process is slower than one of this machine's targets",
        work=shared(1, 1, 10 * GIB, 10, 100, **ALONE),
        keeps=True,
    ),
    Program(
        name="512 files of 1 GiB",
        why="a file for each rank is spread over targets by itself: one stripe each",
        work=shared(512, 16, GIB, 60, 600, files=512, shared=False, **ALONE),
        keeps=True,
    ),
    Program(
        name="20 000 files of 10 KiB",
        why="a file of 10 KiB has one stripe and no 16 MiB call, whatever is faster elsewhere",
        work=shared(64, 2, 10 * 1024, 30, 100, files=20_000, shared=False, **ALONE),
        keeps=True,
    ),
    Program(
        name="collective calls of 256 bytes",
        why="4 GiB: NERSC 8, the study 4 to 16",
        work=shared(512, 16, 4 * GIB, 100, 200, transfer_bytes=256, stripe_count=4),
        stripes=(8, 32),
    ),
    Program(
        name="20 s of ten hours",
        why="less than 2 % of the run",
        work=shared(512, 16, 16 * GIB, 20, 36_000),
        keeps=True,
    ),
    Program(
        name="1024 ranks read the same 2 GiB",
        why="every target that the file lies on serves a share of the readers",
        work=shared(1024, 32, 2 * GIB, 100, 600, same_bytes=True, **READ, **ALONE),
        stripes=(16, 96),
    ),
    Program(
        name="512 ranks read 64 GiB by collective calls",
        why="as for writing",
        work=shared(512, 16, 64 * GIB, 60, 600, **READ),
        stripes=(8, 96),
    ),
    Program(
        name="16 ranks of one node share 16 GiB",
        why="two to four of these targets fill a node's link, ten of slower ones",
        work=shared(16, 1, 16 * GIB, 30, 100),
        stripes=(2, 24),
    ),
    Program(
        name="on all targets already",
        why="there is nothing more",
        work=shared(512, 16, 64 * GIB, 10, 600, stripe_count=96),
        keeps=True,
    ),
    Program(
        name="128 ranks share 1 GiB",
        why="four nodes: no more targets than their links and 16 aggregators can use",
        work=shared(128, 4, GIB, 5, 60),
        stripes=(4, 32),
    ),
)


@cache
def advice_for(at: int) -> Advice:
    return advise(Question(workload=Workload(**PROGRAMS[at].work), portrait=portrait()))


@pytest.mark.parametrize("at", range(len(PROGRAMS)), ids=lambda at: PROGRAMS[at].name)
def test_the_advice_is_what_an_administrator_would_sign(at: int) -> None:
    program, found = PROGRAMS[at], advice_for(at)
    assert found.keeps == program.keeps, found.reasons
    if program.stripes is not None:
        least, most = program.stripes
        assert least <= (found.settings.stripe_count or 1) <= most
    check_all(found)


def check_all(found: Advice) -> None:
    """Checks the properties of all advice from a portrait."""
    work, own = found.workload, found.settings
    for one in found.items:
        assert one.gain is None or one.gain >= STEP_LEAST, one
    for text in found.rivals:
        if "predicted" in text:
            times = float(text.rpartition("predicted ")[2].split(" ")[0])
            assert times <= STEP_LEAST, text
    if own.processes is not None and work.may_be_gathered:
        stripes = own.stripe_count or work.stripe_count or 1
        each = min(PER_NODE_MOST, work.fewest_ranks_per_node)
        assert own.processes <= min(stripes, work.nodes * each)
        assert own.per_node in (None, on_a_node(own.processes, work.nodes))
    if own.transfer_bytes is not None:
        assert own.transfer_bytes <= work.file_bytes
    if own.stripe_count is not None:
        size = own.stripe_bytes or work.stripe_bytes or MIB
        assert own.stripe_count <= max(work.stripe_count or 1, work.stripes_of(size))
    if not found.keeps and found.gain is not None:
        assert found.seconds_now is not None
        assert not trifling(work, found.seconds_now, found.gain)


@settings(max_examples=40, deadline=None)
@given(
    nodes=st.sampled_from([1, 2, 5, 16, 64]),
    each=st.sampled_from([1, 3, 16, 64]),
    size=st.sampled_from([10_240, 100_000_000, GIB, 100 * GIB]),
    files=st.sampled_from([1, 7, 1000]),
    together=st.booleans(),
    direction=st.sampled_from(list(Direction)),
    seconds=st.sampled_from([None, 0.5, 50.0]),
    allowed=st.sampled_from([frozenset({Lever.LAYOUT, Lever.SETTINGS}), frozenset(Lever)]),
)
def test_no_advice_is_impossible_or_trifling(
    nodes: int,
    each: int,
    size: int,
    files: int,
    together: bool,
    direction: Direction,
    seconds: float | None,
    allowed: frozenset[Lever],
) -> None:
    work = Workload(
        direction=direction,
        ranks=nodes * each,
        nodes=nodes,
        file_bytes=size,
        files=files,
        shared=files == 1,
        collective=together and files == 1,
        stripe_count=1,
        seconds=seconds,
        run_seconds=None if seconds is None else 100.0,
    )
    check_all(advise(Question(workload=work, portrait=portrait(), allowed=allowed)))


SCALES = st.sampled_from([2, 16])
"""By how many times something becomes larger."""


@st.composite
def programs(draw: st.DrawFn) -> Workload:
    """Programs on some nodes that write or read one file, or files of their own, on one stripe."""
    nodes, files = draw(st.sampled_from([1, 4, 16])), draw(st.sampled_from([1, 64]))
    return Workload(
        direction=draw(st.sampled_from(list(Direction))),
        ranks=nodes * draw(st.sampled_from([1, 16])),
        nodes=nodes,
        file_bytes=draw(st.sampled_from([MIB, 100 * MIB, 10 * GIB])),
        files=files,
        shared=files == 1,
        collective=files == 1 and draw(st.booleans()),
        stripe_count=1,
    )


def seconds_of(work: Workload) -> float:
    found = advise(Question(workload=work, portrait=portrait()))
    check_all(found)
    assert found.seconds_now is not None
    assert found.seconds_advised is not None
    assert found.seconds_advised <= found.seconds_now
    return found.seconds_now


@settings(max_examples=20, deadline=None)
@given(work=programs(), times=SCALES)
def test_more_bytes_take_longer(work: Workload, times: int) -> None:
    assert seconds_of(replace(work, file_bytes=times * work.file_bytes)) > seconds_of(work)


@settings(max_examples=20, deadline=None)
@given(work=programs(), times=SCALES)
def test_more_files_take_longer(work: Workload, times: int) -> None:
    own = replace(work, files=64, shared=False, collective=False)
    assert seconds_of(replace(own, files=64 * times)) > seconds_of(own)


@settings(max_examples=20, deadline=None)
@given(work=programs(), times=SCALES)
def test_more_ranks_with_as_many_bytes_each_take_no_less(work: Workload, times: int) -> None:
    """So many times the nodes carry at most so many times the rate; the fit's surface bends that
    by less than a fifth."""
    larger = replace(
        work,
        ranks=times * work.ranks,
        nodes=times * work.nodes,
        file_bytes=work.file_bytes * (times if work.shared else 1),
        files=work.files * (1 if work.shared else times),
    )
    assert seconds_of(larger) > 0.8 * seconds_of(work)


def test_the_number_of_files_has_a_price() -> None:
    """Opening and closing them was counted once for each process."""
    work = Workload(**PROGRAMS[7].work)
    few = advise(
        Question(workload=Workload(**{**PROGRAMS[7].work, "files": 64}), portrait=portrait())
    )
    many = advise(Question(workload=work, portrait=portrait()))
    assert many.seconds_now is not None
    assert few.seconds_now is not None
    assert many.seconds_now > 10 * few.seconds_now


def test_the_seconds_that_many_files_cost_are_named() -> None:
    work = replace(Workload(**PROGRAMS[7].work), files=2_000_000)
    (note,) = [
        one
        for one in advise(Question(workload=work, portrait=portrait())).notes
        if "creating and closing 2000000 files takes" in one
    ]
    assert "fewer files do" in note
    few = advise(Question(workload=replace(work, files=64), portrait=portrait()))
    assert not any("files takes" in one for one in few.notes)


def test_no_more_files_are_advised_than_they_are_worth() -> None:
    """Each writer has a file of its own: more writers make more files."""
    known = portrait()
    dear = (FileRate(processes=1, value=0.5, low=0.5, high=0.5),)
    work = Workload(**shared(64, 2, GIB, 60, 600, files=2, shared=False, **ALONE))
    question = Question(workload=work, portrait=known, allowed=frozenset(Lever))
    priced = replace(known, metadata=MetadataRates(creates=dear, opens=dear))
    cheap = replace(known, metadata=None)
    writers = [
        advise(replace(question, portrait=one)).settings.processes or work.ranks
        for one in (priced, cheap)
    ]
    assert writers[0] <= 2 < writers[1]


def test_seconds_that_the_portrait_cannot_explain_are_told() -> None:
    work = Workload(**shared(512, 16, 64 * GIB, 60_000, 100_000))
    (note,) = [
        one
        for one in advise(Question(workload=work, portrait=portrait())).notes
        if "own seconds" in one
    ]
    assert "another machine" in note
    predicted = advise(Question(workload=work, portrait=portrait())).seconds_now or 0.0
    near = Workload(**shared(512, 16, 64 * GIB, 1.5 * predicted, 600))
    found = advise(Question(workload=near, portrait=portrait()))
    assert not any("own seconds" in one for one in found.notes)


def examples(name: str) -> list[list[str]]:
    """The rows of a table that tests of the engine read, too."""
    lines = (ROOT / "schema" / "examples" / name).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def ranks_on_nodes(text: str) -> list[int]:
    """The ranks on each node: "4*32" are four nodes with 32 ranks each, "3,3,1" three nodes."""
    found: list[int] = []
    for part in text.split(","):
        nodes, _, ranks = part.rpartition("*")
        found += [int(ranks)] * int(nodes or 1)
    return found


def test_aggregators_are_counted_as_the_engine_places_them() -> None:
    rows = examples("placements.tsv")
    for row in rows:
        stripes, ranks, limit, cb_nodes, per_target, count, fullest = row
        nodes = ranks_on_nodes(ranks)
        room = NodeRoom(nodes=len(nodes), fewest_ranks=min(nodes), per_node_most=int(limit))
        found = aggregators(int(stripes), room, asked=int(cb_nodes), per_target=int(per_target))
        assert (found, on_a_node(found, len(nodes))) == (int(count), int(fullest)), row
    assert len(rows) > 40


def test_the_limit_on_a_node_is_the_largest_that_the_engine_has() -> None:
    assert max(int(row[2]) for row in examples("node_limits.tsv")) == PER_NODE_MOST


def test_aggregators_are_advised_for_the_node_with_fewest_ranks() -> None:
    """Ten ranks are on four nodes, three each on two: twelve aggregators were thought possible."""
    work = Workload(**shared(10, 4, 64 * GIB, 60, 600))
    room = Room(workload=work, may=frozenset({"processes", "per_node"}))
    now = work.ungathered(stripe_count=96, stripe_bytes=MIB)
    for count, carried in ((8, True), (9, False), (10, True)):
        point = replace(now, stripe_count=96, processes=count, per_node=on_a_node(count, 4))
        assert room.is_carried_out(now, point) == carried


def test_rules_ask_for_no_aggregators_that_forebay_does_not_place() -> None:
    """Without a portrait a collective program was told to take eight on a node."""
    collective = Workload(**shared(2048, 64, 512 * GIB, 60, 600))
    found = advise(Question(workload=collective))
    assert (found.settings.processes, found.settings.per_node) == (None, None)
    assert found.settings.stripe_count == 16
    assert any("eight processes a node" in text for text in found.rivals)
    alone = replace(collective, collective=False)
    found = advise(Question(workload=alone, allowed=frozenset(Lever)))
    assert (found.settings.per_node, found.settings.processes) == (8, 256)
