"""Prints the comparison of two logs, and the summary of a folder of logs."""

from collections.abc import Sequence
from typing import Any

from forebay.common.model.printable import printable
from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay.common.report.output import plain
from forebay.common.report.text_table import aligned
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis
from forebay_tuning.report.model.several import DiagnosisComparison, by_program

_SHOWN = 30


def comparison_text(both: DiagnosisComparison) -> str:
    """The comparison as text for people."""
    before, after = both.before.program, both.after.program
    rows = [
        ("", "before", "after"),
        ("run, s", human_seconds(before.seconds), human_seconds(after.seconds)),
        ("I/O, s", human_seconds(before.seconds_io), human_seconds(after.seconds_io)),
        ("ranks", str(before.ranks), str(after.ranks)),
        ("moved", human_bytes(before.bytes), human_bytes(after.bytes)),
        *(
            (one.title[:60], human_seconds(one.before), human_seconds(one.after))
            for one in both.changes
        ),
    ]
    lines = [_speed(both.times), ""]
    lines += aligned(rows, left={0})
    if both.differs:
        lines += ["", "they differ in ranks or bytes: these may be different programs"]
    return "\n".join(lines)


def _speed(times: float) -> str:
    if times <= 0:
        return "how long a run was is not known, so that they cannot be compared by it"
    return f"the later run was × {times:.2f} as fast"


def comparison_json(both: DiagnosisComparison) -> Any:
    """The comparison in the schema forebay.report.comparison/1."""
    return {
        "schema": "forebay.report.comparison/1",
        "times_as_fast": both.times or None,
        "comparable": not both.differs,
        "before": _run(both.before),
        "after": _run(both.after),
        "changes": plain(both.changes),
    }


def _run(one: ProgramDiagnosis) -> Any:
    program = one.program
    return {
        "source": program.source,
        "ranks": program.ranks,
        "seconds": program.seconds,
        "seconds_io": program.seconds_io,
        "seconds_lost": one.seconds_lost,
        "bytes": program.bytes,
        "verdict": one.verdict,
    }


def folder_text(found: Sequence[ProgramDiagnosis]) -> str:
    """The programs of a folder of logs as text for people."""
    losses = by_program(found)
    rows = [("rank hours lost", "in I/O", "of all", "runs", "program", "what cost most")]
    rows += [
        (
            f"{one.hours_lost:.3g}",
            f"{one.hours_io:.3g}",
            f"{one.hours:.3g}",
            str(one.runs),
            printable(one.name)[:40],
            one.first[:80],
        )
        for one in losses[:_SHOWN]
    ]
    lines = aligned(rows, left={4, 5})
    if len(losses) > _SHOWN:
        lines.append(f"and {counted(len(losses) - _SHOWN, 'more program')}")
    return "\n".join(lines)


def folder_json(found: Sequence[ProgramDiagnosis], refused: Sequence[str]) -> Any:
    """The programs in the schema forebay.report.folder/1, with why logs could not be read."""
    return {
        "schema": "forebay.report.folder/1",
        "programs": plain(by_program(found)),
        "refused": list(refused),
    }
