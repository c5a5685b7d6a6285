"""Tests the order of launches, and their summary, on invented measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from evaluation import campaign
from evaluation.launch import Bench, pattern_arguments
from evaluation.model import (
    STACKS,
    BenchError,
    Case,
    Limit,
    Outcome,
    Repetition,
    Sample,
    Stack,
    StorageKind,
)
from evaluation.mpis import BuiltMpi
from evaluation.report import fill, section
from evaluation.results import Machine, Results, load, save
from evaluation.suites import LIMITS, SUITE_NAMES, SUITES, suite_named
from evaluation.summary import Verdict, summarise
from evaluation.tables import number

SUITE = suite_named("interleaved")
CASE = SUITE.cases[0]


def repetition(seconds: float, *, warm_up: bool = False, wrong: int = 0) -> Repetition:
    return Repetition(
        warm_up=warm_up,
        open_seconds=0.1,
        view_seconds=0.0,
        call_seconds=seconds,
        sync_seconds=0.0,
        close_seconds=0.1,
        base_kib=(1024, 1024),
        peak_kib=(2048, 4096),
        moved_bytes=128 << 20,
        wrong_words=wrong,
        wrong_gap_words=0,
    )


@dataclass
class Invented:
    """A Measurer without launches: each stack has a fixed time, or times out. Also the Watcher."""

    seconds: Mapping[str, float]
    wrong: int = 0
    order: list[tuple[str, str, int]] = field(default_factory=list)

    def measure(self, *, case: Case, stack: Stack, block: int) -> Sample:
        self.order.append((case.name, stack.name, block))
        known = self.seconds.get(stack.name)
        repetitions: tuple[Repetition, ...] = ()
        if known is not None:
            repetitions = (repetition(9.0, warm_up=True), repetition(known))
        if stack.forebay and self.wrong:
            repetitions = (repetition(known or 1.0, wrong=self.wrong),)
        return Sample(
            case=case.name,
            stack=stack.name,
            block=block,
            load=0.5,
            seconds=1.0,
            outcome=Outcome.TIMEOUT if known is None else Outcome.OK,
            repetitions=repetitions,
        )

    def limits(self, *, storage: StorageKind, block: int, total: int) -> tuple[Limit, ...]:
        del total
        return (
            Limit(
                storage=storage,
                block=block,
                name="assembled",
                piece_bytes=256,
                threads=2,
                mebibytes_per_second=1000.0,
            ),
        )

    def launches(self, count: int) -> None: ...

    def before(self, *, case: str, stack: str, block: int) -> None: ...

    def after(self, sample: Sample | None) -> None: ...


def run(invented: Invented, *, blocks: int = 6, cases: tuple[Case, ...] = (CASE,)) -> Results:
    stacks = tuple(STACKS[name] for name in STACKS if name in invented.seconds or name == "ompi414")
    order = campaign.Order(
        suite=SUITE, cases=cases, stacks=stacks, blocks=blocks, seed=7, limit_bytes=1
    )
    measured = campaign.Measured()
    running = campaign.run(
        order, measurer=invented, watcher=invented, measured=measured, enough=lambda: False
    )
    for _ in running:
        pass
    return Results(
        suite=SUITE.name,
        quick=False,
        command="python -m evaluation interleaved",
        commit="abc",
        modified=False,
        started="now",
        seconds=60.0,
        seed=7,
        blocks=blocks,
        library="",
        settings={},
        machine=Machine(
            processor="P", cores=2, memory_mebibytes=1024, kernel="6", file_systems={"tmpfs": "t"}
        ),
        cases=cases,
        limits=tuple(measured.limits),
        samples=tuple(measured.samples),
    )


SECONDS = {"mpich402": 4.0, "mpich502": 1.0, "ompi5011": 1.5, "forebay+mpich402": 0.4}


def test_slow_and_stuck_incumbents_leave_the_race_and_blocks_stay_together() -> None:
    invented = Invented(SECONDS)
    run(invented)
    count = {name: sum(stack == name for _, stack, _ in invented.order) for name in STACKS}
    assert count["ompi414"] == 1, "timed out"
    assert count["mpich402"] == campaign.RACE_AFTER_BLOCKS, "four times slower than the best"
    assert count["mpich502"] == count["ompi5011"] == count["forebay+mpich402"] == 6
    blocks = [block for _, _, block in invented.order]
    assert blocks == sorted(blocks)
    first = [stack for _, stack, block in invented.order if block == 4]
    second = [stack for _, stack, block in invented.order if block == 5]
    assert sorted(first) == sorted(second)


def test_every_case_gets_a_block_before_any_gets_a_second() -> None:
    invented = Invented(SECONDS)
    cases = SUITE.cases[:3]
    run(invented, blocks=2, cases=cases)
    half = [case for case, _, block in invented.order if block == 0]
    assert set(half) == {case.name for case in cases}
    runs = [case for i, case in enumerate(half) if i == 0 or half[i - 1] != case]
    assert len(runs) == len(cases), "the stacks of a case follow one another"


def test_hints_of_the_case_make_the_hinted_stack_a_double() -> None:
    case = replace(CASE, hints=("cb_config_list=*:*", "cb_nodes=4"))
    order = campaign.Order(suite=SUITE, cases=(case,), stacks=(), blocks=1, seed=1, limit_bytes=1)
    measured = campaign.Measured()
    assert not campaign.still_runs(order, measured, case, STACKS["mpich502-all"])
    assert campaign.still_runs(order, measured, case, STACKS["mpich502"])


def test_only_the_plain_mpi_runs_where_nothing_else_is_compared() -> None:
    suite = suite_named("open_close")
    case = suite.cases[0]
    order = campaign.Order(suite=suite, cases=(case,), stacks=(), blocks=1, seed=1, limit_bytes=1)
    taking_part = [
        name
        for name, stack in STACKS.items()
        if campaign.still_runs(order, campaign.Measured(), case, stack)
    ]
    assert taking_part == [name for name in STACKS if not name.endswith(("-all", "-romio"))]


def test_one_pair_decides_nothing() -> None:
    results = run(Invented(SECONDS), blocks=1)
    (row,) = summarise(SUITE, results.cases, results.samples, results.limits)
    assert row.comparisons[0].verdict is Verdict.OPEN


def test_the_best_incumbent_is_the_reference() -> None:
    results = run(Invented(SECONDS))
    (row,) = summarise(SUITE, results.cases, results.samples, results.limits)
    assert row.best is not None
    assert row.best.stack == "mpich502"
    assert row.chosen is not None
    assert row.chosen.ratio is not None
    assert row.chosen.reference == "mpich502"
    assert row.chosen.ratio.estimate == pytest.approx(2.5)
    assert row.chosen.whole_ratio is not None
    assert row.chosen.whole_ratio.estimate == pytest.approx(1.2 / 0.6)
    assert row.chosen.verdict is Verdict.MET
    assert row.chosen.forebay.value is not None
    assert row.chosen.forebay.value.median == pytest.approx(128 / 0.4)
    assert row.limit == pytest.approx(1000.0)


@pytest.mark.parametrize(("seconds", "verdict"), [(0.4, "met"), (0.8, "missed")])
def test_verdict(seconds: float, verdict: str) -> None:
    results = run(Invented({**SECONDS, "forebay+mpich402": seconds}))
    (row,) = summarise(SUITE, results.cases, results.samples, results.limits)
    assert row.comparisons[0].verdict == verdict


def test_wrong_data_are_never_met() -> None:
    results = run(Invented(SECONDS, wrong=3))
    (row,) = summarise(SUITE, results.cases, results.samples, results.limits)
    assert row.comparisons[0].verdict is Verdict.MISSED
    assert "wrong data" in row.comparisons[0].forebay.note


def test_results_survive_the_file_and_fill_the_document(tmp_path: Path) -> None:
    results = run(Invented(SECONDS))
    path = tmp_path / "deep" / "interleaved.json"
    save(results, path)
    assert load(path) == results
    document = "before <!-- bench:interleaved -->old<!-- /bench:interleaved --> after"
    filled = fill(document, "interleaved", section(results))
    assert "old" not in filled
    assert filled.startswith("before ")
    assert filled.endswith(" after")
    assert "python -m evaluation interleaved" in filled
    assert "2.50 [2.50, 2.50] ✓" in filled
    assert fill(filled, "interleaved", section(results)) == filled
    with pytest.raises(BenchError, match="markers"):
        fill("nothing", "interleaved", "text")
    path.write_text("{}")
    with pytest.raises(BenchError, match="Run the suite again"):
        load(path)


@pytest.mark.parametrize("name", ["forebay+mpich502", "forebay+ompi5011", "ompi414-romio"])
def test_command_forwards_what_the_stack_needs(name: str, tmp_path: Path) -> None:
    stack = STACKS[name]
    built = BuiltMpi(launcher=Path("/l/mpiexec"), patterns=Path("/b/patterns"))
    bench = Bench(
        mpis={stack.mpi.name: built},
        limits_program=Path("/b/limits"),
        folders={StorageKind.TMPFS: tmp_path},
        library=Path("/f/libforebay_mpi.so"),
        settings={"FOREBAY_CB_NODES": "2"},
    )
    command = bench.command(case=CASE, stack=stack, scratch=tmp_path, output=tmp_path / "o")
    program = command.index("/b/patterns")
    launcher = " ".join(command[:program])
    assert command[:3] == ["/l/mpiexec", "-n", str(CASE.ranks)]
    assert ("--mca io romio321" in launcher) == (name == "ompi414-romio")
    assert ("-x LD_PRELOAD=/f/libforebay_mpi.so" in launcher) == (name == "forebay+ompi5011")
    assert ("-genv LD_PRELOAD /f/libforebay_mpi.so" in launcher) == (name == "forebay+mpich502")
    assert ("FOREBAY_CB_NODES" in launcher) == stack.forebay


def test_the_documents_have_a_place_for_every_suite() -> None:
    folder = Path(__file__).parent.parent / "docs/performance"
    for name in (*SUITE_NAMES, LIMITS, "two_builds"):
        fill((folder / f"{name}.md").read_text(), name, "")


def test_cases_have_names_of_their_own_and_whole_regions() -> None:
    for suite in SUITES:
        for cases in (suite.cases, suite.quick):
            assert len({case.name for case in cases}) == len(cases)
        for case in suite.cases:
            assert case.total % (case.ranks * case.region) == 0, case.name
            assert pattern_arguments(case, STACKS["mpich402"])[0] == "--op"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.00123, "0.00123"), (0.5, "0.500"), (1.234, "1.23"), (45.67, "45.7"),
     (12345.6, "12346")],
)  # fmt: skip
def test_number_keeps_three_digits(value: float, text: str) -> None:
    assert number(value) == text
