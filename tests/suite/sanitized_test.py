"""The judge of sanitizers' reports: what a process wrote where it was told to fails its test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from suite import sanitized
from suite.verdict import Failed, ensure

REPORT = 'echo "data race of $1" > "$(echo "$TSAN_OPTIONS" | sed s/.*log_path=//).77"'


def _report() -> None:
    subprocess.run(["sh", "-c", REPORT, "sh", "two threads"], check=True)


def test_a_report_fails_a_test_that_has_passed() -> None:
    with (
        pytest.raises(Failed, match=r"reports.*\n.*data race of two threads"),
        sanitized.judged("judged"),
    ):
        _report()


def test_a_report_is_told_with_what_failed() -> None:
    def fails() -> None:
        with sanitized.judged("judged"):
            _report()
            raise Failed("other bytes")

    with pytest.raises(Failed, match="other bytes") as caught:
        fails()
    ensure("data race" in "".join(caught.value.__notes__), "the report is not told")


def test_a_note_about_a_programs_own_stack_is_none() -> None:
    with sanitized.judged("judged"):
        folder = os.environ["TSAN_OPTIONS"].rpartition("log_path=")[2]
        Path(f"{folder}.77").write_text(f"==77=={sanitized.ON_ANOTHER_STACK}: stack type: default")
    with pytest.raises(Failed), sanitized.judged("judged"):
        Path(f"{folder}.77").write_text(f"{sanitized.ON_ANOTHER_STACK}\nERROR: AddressSanitizer")


def test_no_report_is_fine_and_the_environment_is_as_before() -> None:
    before = dict(os.environ)
    with sanitized.judged("judged"):
        ensure(os.environ["ASAN_OPTIONS"] != before.get("ASAN_OPTIONS"), "nothing was set")
    ensure({**os.environ} == {**dict.fromkeys(sanitized.VARIABLES, ""), **before}, "not as before")
