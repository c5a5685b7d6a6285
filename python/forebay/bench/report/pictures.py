"""Pictures of a benchmark's result: rates, latencies, spread over ranks. SVG, by matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from matplotlib.axes import Axes

from forebay.bench.model.result import BenchResult, Measurement
from forebay.bench.report.axes import LINEAR_RANGE_MAX, logarithmic, rows_figure
from forebay.bench.report.multiples import (
    PANELS_OPEN_MAX,
    draw_latency,
    draw_multiples,
    named_as_on_the_axis,
    panels_of,
    positions_text,
)
from forebay.common.model.frozen import frozen
from forebay.common.model.units import counted
from forebay.common.report.drawing import BLUE, INK, PALE, svg_of

ROWS_OPEN_MAX = 12
"""The most rows of a picture before the fold."""
ROWS_MAX = 120
"""The most measurements in a picture with a row for each; the page's table has all."""
RANKS_MAX = 4096
_ROOM_FOR_NAMES = 0.15
"""The share of the axis for the name of the slowest rank."""
_SPREAD_LEAST = 0.1
"""The least distance from 1 that the axis of ranks shows, so that small differences look small."""
_NAME_CELLS_MAX = 44
"""Longer names of rows are broken, since they would leave no room for the rows."""
CALLS_LEAST = 100
"""Fewer calls have no distribution."""
Draw = Callable[[Sequence[Measurement]], str]


@frozen
class Picture:
    """A picture of a page; `more` is what is folded away, or empty."""

    title: str
    caption: str
    svg: str
    more: str = ""
    more_label: str = ""


def pictures_of(result: BenchResult) -> Iterator[Picture]:
    """The pictures of the page of a result; those that would show nothing are left out."""
    measured = result.measurements
    if measured and measured[0].facet.axis:
        yield _multiples(measured)
    else:
        yield _rows(
            "Rates",
            "Each dot is a repetition; the mark is the median, the bar its interval.",
            measured,
            draw_rates,
        )
    known = [one for one in measured if one.latency.calls >= CALLS_LEAST]
    if known:
        yield _latencies(known, measured)
    several = [one for one in measured if len(one.rank_seconds) > 1]
    if several:
        yield _rows(
            "Spread over ranks",
            "Each dot is a rank: its time ÷ that of the median rank. The slowest has its number "
            "and its node. Right of the dashed line, ranks kept the others waiting."
            + (
                " Names end with the numbers of the axis above." if positions_text(measured) else ""
            ),
            named_as_on_the_axis(several, measured),
            draw_ranks,
        )


def _rows(title: str, caption: str, measured: Sequence[Measurement], draw: Draw) -> Picture:
    left = len(measured) - ROWS_MAX
    more = measured[ROWS_OPEN_MAX:ROWS_MAX]
    return Picture(
        title=title,
        caption=caption
        + (f" The first {ROWS_MAX} of {len(measured)}; the table has all." if left > 0 else ""),
        svg=draw(measured[:ROWS_OPEN_MAX]),
        more=draw(more) if more else "",
        more_label=f"{len(more)} more rows",
    )


def _multiples(measured: Sequence[Measurement]) -> Picture:
    panels = panels_of(measured)
    more = panels[PANELS_OPEN_MAX:]
    return Picture(
        title="Rates",
        caption="Each dot is a repetition; lines go through medians. A colour is the same in all "
        f"charts. {positions_text(measured)}".rstrip(),
        svg=draw_multiples(panels[:PANELS_OPEN_MAX], measured),
        more=draw_multiples(more, measured) if more else "",
        more_label=f"{len(more)} more charts",
    )


def _latencies(known: Sequence[Measurement], measured: Sequence[Measurement]) -> Picture:
    panels = panels_of(known)
    more = panels[PANELS_OPEN_MAX:]
    left = len(measured) - len(known)
    last = " Of the points of a line above, it is the last one." if known[0].facet.axis else ""
    few = f"{counted(left, 'measurement')} of fewer than {CALLS_LEAST} calls "
    few += "is not shown." if left == 1 else "are not shown."
    return Picture(
        title="Latency of calls",
        caption="All ranks and repetitions. A line that falls late has a long tail."
        + last
        + (f" {few}" if left else ""),
        svg=draw_latency(panels[:PANELS_OPEN_MAX], measured),
        more=draw_latency(more, measured) if more else "",
        more_label=f"{len(more)} more charts",
    )


def draw_rates(shown: Sequence[Measurement]) -> str:
    """A dot per repetition, the median, and its interval."""
    figure, axes = rows_figure(height=1.2 + 0.42 * len(shown))
    for row, one in enumerate(shown):
        spread = one.spread
        axes.hlines(row, spread.low, spread.high, color=PALE, lw=9)
        axes.scatter(one.rates, [row] * len(one.rates), color=BLUE, s=14, zorder=3)
        axes.vlines(spread.median, row - 0.32, row + 0.32, color=INK, lw=2)
    _name_rows(axes, shown)
    rates = [rate for one in shown for rate in one.rates if rate > 0]
    if rates and max(rates) > LINEAR_RANGE_MAX * min(rates):
        logarithmic(axes)
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(shown[0].unit, fontsize=8)
    return svg_of(figure)


def draw_ranks(shown: Sequence[Measurement]) -> str:
    """A dot per rank, at its time relative to the median rank's; the slowest has its name."""
    figure, axes = rows_figure(height=1.2 + 0.36 * len(shown))
    axes.axvline(1, color=INK, lw=0.8, ls=(0, (4, 3)))
    least, most = 1 - _SPREAD_LEAST, 1 + _SPREAD_LEAST
    for row, one in enumerate(shown):
        middle = median(one.rank_seconds) or 1.0
        ratios = [seconds / middle for seconds in one.rank_seconds[:RANKS_MAX]]
        least, most = min(least, *ratios), max(most, *ratios)
        axes.scatter(ratios, [row] * len(ratios), color=BLUE, s=16, alpha=0.6, lw=0)
        axes.annotate(
            f"  rank {one.slowest_rank} on {one.slowest_host}".removesuffix(" on "),
            (max(ratios), row),
            fontsize=7,
            color=INK,
            va="center",
        )
    _name_rows(axes, shown)
    room = _ROOM_FOR_NAMES * (most - least)
    axes.set_xlim(least - room / 4, most + room)
    axes.set_xlabel("time ÷ time of the median rank", fontsize=8)
    return svg_of(figure)


def _name_rows(axes: Axes, shown: Sequence[Measurement]) -> None:
    names = [textwrap.fill(one.name, _NAME_CELLS_MAX) for one in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=8)
    axes.set_ylim(len(shown) - 0.4, -0.6)
