"""Tests how the steps of `make test` run, and what is printed about them."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from ci import steps
from ci.results import Count, Outcome, Result, count


def test_step_without_a_count_is_one_test() -> None:
    assert str(steps.outcome_of("built\n", [], 0)) == "1 passed, 0 failed"
    assert str(steps.outcome_of("error\n", [], 2)) == "0 passed, 1 failed"


def test_failed_step_fails_even_when_its_runner_counted_no_failure() -> None:
    assert str(steps.outcome_of("5 passed, 0 failed\nthen it crashed\n", [], 139)) == (
        "5 passed, 1 failed"
    )
    passed = [Result("a", 0, Outcome.PASSED)]
    assert str(steps.outcome_of("", passed, 139)) == "1 passed, 1 failed"


def test_results_count_more_than_what_a_log_says() -> None:
    passed = [Result("a", 0, Outcome.PASSED)]
    assert steps.outcome_of("9 passed, 0 failed\n", passed, 0) == count(passed)


@pytest.mark.parametrize("all_steps", [steps.TEST, steps.TEST_ALL])
def test_a_step_brings_what_it_looks_at(all_steps: tuple[steps.Step, ...]) -> None:
    names = [step.name for step in steps.chosen(all_steps, ["integration"])]
    assert names == ["packages", "venv", "release", "integration"]
    assert steps.chosen(all_steps, []) == list(all_steps)


def test_test_all_has_every_step_of_test() -> None:
    assert {step.name for step in steps.TEST} <= {step.name for step in steps.TEST_ALL}


def test_steps_are_scripts_that_can_be_run() -> None:
    for step in (*steps.TEST, *steps.TEST_ALL):
        assert (steps.ROOT / step.command[0]).stat().st_mode & 0o100, step.command


def waiting_script(folder: Path) -> Path:
    """A script that waits until `folder`/p is opened, and makes `folder`/down when it is ended."""
    script = folder / "step.sh"
    script.write_text(f"trap 'touch {folder}/down; exit 1' TERM EXIT\nread -r _ < {folder}/p\n")
    os.mkfifo(folder / "p")
    return script


def test_a_step_out_of_time_may_take_down_what_it_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOGS", tmp_path)
    script = waiting_script(tmp_path)
    ended = steps.Runs().run(steps.Step("late", (str(script),), 1))
    assert ended.status != 0
    assert "ran out of time" in ended.log
    assert (tmp_path / "down").exists()


def test_a_run_that_is_stopped_leaves_no_step_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOGS", tmp_path)
    script = waiting_script(tmp_path)

    def interrupted(process: subprocess.Popen[bytes], seconds_max: float) -> float:
        monkeypatch.undo()
        with (tmp_path / "p").open("w"):  # blocks until the script runs
            raise KeyboardInterrupt

    monkeypatch.setattr(steps, "processor_seconds", interrupted)
    with pytest.raises(KeyboardInterrupt):
        steps.Runs().run(steps.Step("long", (str(script),), 60))
    assert (tmp_path / "down").exists()


def test_results_of_the_run_before_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOGS", tmp_path)
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "old.xml").write_text("<testsuite><testcase name='old'/></testsuite>")
    script = tmp_path / "step.sh"
    script.write_text(
        "echo \"<testsuite><testcase name='new'/></testsuite>\" > $FOREBAY_RESULTS/x.xml"
    )
    ended = steps.Runs().run(steps.Step("again", (str(script),), 60))
    assert ([one.name for one in ended.found], ended.status) == (["new"], 0), ended.log


def run_main(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> int:
    """Runs main() with steps of these names, each a script with the given text."""
    made = []
    for name, text in scripts.items():
        (folder / f"{name}.sh").write_text(text)
        made.append(steps.Step(name, (str(folder / f"{name}.sh"),), 60))
    monkeypatch.setattr(steps, "LOGS", folder / "logs")
    monkeypatch.setattr(steps, "TEST", tuple(made))
    return steps.main([])


def test_the_end_says_steps_slowest_tests_and_the_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = "".join(f"<testcase name='t{i}' time='{i}'/>" for i in range(12))
    report = f'echo "<testsuite>{cases}</testsuite>" > $FOREBAY_RESULTS/x.xml'
    assert run_main(tmp_path, monkeypatch, first=report, second="echo 2 passed, 0 failed") == 0
    end = capsys.readouterr().out.rpartition("\n\nfirst ")[2].splitlines()
    said = re.fullmatch(
        r"\d+ s \( *\d+ s of processor\) +fine +12 passed, 0 failed", end[0].strip()
    )
    assert said is not None, end[0]
    slowest = [line.split()[-1] for line in end if line.startswith("   ") and " s  t" in line]
    assert slowest == [f"t{i}" for i in range(11, 1, -1)]
    assert end[-1] == "14 passed, 0 failed"


def test_processor_time_of_a_step_and_its_children_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOGS", tmp_path)
    script = tmp_path / "busy.sh"
    script.write_text("(for ((i = 0; i < 100000; i++)); do :; done); exit 3")
    ended = steps.Runs().run(steps.Step("busy", (str(script),), 60))
    assert ended.status == 3
    assert ended.processor > 0


def test_an_idle_step_and_its_children_run_where_nobody_else_wants_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOGS", tmp_path)
    script = tmp_path / "idle.sh"
    script.write_text("sleep 0.2; chrt --pid $$; bash -c 'chrt --pid $$'; env")
    ended = steps.Runs().run(steps.Step("idle", (str(script),), 60, beside=True, idle=True))
    assert ended.log.count("SCHED_IDLE") == 2, ended.log
    assert f"FOREBAY_TESTS_SLOWER={steps.IDLE_SLOWER}" in ended.log.splitlines()


def test_a_failure_is_named_and_is_the_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = (
        "echo \"<testsuite><testcase name='bad'><failure/></testcase></testsuite>\" "
        "> $FOREBAY_RESULTS/x.xml; exit 1"
    )
    assert run_main(tmp_path, monkeypatch, first=report, second="exit 0") == 1
    end = capsys.readouterr().out.splitlines()
    assert end[-1] == "1 passed, 1 failed"
    assert "  bad" in end


def test_steps_run_beside_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "p")
    (tmp_path / "a.sh").write_text(f"read -r _ < {tmp_path}/p")
    (tmp_path / "b.sh").write_text(f"echo there > {tmp_path}/p")
    monkeypatch.setattr(steps, "LOGS", tmp_path / "logs")
    report = steps.Report()
    one = steps.Step("one", (str(tmp_path / "a.sh"),), 60)
    steps.run_all([one, steps.Step("two", (str(tmp_path / "b.sh"),), 60, beside=True)], report)
    assert str(report.total) == "2 passed, 0 failed"


def test_a_run_that_is_stopped_leaves_nothing_running_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOGS", tmp_path)
    script = waiting_script(tmp_path)

    def interrupted(*_: object) -> bool:
        with (tmp_path / "p").open("w"):  # blocks until the other step runs
            raise KeyboardInterrupt

    turn = steps.run_in_turn

    def one_interrupted(chosen: list[steps.Step], *rest: object) -> bool:
        if chosen and not chosen[0].beside:
            return interrupted()
        return turn(chosen, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(steps, "run_in_turn", one_interrupted)
    with pytest.raises(KeyboardInterrupt):
        steps.run_all(
            [
                steps.Step("short", (str(script),), 60),
                steps.Step("long", (str(script),), 60, beside=True),
            ],
            steps.Report(),
        )
    assert (tmp_path / "down").exists()


def test_sums() -> None:
    assert Count(1, 2, 3) + Count(1, 1, 1) == Count(2, 3, 4)
