"""Advice on programs that write and read, and on the programs of all logs: it can be followed, and
what is advised for one direction does not contradict the other's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tuning_advice_test import EVERYTHING, check_possible, portrait, writers
from tuning_scenes import darshan_logs, read_here
from tuning_verdict_test import LABELS, path_of

from forebay_tuning.advise.model.advice import Advice, Lever, Question, advise
from forebay_tuning.advise.model.directions import advise_all
from forebay_tuning.advise.model.ready import hints_of, ready, settings_of, wanted_layout
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.program_workloads import workloads_of


@pytest.mark.parametrize("known", [None, "portrait"])
def test_reading_got_another_layout_and_other_hints_than_writing(known: str | None) -> None:
    """For the same folder: the second layout undid the first one."""
    both = [
        Question(
            workload=writers(direction=one, collective=True, directory="/scratch", seconds=600.0),
            portrait=one_for_both() if known else None,
        )
        for one in Direction
    ]
    alone = advise(both[1])
    assert alone.settings.stripe_count is not None
    written, read = advise_all(both)
    assert written == advise(both[0])
    assert read.settings.stripe_count is None
    assert read.workload.stripe_count == written.settings.stripe_count
    assert any("the layout is that advised for the program's writes" in one for one in read.notes)
    check_together((written, read))
    elsewhere = replace(both[1].workload, directory="/input")
    assert advise_all([both[0], replace(both[1], workload=elsewhere)])[1].settings.stripe_count


def one_for_both() -> Portrait:
    """The portrait, which reads as it writes."""
    known = portrait()
    write = known.choices[Direction.WRITE]
    return replace(known, choices=dict.fromkeys(Direction, write))


@pytest.mark.parametrize("with_portrait", [False, True])
def test_advice_on_every_log_that_comes_with_darshan_can_be_followed(with_portrait: bool) -> None:
    assert sum(check_log(path, portrait() if with_portrait else None) for path in darshan_logs())


@pytest.mark.parametrize("with_portrait", [False, True])
@pytest.mark.parametrize("name", LABELS)
def test_advice_on_every_labelled_log_can_be_followed(name: str, with_portrait: bool) -> None:
    check_log(path_of(name), portrait() if with_portrait else None)


def check_log(path: Path, known: Portrait | None) -> int:
    """Checks the advice on the program of a log. Returns how many directions it has."""
    targets = known.identity.targets if known else 0
    workloads = workloads_of(read_here(path), nodes=2)
    for allowed in (frozenset({Lever.LAYOUT, Lever.SETTINGS}), EVERYTHING):
        found = advise_all(
            [Question(workload=one, portrait=known, allowed=allowed) for one in workloads]
        )
        for one in found:
            check_possible(one, targets)
            assert ready(one, directory="/out", command="./program")
        check_together(found)
    return len(workloads)


def check_together(found: Sequence[Advice]) -> None:
    """A folder gets one layout at most, and the program one file of settings and of hints."""
    folders = [one.workload.directory for one in found if wanted_layout(one).says_something]
    assert len(folders) == len(set(folders))
    for values in (settings_of, hints_of):
        names = [name for one in found for name in values(one) if not name.startswith("striping")]
        assert len(names) == len(set(names))
