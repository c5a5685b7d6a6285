"""The HTML page of advice."""

from collections.abc import Sequence
from pathlib import Path

from forebay.common.model.newer_python import zip_of
from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay.common.report.drawn_pages import DrawnPages, write_page
from forebay.common.report.page_template import filled
from forebay_tuning.advise.model.advice import Advice
from forebay_tuning.advise.model.ready import RenderedAdvice

_TEMPLATE = Path(__file__).with_name("page.html.j2")


class AdvicePages(DrawnPages):
    """The HTML pages of advice."""

    def write(self, advice: Sequence[Advice], made: Sequence[RenderedAdvice], path: Path) -> None:
        """Writes the advice as one self-contained page."""
        write_page(render(advice, made), path)


def render(advice: Sequence[Advice], made: Sequence[RenderedAdvice]) -> str:
    """The page's HTML."""
    from forebay_tuning.advise.report.pictures import draw_gain

    parts = [
        {
            "advice": one,
            "ready": its,
            "about": (
                f"{one.workload.direction} of {human_bytes(one.workload.bytes)} by "
                f"{counted(one.workload.ranks, 'rank')} on {counted(one.workload.nodes, 'node')}"
            ),
            "seconds": _seconds(one),
            "svg": "" if one.gain is None or one.keeps else draw_gain(one),
        }
        for one, its in zip_of(advice, made, strict=True)
    ]
    return filled(_TEMPLATE, parts=parts)


def _seconds(advice: Advice) -> str:
    if advice.seconds_now is None or advice.seconds_advised is None:
        return ""
    return f"{human_seconds(advice.seconds_now)} s → {human_seconds(advice.seconds_advised)} s"
