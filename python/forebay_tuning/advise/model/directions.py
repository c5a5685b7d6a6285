"""Advice on a program that writes and reads: a folder has one layout, and a program one set of
settings, so that what is advised for one direction holds for those after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forebay_tuning.advise.model.advice import Advice, Lever, Question, advise, levers
from forebay_tuning.model.evidence import Workload


def advise_all(questions: Sequence[Question]) -> tuple[Advice, ...]:
    """Advice on each of a program's directions, in their order. A direction gets no layout of its
    own if an earlier one got one for the same folder, and no settings if an earlier one got some;
    it has a note on that, and its prediction is for the earlier one's layout."""
    found: list[Advice] = []
    for one in questions:
        question, notes = _after(found, one)
        advice = advise(question)
        found.append(replace(advice, notes=(*advice.notes, *notes)))
    return tuple(found)


def sets_layout(advice: Advice) -> bool:
    """Whether a layout is advised."""
    return advice.settings.stripe_count is not None or advice.settings.stripe_bytes is not None


def has_settings(advice: Advice) -> bool:
    """Whether settings for collective calls (hints) are advised."""
    own = replace(advice.settings, stripe_count=None, stripe_bytes=None)
    return levers(advice.workload)["processes"] is Lever.SETTINGS and not own.is_empty


def _after(earlier: Sequence[Advice], question: Question) -> tuple[Question, tuple[str, ...]]:
    """The question with what earlier advice has decided as given, and notes for the user."""
    workload, allowed, notes = question.workload, question.allowed, []
    layout = next(
        (one for one in earlier if sets_layout(one) and _same_folder(one, workload)), None
    )
    if layout is not None:
        workload = replace(
            workload,
            stripe_count=layout.settings.stripe_count or workload.stripe_count,
            stripe_bytes=layout.settings.stripe_bytes or workload.stripe_bytes,
        )
        allowed -= {Lever.LAYOUT}
        notes.append(
            f"the layout is that advised for the program's {layout.workload.direction}s: a folder "
            "has one."
        )
    hints = next((one for one in earlier if has_settings(one)), None)
    if hints is not None:
        allowed -= {Lever.SETTINGS}
        notes.append(
            f"the settings are those advised for the program's {hints.workload.direction}s: a "
            "program has one set of them."
        )
    return replace(question, workload=workload, allowed=allowed), tuple(notes)


def _same_folder(earlier: Advice, workload: Workload) -> bool:
    """Whether both are for the same folder, as far as is known."""
    there = earlier.workload.directory
    return there is None or workload.directory is None or there == workload.directory
