"""Applying and verifying advice, and its page."""

import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tuning_scenes import advice

from forebay.bench.model.comparison import ComparedSide
from forebay.common.files.processes import ForegroundProcesses
from forebay.common.model.errors import BenchError, LayoutError, UsageError
from forebay.common.model.record import FileRecord, Record, Traffic
from forebay.common.model.units import MIB
from forebay.layout.model import Layout, LayoutChange, WantedLayout
from forebay.machine_ports import World
from forebay.run.use_case.run_report import RunReport
from forebay_tuning.advise.model.advice import Advice
from forebay_tuning.advise.model.ready import ready
from forebay_tuning.apply.files import RealFolders
from forebay_tuning.apply.report import as_text as applied_text
from forebay_tuning.apply.use_case import (
    NOT_APPLIED,
    AppliedAdvice,
    ApplyRequest,
    apply_advice,
    measured_in,
)
from forebay_tuning.verify.command import status_of
from forebay_tuning.verify.files import Timer
from forebay_tuning.verify.model import (
    LOOKS,
    AdviceVerdict,
    Prediction,
    interim_test,
    is_look,
    order,
    prediction_of,
)
from forebay_tuning.verify.report.text import as_json
from forebay_tuning.verify.report.text import as_text as verdict_text
from forebay_tuning.verify.use_case.verify_advice import Verified, VerifyRequest, verify_advice


@dataclass
class Striped:
    """Layouts of directories, as on Lustre; `refuses`: what is set does not take effect."""

    count: int = 1
    refuses: bool = False
    asked: list[WantedLayout] = field(default_factory=list)

    def show(self, path: Path) -> Layout:
        return Layout(
            path=str(path),
            kind="directory",
            bytes=0,
            file_system="lustre",
            origin="",
            targets=self.count,
            stripe_bytes=MIB,
        )

    def set(self, path: Path, wanted: WantedLayout) -> LayoutChange:
        self.asked.append(wanted)
        if not self.refuses:
            self.count = wanted.stripe_count or self.count
        complaint = "the pool has one target" if self.refuses else None
        return LayoutChange(layout=self.show(path), made=False, complaint=complaint)


def record(**changes: Any) -> Record:
    usual: dict[str, Any] = {
        "path": "/out/f",
        "closed": True,
        "ranks": 4,
        "nodes": 1,
        "aggregators": (0, 1),
        "targets": 8,
        "stripe_bytes": MIB,
        "seconds_open": 2.0,
        "settings": {},
        "write": Traffic(calls=4, bytes=64 * MIB, seconds=1.0),
        "read": Traffic(),
    }
    return Record(files=(FileRecord(**{**usual, **changes}),))


Make = Callable[..., World]


def world_with(make_world: Make, layouts: Striped, found: Record | None = None) -> World:
    world = make_world(records={"record": found or record()})
    return replace(world, layouts=layouts)


def test_what_took_effect_is_read_back(make_world: Make, tmp_path: Path) -> None:
    layouts = Striped()
    done = apply_advice(
        ApplyRequest(
            advice=(advice(stripe_count=8, processes=2),),
            command=("mpiexec", "-n", "4", "./program", "-o", "{out}/f"),
            directory=tmp_path / "out",
        ),
        world_with(make_world, layouts),
        RealFolders(),
    )
    assert [one.took for one in done.effects] == [True, True, True]
    assert done.exit_status == 0
    assert f"{tmp_path}/out/f" in done.run.command
    assert layouts.asked == [WantedLayout(stripe_count=8)]


def test_a_log_beside_the_output_is_not_taken_for_it(tmp_path: Path) -> None:
    folders = RealFolders()
    (tmp_path / "before").write_text("x" * 99)
    present = folders.names(tmp_path)
    (tmp_path / "result").write_text("x" * 50)
    (tmp_path / "log").write_text("changed last")
    assert folders.largest_new(tmp_path, but=present) == tmp_path / "result"


def test_what_did_not_take_effect_is_told(make_world: Make, tmp_path: Path) -> None:
    done = apply_advice(
        ApplyRequest(
            advice=(advice(stripe_count=8, processes=3),),
            command=("mpiexec", "-n", "4", "./program"),
            directory=tmp_path,
        ),
        world_with(make_world, Striped(refuses=True), record(targets=1)),
        RealFolders(),
    )
    told = {one.name: (one.took, one.found) for one in done.effects}
    assert told["layout"] == (False, "1 stripes")
    assert told["cb_nodes"] == (False, "2")
    assert "storage target" in {one.name: one.reason for one in done.effects}["cb_nodes"]
    assert told["striping_factor"] == (False, "1")
    assert done.exit_status == NOT_APPLIED
    assert replace(done, run=replace(done.run, status=3)).exit_status == 3
    settings = tuple(one for one in done.effects if not one.name.startswith("layout"))
    assert replace(done, effects=settings).exit_status == 0


