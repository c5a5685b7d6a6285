"""The HTML page of advice."""

from collections.abc import Sequence
from pathlib import Path

from forebay.adapters.bench_page import DrawnPages, write_page
from forebay.adapters.page_template import filled
from forebay.domain.tuning.advice import Advice
from forebay.domain.tuning.ready import Ready
from forebay.domain.units import counted, human_bytes, human_seconds

_TEMPLATE = Path(__file__).with_name("advice_page.html.j2")


class AdvicePages(DrawnPages):
    """Pages of advice."""

    def write(self, advice: Sequence[Advice], made: Sequence[Ready], path: Path) -> None:
        """One self-contained page."""
        write_page(render(advice, made), path)


def render(advice: Sequence[Advice], made: Sequence[Ready]) -> str:
    """The page as text."""
    from forebay.adapters.advice_pictures import draw_gain

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
        for one, its in zip(advice, made, strict=True)
    ]
    return filled(_TEMPLATE, parts=parts)


def _seconds(advice: Advice) -> str:
    if advice.seconds_now is None or advice.seconds_advised is None:
        return ""
    return f"{human_seconds(advice.seconds_now)} s → {human_seconds(advice.seconds_advised)} s"
