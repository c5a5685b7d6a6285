"""The findings of `forebay doctor --site` as a table, to be pasted into a ticket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forebay.common.model.printable import printable
from forebay.common.report.text_table import aligned
from forebay.doctor.model.finding import DoctorFinding, Status, Topic, problems

_MARKS = {Status.GOOD: "ok", Status.NOTE: "note", Status.PROBLEM: "!!"}
_HEADS = ("", "what", "found")


def site_lines(findings: Sequence[DoctorFinding]) -> Iterator[str]:
    """One row for each finding, by topic; what to do stands below the finding."""
    for topic in Topic:
        found = [one for one in findings if one.topic is topic]
        if found:
            yield topic.value
            yield from aligned(list(_rows(found)), left={0, 1, 2}, indent="  ")
            yield ""
    count = problems(findings)
    yield "No problem found." if not count else f"{count} to repair (marked !!)."


def _rows(found: Sequence[DoctorFinding]) -> Iterator[tuple[str, str, str]]:
    yield _HEADS
    for one in found:
        yield (_MARKS[one.status], printable(one.subject), printable(one.detail))
        if one.remedy:
            yield ("", "", f"→ {printable(one.remedy)}")