@pytest.mark.parametrize("found", ["4194304", "1 MiB"])
def test_all_settings_are_read_back_from_the_record(
    make_world: Make, tmp_path: Path, found: str
) -> None:
    """It said "the record does not tell" of buffers, requests and reads, though it does."""
    in_effect = {"cb_buffer_size": found, "requests_in_flight": "8", "collective_read": "enable"}
    one = advice(transfer_bytes=4 * MIB, requests_in_flight=8, per_node=2)
    one = replace(one, settings=replace(one.settings, one_reader_per_node=True))
    done = apply_advice(
        ApplyRequest(advice=(one,), command=("./program",), directory=tmp_path),
        world_with(make_world, Striped(), record(settings=in_effect)),
        RealFolders(),
    )
    told = {one.name: one for one in done.effects}
    assert told["requests_in_flight"].took
    assert told["collective_read"].took
    assert told["cb_buffer_size"].took is (found == "4194304")
    assert told["cb_buffer_size"].found == ("4 MiB" if found == "4194304" else "1 MiB")
    assert told["cb_config_list"].found is None
    assert "places aggregators itself" in told["cb_config_list"].reason


def test_a_run_without_a_record_proves_nothing(make_world: Make, tmp_path: Path) -> None:
    world = world_with(make_world, Striped(), Record())
    done = apply_advice(
        ApplyRequest(advice=(advice(processes=2),), command=("./program",), directory=tmp_path),
        world,
        RealFolders(),
    )
    (one,) = done.effects
    assert one.found is None
    assert one.reason


@dataclass
class Timed:
    """Runs take so long as is said, with noise."""

    factor: float
    seed: int = 1
    fails_at: int = -1
    runs: int = 0

    def __call__(self, words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, float]:
        self.runs += 1
        if self.runs == self.fails_at:
            return 3, 0.0
        self.seed += 1
        noise = random.Random(self.seed).lognormvariate(0, 0.02)
        advised = "libforebay" in environment.get("LD_PRELOAD", "") or "LD_PRELOAD" in " ".join(
            words
        )
        return 0, noise / (self.factor if advised else 1.0)


def verified(
    make_world: Make,
    folder: Path,
    timed: Any,
    layouts: Striped,
    one: Advice | None = None,
) -> Any:
    return verify_advice(
        VerifyRequest(
            advice=(one or advice(stripe_count=8, processes=2),),
            command=("mpiexec", "-n", "4", "./program"),
            directory=folder,
            pairs_max=20,
            margin=0.05,
            seed=1,
        ),
        world_with(make_world, layouts),
        RealFolders(),
        timed=timed,
        told=lambda *_: None,
    )


@pytest.mark.parametrize(
    ("factor", "verdict", "stripes"),
    [
        (1.5, AdviceVerdict.IMPROVED, 8),
        (0.6, AdviceVerdict.WORSE, 1),
        (1.0, AdviceVerdict.EQUIVALENT, 1),
    ],
)
def test_verdicts_and_what_is_left_behind(
    make_world: Make, tmp_path: Path, factor: float, verdict: AdviceVerdict, stripes: int
) -> None:
    layouts = Striped()
    done = verified(make_world, tmp_path, Timed(factor), layouts)
    assert done.verification.verdict is verdict
    assert done.verification.pairs in LOOKS
    assert layouts.count == stripes
    assert done.undone is (verdict is not AdviceVerdict.IMPROVED)


def test_a_layout_that_was_refused_is_not_judged_as_if_it_were_there(
    make_world: Make, tmp_path: Path
) -> None:
    done = verified(make_world, tmp_path, Timed(1.5), Striped(refuses=True))
    assert [(one.name, one.found) for one in done.missing] == [("layout", "1 stripes")]
    text = verdict_text(done, ["./program"])
    assert text.startswith("improved, but not all of the advice was seen to take effect: ")
    assert "layout: 8 stripes was asked for, it is 1 stripes (the pool has one target)" in text
    told = as_json(done)
    assert told["all_took_effect"] is False
    assert told["missing"][0]["reason"] == "the pool has one target"
    fine = verified(make_world, tmp_path, Timed(1.5), Striped())
    assert fine.missing == ()
    assert as_json(fine)["all_took_effect"] is True


