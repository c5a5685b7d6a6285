"""Tests which entries count as tests in the results of pytest, ctest and the scripts."""

from pathlib import Path

import pytest

from ci.results import Outcome, Result, count, read, said, slowest

SHARD = """<testsuite><testcase name="engine.2_of_12" classname="engine.2_of_12" time="9"
status="{status}">{failure}<system-out>[ RUN      ] Seeds/Engine.Writes/3
[       OK ] Seeds/Engine.Writes/3 (1500 ms)
[ RUN      ] Seeds/Engine.Writes/15
{end}</system-out></testcase></testsuite>"""


def results(folder: Path, text: str) -> list[Result]:
    (folder / "x.xml").write_text(text)
    return read(folder)


def test_pytest_results(tmp_path: Path) -> None:
    found = results(
        tmp_path,
        """<testsuites><testsuite>
        <testcase classname="tests.suite.programs_test" name="test_a[views-mpich402-3]" time="1.5"/>
        <testcase classname="x" name="b"><failure message="no"/></testcase>
        <testcase classname="x" name="c"><error message="no"/></testcase>
        <testcase classname="x" name="d"><skipped message="why"/></testcase>
        </testsuite></testsuites>""",
    )
    assert str(count(found)) == "1 passed, 2 failed, 1 skipped"
    assert found[0].name == "programs_test:test_a[views-mpich402-3]"


def test_a_shard_counts_its_cases(tmp_path: Path) -> None:
    end = "[       OK ] Seeds/Engine.Writes/15 (20 ms)"
    found = results(tmp_path, SHARD.format(status="run", failure="", end=end))
    assert found == [
        Result("engine:Seeds/Engine.Writes/3", 1.5, Outcome.PASSED),
        Result("engine:Seeds/Engine.Writes/15", 0.02, Outcome.PASSED),
    ]


@pytest.mark.parametrize(
    "end",
    [
        "[  FAILED  ] Seeds/Engine.Writes/15, where GetParam() = 15 (20 ms)",
        "==1==ERROR: AddressSanitizer: heap-use-after-free",
    ],
)
def test_a_shard_names_the_case_that_failed_or_died(tmp_path: Path, end: str) -> None:
    found = results(tmp_path, SHARD.format(status="fail", failure="<failure/>", end=end))
    assert [(one.name, one.outcome) for one in found] == [
        ("engine:Seeds/Engine.Writes/3", Outcome.PASSED),
        ("engine:Seeds/Engine.Writes/15", Outcome.FAILED),
    ]


def test_other_cases_of_ctest_are_one_test(tmp_path: Path) -> None:
    found = results(
        tmp_path,
        """<testsuite><testcase name="m.3_ranks" classname="m.3_ranks" time="2" status="run">
        <system-out>[       OK ] A.B (1 ms)</system-out></testcase></testsuite>""",
    )
    assert found == [Result("m.3_ranks", 2.0, Outcome.PASSED)]


def test_a_report_that_was_not_written_counts_nothing(tmp_path: Path) -> None:
    assert results(tmp_path, "") == []


def test_plain_lines_add_up() -> None:
    log = "3 passed, 0 failed\nnoise: 9 passed, 9 failed\n4 passed, 1 failed, 2 skipped\n"
    assert str(said(log)) == "7 passed, 1 failed, 2 skipped"


def test_slowest_first() -> None:
    found = [Result("a", 1, Outcome.PASSED), Result("b", 12.34, Outcome.FAILED)]
    assert slowest(found, 1) == ["    12.3 s  b"]
