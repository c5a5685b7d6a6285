"""Compares the diagnoses of two runs, and ranks the programs of many logs by their losses."""

from __future__ import annotations

from collections.abc import Sequence

from forebay.common.model.frozen import frozen
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis


@frozen
class Change:
    """One cause in both runs: the seconds that it cost, 0 if a run does not have it."""

    kind: str
    title: str
    before: float
    after: float


@frozen
class DiagnosisComparison:
    """Two runs of a program, and how their causes changed."""

    before: ProgramDiagnosis
    after: ProgramDiagnosis
    changes: tuple[Change, ...]

    @property
    def times(self) -> float:
        """The speed-up of the later run; 0 if the length of a run is not known."""
        a, b = self.before.program.seconds, self.after.program.seconds
        return a / b if a > 0 and b > 0 else 0.0

    @property
    def differs(self) -> bool:
        """Whether ranks or bytes differ so much that these may be different programs."""
        a, b = self.before.program, self.after.program
        return a.ranks != b.ranks or not 0.5 <= (a.bytes + 1) / (b.bytes + 1) <= 2


def compare(before: ProgramDiagnosis, after: ProgramDiagnosis) -> DiagnosisComparison:
    """The comparison, cause by cause, the largest first."""
    first = {one.kind.value: one for one in before.troubles}
    second = {one.kind.value: one for one in after.troubles}
    changes = [
        Change(
            kind=kind,
            title=(first.get(kind) or second[kind]).title,
            before=first[kind].seconds if kind in first else 0.0,
            after=second[kind].seconds if kind in second else 0.0,
        )
        for kind in dict.fromkeys((*first, *second))
    ]
    changes.sort(key=lambda one: -max(one.before, one.after))
    return DiagnosisComparison(before=before, after=after, changes=tuple(changes))


@frozen
class ProgramLosses:
    """All logs of one program. Hours are those of all ranks; `first` is the costliest cause."""

    name: str
    runs: int
    hours: float
    hours_io: float
    hours_lost: float
    first: str
    kind: str


def by_program(found: Sequence[ProgramDiagnosis]) -> tuple[ProgramLosses, ...]:
    """The logs grouped by program; the program that loses most comes first."""
    groups: dict[str, list[ProgramDiagnosis]] = {}
    for one in found:
        groups.setdefault(_name(one), []).append(one)
    losses = [_losses(name, same) for name, same in groups.items()]
    return tuple(sorted(losses, key=lambda one: (-one.hours_lost, -one.hours_io, one.name)))


def _name(one: ProgramDiagnosis) -> str:
    words = one.program.command.split()
    return words[0].rpartition("/")[2] if words else one.program.source


def _losses(name: str, same: Sequence[ProgramDiagnosis]) -> ProgramLosses:
    causes: dict[str, float] = {}
    titles: dict[str, str] = {}
    for one in same:
        for trouble in one.troubles:
            kind = trouble.kind.value
            causes[kind] = causes.get(kind, 0.0) + _hours(one, trouble.seconds)
            titles.setdefault(kind, trouble.title)
    worst = max(causes, key=lambda kind: causes[kind], default="")
    return ProgramLosses(
        name=name,
        runs=len(same),
        hours=sum(_hours(one, one.program.seconds) for one in same),
        hours_io=sum(_hours(one, one.program.seconds_io) for one in same),
        hours_lost=sum(_hours(one, one.seconds_lost) for one in same),
        first=titles.get(worst, "no cause found"),
        kind=worst or "none",
    )


def _hours(one: ProgramDiagnosis, seconds: float) -> float:
    return seconds * one.program.ranks / 3600