@pytest.mark.parametrize(("factor", "where"), [(2.0, "inside"), (1.3, "outside")])
def test_a_result_is_held_against_the_prediction(
    make_world: Make, tmp_path: Path, factor: float, where: str
) -> None:
    """A user had to compare the two by hand."""
    done = verified(make_world, tmp_path, Timed(factor), Striped())
    text = verdict_text(done, ["./program"])
    assert f"predicted × 2.00 (1.50 to 2.50): {where}; it is of I/O alone" in text
    assert as_json(done)["predicted"] == {
        "gain": 2.0,
        "low": 1.5,
        "high": 2.5,
        "is_of_io": True,
        "held": where == "inside",
    }


def test_a_prediction_is_of_the_part_of_the_run_that_is_measured() -> None:
    """I/O that is twice as fast makes a run of which it is a tenth 1.05 times as fast."""
    one = advice(stripe_count=8)
    tenth = replace(one, workload=replace(one.workload, seconds=60.0, run_seconds=600.0))
    told = prediction_of(tenth, of_whole_runs=True)
    assert told is not None
    assert told.gain == pytest.approx(1 / (0.9 + 0.1 / 2))
    assert told.low < told.gain < told.high < 1.07
    assert not told.is_of_io
    part = prediction_of(tenth, of_whole_runs=False)
    assert part == Prediction(gain=2.0, low=1.5, high=2.5)
    assert prediction_of(advice(), of_whole_runs=True) is None  # it keeps everything
    assert prediction_of(replace(one, gain=None), of_whole_runs=True) is None


@pytest.mark.parametrize("pattern", [None, "([0-9]+)"])
def test_a_program_that_hangs_is_ended(make_world: Make, pattern: str | None) -> None:
    """Without --rate or --time, verify waited for it for ever."""
    world = replace(make_world(), processes=ForegroundProcesses(grace_seconds=0.1))
    with pytest.raises(UsageError, match="--run-time"):
        Timer(world, pattern, None, 1)(["sleep", "30"], dict(os.environ))
    status, seconds = Timer(world, None, None, 30)(["true"], dict(os.environ))
    assert status == 0
    assert 0 < seconds < 30


@dataclass
class Hanging(Timed):
    """Runs as Timed, but the advised one of a pair hangs, and is ended."""

    hangs_in_pair: int = 1

    def __call__(self, words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, float]:
        status, seconds = super().__call__(words, environment)
        is_advised = "libforebay" in " ".join([*words, environment.get("LD_PRELOAD", "")])
        if is_advised and (self.runs + 1) // 2 == self.hangs_in_pair:
            raise UsageError("the program was ended after 1 s. Say --run-time.")
        return status, seconds


def test_a_run_that_hangs_in_a_later_pair_rolls_back(make_world: Make, tmp_path: Path) -> None:
    layouts = Striped()
    done = verified(make_world, tmp_path, Hanging(1.5, hangs_in_pair=3), layouts)
    assert (done.verification.pairs, layouts.count, done.undone) == (2, 1, True)
    assert "ended after 1 s" in done.trouble
    assert "rolled back: all is as it was before" in verdict_text(done, ["./program"])


def test_a_first_run_that_hangs_rolls_back(make_world: Make, tmp_path: Path) -> None:
    layouts = Striped()
    with pytest.raises(UsageError, match="ended after 1 s"):
        verified(make_world, tmp_path, Hanging(1.5), layouts)
    assert layouts.count == 1


@dataclass
class Stuck(Striped):
    """Layouts that are not restored at these times, counted from 0."""

    fails: Sequence[int] = ()
    restores: int = 0

    def set(self, path: Path, wanted: WantedLayout) -> LayoutChange:
        if wanted.stripe_count == 1:
            self.restores += 1
            if self.restores - 1 in self.fails:
                raise LayoutError("the file system does not answer.")
        return super().set(path, wanted)


def test_a_layout_that_was_not_restored_was_said_to_be_rolled_back(
    make_world: Make, tmp_path: Path
) -> None:
    layouts = Stuck(fails=range(2, 99))
    done = verified(make_world, tmp_path, Timed(0.6), layouts)
    assert (done.verification.pairs, layouts.count, done.undone) == (2, 8, False)
    assert done.trouble.count("does not answer") == 1
    assert f"`forebay layout set -S {MIB} -c 1 {tmp_path}`" in done.trouble
    assert "rolled back" not in verdict_text(done, ["./program"])
    assert as_json(done)["undone"] is False


