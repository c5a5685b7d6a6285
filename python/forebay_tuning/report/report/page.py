"""The HTML page of a report: the causes, I/O over time, sizes of calls, ranks and targets."""

from pathlib import Path
from textwrap import shorten

from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay.common.report.drawn_pages import DrawnPages, write_page
from forebay.common.report.page_template import filled
from forebay_tuning.model.course import PoolCourse
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis
from forebay_tuning.report.report.course import WHAT_IS_DROPPED, shown_courses, whose_pool
from forebay_tuning.report.report.text import length_text, pool_lines

_TEMPLATE = Path(__file__).with_name("page.html.j2")
_FILES_SHOWN = 40
_TITLE_MAX = 80
_UNKNOWN = "–"


class ReportPages(DrawnPages):
    """The HTML pages of reports."""

    def write(self, diagnosis: ProgramDiagnosis, path: Path) -> None:
        """Writes the report as one self-contained page."""
        write_page(render(diagnosis), path)


def _course_title(course: PoolCourse, *, is_one_of_several: bool) -> str:
    """The page begins with the command, so a title needs none where there is one run."""
    whose = whose_pool(course)
    title = whose[:1].upper() + whose[1:]
    if not is_one_of_several:
        return title
    return f"{title}: {shorten(course.command, _TITLE_MAX, placeholder=' …')}"


def _course_caption(course: PoolCourse) -> str:
    pool = course.pool
    cap = f" of {human_bytes(course.cap)}" if course.cap else ""
    dropped = f" {WHAT_IS_DROPPED.capitalize()}." if pool.files_dropped else ""
    return (
        "The dashed line is the program's end; what is behind it was written out meanwhile. At "
        f"most {human_bytes(max(one.outstanding for one in course.samples))}{cap} were in memory. "
        f"A wait is counted when it is over. {counted(len(course.samples), 'sample')}; rates are "
        f"means between two of them.{dropped}"
    )


def _known(size: int) -> str:
    return human_bytes(size) if size else _UNKNOWN


def render(diagnosis: ProgramDiagnosis) -> str:
    """The page's HTML."""
    from forebay_tuning.report.report.pictures import PICTURES, draw_course

    program = diagnosis.program
    several = len(program.courses) > 1
    courses = [
        {
            "title": _course_title(one, is_one_of_several=several),
            "caption": _course_caption(one),
            "svg": draw_course(one),
        }
        for course in shown_courses(program.courses)
        for one in (course, course.of_most_waited)
        if one is not None
    ]
    pictures = courses + [
        {"title": title, "caption": caption, "svg": svg}
        for title, caption, draw in PICTURES
        if (svg := draw(diagnosis))
    ]
    shown = sorted(program.files, key=lambda one: -one.seconds)[:_FILES_SHOWN]
    rows = [
        (
            one.path,
            str(one.ranks),
            human_bytes(one.write.bytes),
            human_bytes(one.read.bytes),
            _known(one.write.usual_transfer or one.read.usual_transfer),
            human_seconds((one.write.seconds + one.read.seconds) / one.ranks),
            human_seconds(one.seconds_meta / one.ranks),
            _UNKNOWN if one.stripe_count is None else str(one.stripe_count),
        )
        for one in shown
    ]
    troubles = [
        (one.title, one.detail, one.action, human_seconds(one.seconds), one.proof)
        for one in diagnosis.troubles
    ]
    return filled(
        _TEMPLATE,
        diagnosis=diagnosis,
        pictures=pictures,
        rows=rows,
        troubles=troubles,
        ranks=counted(program.ranks, "rank"),
        seconds=length_text(program.seconds),
        pools=[line for pool in program.pools for line in pool_lines(pool)],
        left=max(0, program.file_count - sum(one.files for one in shown)),
    )
