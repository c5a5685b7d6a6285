"""How the steps of `make test` count what runners print."""

import importlib.util
import sys
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("steps", Path(__file__).with_name("steps.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
steps = importlib.util.module_from_spec(_SPEC)
sys.modules["steps"] = steps
_SPEC.loader.exec_module(steps)


def test_ctest_closing_line() -> None:
    assert str(steps.counted("97% tests passed, 2 tests failed out of 60\n")) == (
        "58 passed, 2 failed"
    )
    assert str(steps.counted("100% tests passed, 0 tests failed out of 7\n")) == (
        "7 passed, 0 failed"
    )


def test_pytest_closing_line() -> None:
    assert str(steps.counted("12 passed in 0.31s\n")) == "12 passed, 0 failed"
    log = "==== 1 failed, 3 passed, 2 skipped, 1 error in 4.00s ====\n"
    assert str(steps.counted(log)) == "3 passed, 2 failed, 2 skipped"


def test_plain_lines_add_up() -> None:
    log = "3 passed, 0 failed\nnoise: 9 passed, 9 failed\n4 passed, 1 failed, 2 skipped\n"
    assert str(steps.counted(log)) == "7 passed, 1 failed, 2 skipped"


def test_step_without_a_count_is_one_test() -> None:
    assert str(steps.outcome_of("built\n", 0)) == "1 passed, 0 failed"
    assert str(steps.outcome_of("error\n", 2)) == "0 passed, 1 failed"


def test_failed_step_fails_even_when_its_runner_counted_no_failure() -> None:
    assert str(steps.outcome_of("5 passed, 0 failed\nthen it crashed\n", 139)) == (
        "5 passed, 1 failed"
    )


def test_a_step_brings_what_it_looks_at() -> None:
    names = [step.name for step in steps.chosen(["integration"])]
    assert names == ["packages", "venv", "release", "integration"]
    assert steps.chosen([]) == list(steps.STEPS)


def test_a_step_out_of_time_may_take_down_what_it_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOGS", tmp_path)
    script = tmp_path / "step.sh"
    script.write_text(f"trap 'touch {tmp_path}/down; exit 1' TERM EXIT\nsleep 60 & wait\n")
    log, status = steps.run(steps.Step("late", (str(script),), 1))
    assert status != 0
    assert "ran out of time" in log
    assert (tmp_path / "down").exists()