def test_a_layout_that_was_not_restored_was_that_of_the_default_run(
    make_world: Make, tmp_path: Path
) -> None:
    layouts, seen = Stuck(fails=[0]), []

    def timed(words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, float]:
        seen.append(("libforebay" in environment.get("LD_PRELOAD", ""), layouts.count))
        return 0, 1.0

    with pytest.raises(LayoutError, match="does not answer"):
        verified(make_world, tmp_path, timed, layouts)
    assert (False, 8) not in seen
    assert layouts.count == 1


def test_a_layout_was_not_restored_after_a_run_that_failed(
    make_world: Make, tmp_path: Path
) -> None:
    layouts = Stuck(fails=[2])
    done = verified(make_world, tmp_path, Hanging(1.5, hangs_in_pair=3), layouts)
    assert (layouts.count, done.undone) == (1, True)
    assert "ended after 1 s" in done.trouble


def test_settings_that_are_worse_are_said_to_be_rolled_back(
    make_world: Make, tmp_path: Path
) -> None:
    done = verified(make_world, tmp_path, Timed(0.6), Striped())
    text = verdict_text(done, ["./program"])
    assert text.startswith("worse")
    assert "rolled back: all is as it was before" in text


def test_large_gains_are_known_after_six_pairs(make_world: Make, tmp_path: Path) -> None:
    timed = Timed(2.0)
    assert verified(make_world, tmp_path, timed, Striped()).verification.pairs == 6
    assert timed.runs == 12


def test_what_did_not_take_effect_at_all_did_not_improve_anything(
    make_world: Make, tmp_path: Path
) -> None:
    """The verdict was of the hour, and said "improved", status 0, as often as chance did."""
    only = advice(collective=False, stripe_count=8)
    done = verified(make_world, tmp_path, Timed(1.0), Striped(refuses=True), only)
    assert done.not_applied
    assert done.undone
    text = verdict_text(done, ["./program"])
    assert text.startswith("not applied: nothing of the advice was seen to take effect")
    assert "the pool has one target" in text
    assert as_json(done)["verdict"] == "not applied"
    assert status_of(done) == 5
    assert not verified(make_world, tmp_path, Timed(1.5), Striped(), only).not_applied


@pytest.mark.parametrize(
    ("calls", "verdict", "status"), [(4, "improved", 0), (0, "not applied", 5)]
)
def test_advice_that_keeps_everything_is_verified_as_what_forebay_takes_over(
    make_world: Make, tmp_path: Path, calls: int, verdict: str, status: int
) -> None:
    """`forebay report` named the command, and it said that there was nothing to verify."""
    done = verify_advice(
        VerifyRequest(
            advice=(advice(),),
            command=("mpiexec", "-n", "4", "./program"),
            directory=tmp_path,
            pairs_max=20,
            margin=0.05,
            seed=1,
        ),
        world_with(make_world, Striped(), record(write=Traffic(calls=calls))),
        RealFolders(),
        timed=Timed(1.5),
        told=lambda *_: None,
    )
    text = verdict_text(done, ["./program"])
    assert text.startswith(verdict)
    assert as_json(done)["verdict"] == verdict
    assert status_of(done) == status
    assert ("through Forebay, all settings kept" in text) is (calls > 0)
    assert ("forebay run -- COMMAND" in text) is (calls > 0)
    assert ("no collective call" in text) is (calls == 0)


def test_a_run_that_fails_ends_it_and_rolls_back(make_world: Make, tmp_path: Path) -> None:
    layouts = Striped()
    with pytest.raises(BenchError, match="status 3"):
        verified(make_world, tmp_path, Timed(2.0, fails_at=2), layouts)
    assert layouts.count == 1
    done = verified(make_world, tmp_path, Timed(2.0, fails_at=5), layouts)
    assert "status 3" in done.trouble
    assert done.verification.pairs == 2
    assert layouts.count == 1


