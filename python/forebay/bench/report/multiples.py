"""Small charts side by side, in which a colour always means the same: rates along an axis, and
distributions of latencies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from forebay.bench.model.result import Measurement
from forebay.bench.report.axes import (
    LINEAR_RANGE_MAX,
    logarithmic,
    logarithmic_height,
    plain_number,
)
from forebay.common.model.newer_python import zip_of
from forebay.common.report.drawing import SERIES, style, svg_of

PANELS_OPEN_MAX = 12
"""The most charts before the fold."""
_COLUMNS_MAX = 3
_POSITION_CELLS_MAX = 14
"""Longer names of positions become numbers, which the caption explains."""
_ROOM_ABOVE = 1.08
"""The end of an axis over its highest rate, whose dot is whole then."""
_LINE_STYLES = ("-", "--", ":")
Panel = tuple[str, Sequence[Measurement]]


def panels_of(measured: Sequence[Measurement]) -> list[Panel]:
    """The measurements by chart, in the order in which the charts are met."""
    found: dict[str, list[Measurement]] = {}
    for one in measured:
        found.setdefault(one.facet.panel, []).append(one)
    return list(found.items())


def _series(one: Measurement) -> str:
    return one.facet.series or one.name


Look = tuple[str, str]
"""Colour and style of a line."""


def _looks(measured: Sequence[Measurement]) -> Mapping[str, Look]:
    names = dict.fromkeys(_series(one) for one in measured)
    return {
        name: (
            SERIES[number % len(SERIES)],
            _LINE_STYLES[number // len(SERIES) % len(_LINE_STYLES)],
        )
        for number, name in enumerate(names)
    }


def _positions(measured: Sequence[Measurement]) -> list[str]:
    return list(dict.fromkeys(one.facet.position for one in measured))


def _are_numbered(positions: Sequence[str]) -> bool:
    return any(len(one) > _POSITION_CELLS_MAX for one in positions)


def named_as_on_the_axis(
    shown: Sequence[Measurement], measured: Sequence[Measurement]
) -> Sequence[Measurement]:
    """The measurements of `shown`; where the axis of all that was `measured` has numbers, they have
    these in their names."""
    positions = _positions(measured)
    if not _are_numbered(positions):
        return shown
    numbers = [1 + positions.index(one.facet.position) for one in shown]
    return [
        replace(one, name=f"{one.facet.panel} {_series(one)} {number}")
        for one, number in zip_of(shown, numbers, strict=True)
    ]


def positions_text(measured: Sequence[Measurement]) -> str:
    """The meaning of the numbers on the axis; empty if there are none."""
    positions = _positions(measured)
    if not _are_numbered(positions):
        return ""
    told = "; ".join(f"{number}: {one}" for number, one in enumerate(positions, start=1))
    return f"On the axis, {told}."


def draw_multiples(panels: Sequence[Panel], measured: Sequence[Measurement]) -> str:
    """A chart for each panel: rates along the axis, a line for each series. Looks and positions are
    those of all that was `measured`; a chart has no places for positions that it lacks."""
    known, looks = _positions(measured), _looks(measured)
    numbers = _are_numbered(known)
    figure, places = _grid(panels, looks)
    for axes, (title, members) in zip_of(places, panels, strict=True):
        positions = sorted(_positions(members), key=known.index)
        names = [str(1 + known.index(one)) if numbers else one for one in positions]
        for name, (colour, line) in looks.items():
            mine = [one for one in members if _series(one) == name]
            at = [positions.index(one.facet.position) for one in mine]
            medians = [one.spread.median for one in mine]
            axes.plot(at, medians, color=colour, ls=line, lw=1.4)
            for place, one in zip_of(at, mine, strict=True):
                axes.scatter([place] * len(one.rates), one.rates, color=colour, s=10, zorder=3)
        turned = len("".join(names)) > 24
        axes.set_xticks(range(len(names)), names, fontsize=7, rotation=30 if turned else 0)
        axes.set_xlim(-0.4, len(names) - 0.6)
        axes.set_xlabel(members[0].facet.axis, fontsize=8)
        axes.set_ylabel(members[0].unit, fontsize=8)
        rates = [rate for one in members for rate in one.rates if rate > 0]
        if rates and max(rates) > LINEAR_RANGE_MAX * min(rates):
            logarithmic_height(axes)
        else:
            axes.set_ylim(0, _ROOM_ABOVE * max(rates, default=1.0))
            axes.yaxis.set_major_formatter(FuncFormatter(plain_number))
        axes.set_title(title, fontsize=9, loc="left")
    return svg_of(figure)


def draw_latency(panels: Sequence[Panel], measured: Sequence[Measurement]) -> str:
    """For each panel and series, the share of calls that took so long or longer, on logarithmic
    axes, which show the tail. Of several positions it is the last one."""
    looks = _looks(measured)
    figure, places = _grid(panels, looks)
    for axes, (title, members) in zip_of(places, panels, strict=True):
        last = {_series(one): one for one in members}
        for name, one in last.items():
            _draw_tail(axes, one, looks[name])
        logarithmic(axes)
        axes.set_yscale("log")
        axes.set_xlabel("latency of a call, µs", fontsize=8)
        axes.set_ylabel("share of calls that\ntake so long or longer", fontsize=8)
        axes.set_title(title, fontsize=9, loc="left")
    return svg_of(figure)


def _draw_tail(axes: Axes, one: Measurement, look: Look) -> None:
    calls = left = one.latency.calls
    times, shares = [], []
    for bar in one.latency.bars:
        times.append(max(bar.seconds, 1e-9) * 1e6)
        shares.append(left / calls)
        left -= bar.count
    axes.step(times, shares, where="pre", lw=1.4, color=look[0], ls=look[1])


def _grid(panels: Sequence[Panel], looks: Mapping[str, Look]) -> tuple[Figure, list[Axes]]:
    """A figure with so many charts, and one legend above them."""
    columns = 2 if len(panels) in (2, 4) else min(_COLUMNS_MAX, len(panels))
    rows = math.ceil(len(panels) / columns)
    height = 2.5 if columns > 1 else 3.4
    figure = Figure(figsize=(10, 0.4 + height * rows), layout="constrained")
    places = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    for axes in places[: len(panels)]:
        style(axes)
        axes.tick_params(labelsize=7)
    members = [one for _, mine in panels for one in mine]
    mine = {name: looks[name] for name in dict.fromkeys(_series(one) for one in members)}
    lines = [Line2D([], [], color=colour, ls=style_) for colour, style_ in mine.values()]
    figure.legend(lines, list(mine), loc="outside upper left", ncols=6, fontsize=8, frameon=False)
    return figure, places[: len(panels)]
