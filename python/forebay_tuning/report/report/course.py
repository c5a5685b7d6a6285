"""A time line of a run through the pool as text: a row of columns for each quantity."""

from __future__ import annotations

from collections.abc import Iterator

from forebay.common.model.printable import printable
from forebay.common.model.units import counted, human_bytes, human_rate, human_seconds
from forebay.common.report.sparkline import columns
from forebay_tuning.model.course import PoolCourse, binned

_COLUMNS = 40
_COURSES_SHOWN = 3
"""The last runs of a record, which may have many."""
WHAT_IS_DROPPED = "counts of closed files were dropped: what is shown is less than what there was"


def shown_courses(courses: tuple[PoolCourse, ...]) -> tuple[PoolCourse, ...]:
    """The courses that text and page show."""
    return courses[-_COURSES_SHOWN:]


def course_lines(courses: tuple[PoolCourse, ...], *, is_ascii: bool) -> Iterator[str]:
    """The time lines of the last runs; nothing if there are none."""
    shown = shown_courses(courses)
    if len(shown) < len(courses):
        yield ""
        yield f"The last {len(shown)} of {counted(len(courses), 'run')} through the pool:"
    for course in shown:
        yield ""
        if len(courses) > 1:
            yield printable(course.command)[:200]
        yield from _lines(course, is_ascii=is_ascii)
        if (node := course.of_most_waited) is not None:
            yield from _lines(node, is_ascii=is_ascii)


def whose_pool(course: PoolCourse) -> str:
    """Which pool's course it is, in words."""
    if course.node is not None:
        return f"through the pool of {printable(course.node.host)}, the node that waited longest"
    if course.pool.nodes > 1:
        return f"through the pools of {counted(course.pool.nodes, 'node')}"
    return "through the pool"


def _lines(course: PoolCourse, *, is_ascii: bool) -> Iterator[str]:
    found = binned(course, _COLUMNS)
    each = course.seconds_shown / _COLUMNS
    yield (
        f"{whose_pool(course)}, in {_COLUMNS} columns of {human_seconds(each)} s "
        "(the highest of each line is full):"
    )
    deposited, stored = [one.deposited for one in found], [one.stored for one in found]
    outstanding = [float(one.outstanding) for one in found]
    waited = [one.waited_seconds for one in found]
    most = human_bytes(round(max(outstanding)))
    of = f" of {human_bytes(course.cap)}" if course.cap else ""
    rows = (
        ("deposits", deposited, f"at most {human_rate(max(deposited))}"),
        ("file system", stored, f"at most {human_rate(max(stored))}"),
        ("in memory", outstanding, f"at most {most}{of}"),
        ("waited so far", waited, f"{human_seconds(waited[-1])} s, all processes"),
    )
    for label, values, told in rows:
        yield f"  {label:<14}{columns(values, is_ascii=is_ascii)}  {told}"
    end = min(_COLUMNS - 1, int(course.seconds / each))
    yield f"  {'':<14}{' ' * end}{'^'} the program's end"
    if course.pool.files_dropped:
        yield f"  ({WHAT_IS_DROPPED})"
