"""The HTML page of a portrait: the five figures of the configuration study, and a table."""

import math
from pathlib import Path

from forebay.common.model.newer_python import zip_of
from forebay.common.model.units import counted, human_rate
from forebay.common.report.drawn_pages import DrawnPages, write_page
from forebay.common.report.page_template import filled
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.quantity import spell_seconds
from forebay_tuning.model.response import NAMES

_TEMPLATE = Path(__file__).with_name("page.html.j2")
_TIMES = {"call_time", "request_time", "lock_time"}
_PLAIN = {"interference_per_stream", "streams_free"}


class PortraitPages(DrawnPages):
    """The HTML pages of portraits."""

    def write(self, portrait: Portrait, path: Path) -> None:
        """Writes the portrait as one self-contained page."""
        write_page(render(portrait), path)


def render(portrait: Portrait) -> str:
    """The page's HTML."""
    from forebay_tuning.probe.report.pictures import PICTURES, draw_course

    pictures = [
        {"title": one.title, "caption": one.caption, "svg": one.draw(portrait)}
        for one in PICTURES
        if one.shows(portrait)
    ]
    pictures.append(
        {
            "title": "The course of probing",
            "caption": "The default's probes over time: what drifts, drifts for all.",
            "svg": draw_course(portrait),
        }
    )
    numbers = [
        (
            direction.value,
            name.replace("_", " "),
            _spelled(name, value)
            if choice.response.surface.is_identified(name)
            else "not identified by these probes",
            _interval(name, value, off),
        )
        for direction, choice in portrait.choices.items()
        for name, value, off in zip_of(
            NAMES,
            (getattr(choice.response.surface.physical, one) for one in NAMES),
            choice.response.surface.uncertain,
            strict=True,
        )
    ]
    identity = portrait.identity
    nodes, ranks = counted(identity.nodes, "node"), counted(identity.ranks_per_node, "rank")
    return filled(
        _TEMPLATE,
        portrait=portrait,
        pictures=pictures,
        numbers=numbers,
        machine=f"{nodes} × {ranks}, {counted(identity.targets, 'target')}",
    )


def _interval(name: str, value: float, off: float) -> str:
    low, high = value * math.exp(-2 * off), value * math.exp(2 * off)
    return f"{_spelled(name, low)} – {_spelled(name, high)}"


def _spelled(name: str, value: float) -> str:
    if name in _TIMES:
        return spell_seconds(float(f"{value:.3g}"))
    return f"{value:.3g}" if name in _PLAIN else human_rate(value)