def test_files_of_a_run_do_not_stay_for_the_next(make_world: Make, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    seen: list[set[str]] = []

    def timed(words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, float]:
        seen.append({one.name for one in tmp_path.iterdir()})
        (tmp_path / "result").write_text("x")
        return 0, 1.0 + 0.001 * len(seen)

    verified(make_world, tmp_path, timed, Striped())  # type: ignore[arg-type]
    assert all(one == {"mine"} for one in seen)
    assert {one.name for one in tmp_path.iterdir()} == {"mine"}


def test_both_go_first_equally_often() -> None:
    firsts = [first for first, _ in order(20, 7)]
    assert firsts.count(ComparedSide.A) == 10
    with pytest.raises(UsageError, match="--pairs 6"):
        order(5, 1)


def test_looking_often_makes_no_more_false_claims_than_is_said() -> None:
    """400 series without a difference; 5 % of them is 20, and 30 would be 4 deviations off."""
    generator = random.Random(11)
    wrong = 0
    for _ in range(400):
        a = [generator.lognormvariate(0, 0.3) for _ in range(20)]
        b = [generator.lognormvariate(0, 0.3) for _ in range(20)]
        for pairs in LOOKS:
            found = interim_test(a[:pairs], b[:pairs]).verdict
            if found is not AdviceVerdict.INCONCLUSIVE:
                wrong += found is not AdviceVerdict.EQUIVALENT
                break
    assert wrong <= 30


def test_a_longer_tail_is_seen() -> None:
    default = [1.0] * 12
    tail = interim_test(default, [0.7] * 7 + [3.0] * 5).tail
    assert tail.is_worse
    assert tail.ratio == 3
    assert not interim_test(default, [0.7] * 11 + [3.0]).tail.is_worse


def test_slow_runs_that_became_slower_are_no_improvement() -> None:
    """The verdict said "improved" where the exit status said worse."""
    found = interim_test([1.0] * 12, [0.7] * 7 + [3.0] * 5)
    faster = interim_test([1.0] * 20, [0.5] * 15 + [1.1] * 5)
    assert (faster.ratio.low or 0) > 1
    assert faster.tail.is_worse
    assert faster.verdict is AdviceVerdict.WORSE
    assert found.verdict is not AdviceVerdict.IMPROVED
    done = Verified(verification=faster, firsts=(), undone=True)
    assert as_json(done)["verdict"] == "worse"
    assert verdict_text(done, ["./program"]).startswith("worse: ")
    assert status_of(done) == 3


def test_looks_are_where_they_are_said_to_be() -> None:
    assert [pairs for pairs in range(1, 21) if is_look(pairs, 20)] == list(LOOKS)
    assert is_look(7, 7)


def test_numbers_are_found_in_what_a_program_prints() -> None:
    text = "write 12.5 x\nread 7\nwrite 13.5 y\n"
    assert measured_in(text, r"^write +([0-9.]+)") == 13.5
    with pytest.raises(UsageError, match="no number"):
        measured_in(text, "open ([0-9]+)")
    with pytest.raises(UsageError, match="cannot use"):
        measured_in(text, "(")


def test_the_page_holds_what_the_advice_says() -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from forebay_tuning.advise.model.ready import ready
    from forebay_tuning.advise.report.page import render as render_advice

    one = advice(stripe_count=8)
    page = render_advice([one], [ready(one, directory="/out", command="srun ./p")])
    assert "2.00 × as fast, predicted" in page
    assert "forebay layout set -c 8 /out" in page


def test_the_page_holds_what_the_verdict_says(make_world: Make, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from forebay_tuning.verify.report.page import render as render_verification

    done = verified(make_world, tmp_path, Timed(2.0), Striped())
    page = render_verification(done, ["./program", "<b>"])
    first, *_ = verdict_text(done, ["./program"]).splitlines()
    assert first in page
    assert page.count("<svg") == 2
    assert page.count("<tr>") == done.verification.pairs + 2
    assert "&lt;b&gt;" in page
    only = advice(collective=False, stripe_count=8)
    missing = verified(make_world, tmp_path, Timed(1.0), Striped(refuses=True), only)
    assert "Not seen to take effect" in render_verification(missing, ["./program"])
    nothing = replace(done, verification=None, trouble="a run failed")
    assert "a run failed" in render_verification(nothing, ["./program"])


def test_apply_ends_with_lines_for_a_job_script() -> None:
    run = RunReport(
        status=0, seconds=1.0, command=("./a",), record=None, jobs=(), files=(), warnings=(),
        reasons=(),
    )  # fmt: skip
    one = advice(stripe_count=4, processes=2)
    batch = ready(one, directory="/scratch/my run", command="mpiexec -n 4 ./a").batch
    text = applied_text(one, AppliedAdvice(run=run, effects=(), before=None), batch=batch)
    assert "\nFor a job script:\n  forebay layout set -c 4 '/scratch/my run'\n" in text
    assert text.endswith("--set cb_nodes=2 -- mpiexec -n 4 ./a")
    failed = AppliedAdvice(run=replace(run, status=3), effects=(), before=None)
    assert "job script" not in applied_text(one, failed, batch=batch)
