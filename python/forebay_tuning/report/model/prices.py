"""The price of opening files by a portrait, beside what it cost in a run."""

from __future__ import annotations

from dataclasses import replace

from forebay.common.model.units import counted, human_seconds
from forebay_tuning.model.metadata import MetadataRates, files_a_second
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.program_io import ProgramIo
from forebay_tuning.report.model.causes import OPENING
from forebay_tuning.report.model.claims import CauseKind
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis, Trouble

_ALIKE = 2.0
"""Ratio of the log's seconds and the portrait's up to which they are said to agree."""


def priced(diagnosis: ProgramDiagnosis, portrait: Portrait) -> ProgramDiagnosis:
    """`diagnosis` with the seconds that creating and opening the program's files takes by the
    portrait, where the run lost time by that."""
    rates, identity = portrait.metadata, portrait.identity
    whose = f"the portrait {identity.name} ({identity.date[:10]})"
    if rates is None:
        note = f"{whose} has no price of files: it was not measured. `forebay probe` does, now."
        return replace(diagnosis, notes=(*diagnosis.notes, note))
    troubles = tuple(
        _priced(one, diagnosis.program, rates, whose)
        if one.kind is CauseKind.METADATA and one.title == OPENING
        else one
        for one in diagnosis.troubles
    )
    return replace(diagnosis, troubles=troubles)


def _priced(trouble: Trouble, program: ProgramIo, rates: MetadataRates, whose: str) -> Trouble:
    creations = sum(one.files for one in program.files if one.write.bytes)
    opens = max(0, sum(one.opens for one in program.files) - creations)
    processes = _processes(program)
    seconds = creations / files_a_second(rates.creates, processes)
    seconds += opens / files_a_second(rates.opens, processes)
    if seconds <= 0:
        return trouble
    calls = f"{counted(creations, 'creation')} and {counted(opens, 'open')}"
    by = counted(processes, "process", "processes")
    detail = f"{trouble.detail} By {whose}, {calls} by {by} take {human_seconds(seconds)} s"
    return replace(
        trouble,
        detail=f"{detail}: {_judged(trouble.seconds / seconds)}.",
        seconds_by_portrait=seconds,
    )


def _processes(program: ProgramIo) -> int:
    """The number of ranks that open files at the same time, at most."""
    alone = len({one.rank for one in program.files if one.rank is not None})
    return max([alone, 1, *(one.ranks for one in program.files if one.rank is None)])


def _judged(times: float) -> str:
    if times > _ALIKE:
        return (
            f"this run took {times:.1f} × that, by other load, calls that are not needed, or "
            "another file system than the portrait's"
        )
    if times < 1 / _ALIKE:
        return f"this run took {times:.2f} × that; the portrait may be of another machine"
    return "so much files cost there, and only fewer of them would save it"
