"""The JSON of `forebay report` and `forebay verify` has the keys that schema/report.md and
schema/verify.md list, and so have the examples there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tuning_run_record_test import POOL
from tuning_scenes import advice, read_here
from tuning_verdict_test import path_of

from forebay.bench.model.comparison import ComparedSide
from forebay_tuning.apply.use_case import Effect
from forebay_tuning.model.targets import SickTarget
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis, diagnose, with_sick
from forebay_tuning.report.model.several import by_program, compare
from forebay_tuning.report.report.several import comparison_json, folder_json
from forebay_tuning.report.report.text import as_json as report_json
from forebay_tuning.verify.model import interim_test, prediction_of
from forebay_tuning.verify.report.text import as_json as verify_json
from forebay_tuning.verify.use_case.verify_advice import Verified

SCHEMA = Path(__file__).resolve().parents[2] / "schema"
SECONDS = (2.0, 2.02, 1.97, 2.05, 2.01, 1.99)


def keys(value: Any, at: str = "") -> Iterator[str]:
    """The paths of all keys: `a.b`, and `a[].b` for the objects of a list."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from keys(one, f"{at}.{name}" if at else name)
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for one in value:
            yield from keys(one, f"{at}[]")
    else:
        yield at


def documented(file: str, section: str) -> set[str]:
    """The keys in the first column of the table in a section, whose title has `section`."""
    parts = re.split("^#+ ", (SCHEMA / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    (part,) = [one for one in parts if section in one.partition("\n")[0]]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {key for row in rows for key in re.findall("`([^`]+)`", row)}


def example(name: str) -> Any:
    return json.loads((SCHEMA / "examples" / name).read_text(encoding="utf-8"))


def reported() -> ProgramDiagnosis:
    """A report with something of everything."""
    found = diagnose(read_here(path_of("case-tinycoll")))
    found = with_sick(found, (SickTarget(target=2, slower=3.0, files=4),))
    return replace(found, program=replace(found.program, pools=(POOL,)))


def verified(*, not_applied: bool = False) -> Verified:
    """A verification with something of everything: advice that makes runs twice as fast."""
    return Verified(
        verification=interim_test(SECONDS, [one / 2 for one in SECONDS]),
        firsts=(ComparedSide.A, ComparedSide.B) * 3,
        undone=False,
        missing=(Effect(name="layout", wanted="8 stripes", found=None, reason="it is full"),),
        not_applied=not_applied,
        predicted=prediction_of(advice(stripe_count=8), of_whole_runs=True),
    )


def test_a_report_has_the_keys_of_the_schema() -> None:
    found = report_json(reported())
    assert documented("report.md", "`forebay.report/1`") == {
        "pools" if one.startswith("pools") else one for one in keys(found)
    }


def test_a_pool_in_a_report_is_that_of_a_record() -> None:
    text = (SCHEMA / "record.md").read_text(encoding="utf-8")
    (pool,) = report_json(reported())["pools"]
    names = {name.rpartition(".")[2] for name in keys(pool)}
    assert {one for one in names if f"`{one}`" not in text} == set()


def test_a_comparison_and_a_folder_have_the_keys_of_the_schema() -> None:
    both = comparison_json(compare(reported(), reported()))
    assert set(keys(both)) == documented("report.md", "`forebay.report.comparison/1`")
    assert by_program([reported()])
    folder = folder_json([reported()], ["a log that cannot be read"])
    assert set(keys(folder)) == documented("report.md", "`forebay.report.folder/1`")


@pytest.mark.parametrize("not_applied", [False, True])
def test_a_verification_has_the_keys_of_the_schema(not_applied: bool) -> None:
    listed = documented("verify.md", "`forebay.verify/1`") - {"predicted"}
    told = verify_json(verified(not_applied=not_applied))
    assert set(keys(told)) == listed
    assert told["predicted"]["held"] is (None if not_applied else True)


def test_the_examples_of_the_schema_have_its_keys() -> None:
    report = report_json(diagnose(read_here(path_of("case-tinycoll"))))
    assert set(keys(example("report-1.json"))) == set(keys(report))
    assert set(keys(example("verify-1.json"))) == set(keys(verify_json(verified())))
