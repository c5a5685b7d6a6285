"""Pictures of a benchmark's result: rates, latencies, spread over ranks. SVG, by matplotlib."""

import math
from collections.abc import Callable, Sequence
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from forebay.bench.model.comparison import Finding
from forebay.bench.model.result import BenchResult, Measurement
from forebay.common.model.newer_python import zip_of
from forebay.common.report.drawing import BLUE, FAINT, INK, PALE, draw_runs_of_pairs, style, svg_of

ROWS_MAX = 120
"""The most measurements in a picture with a row for each; the page's table has all."""
LINES_MAX = 10
"""The most lines in a panel: matplotlib's cycle has as many colours."""
PAIRS_DRAWN_MAX = 8
"""The most quantities whose pairs are drawn."""
RANKS_MAX = 4096
LINEAR_RANGE_MAX = 30
"""The ratio of the largest to the smallest rate above which the axis is logarithmic."""
LINEAR_RATIO_MAX = 5
"""The same for ratios of pairs."""
LABELLED_BY_STEPS_MAX = 3000
"""Logarithmic axes with a smaller span have labels at 1, 2 and 5 of each power of ten."""


def draw_rates(result: BenchResult) -> str:
    """A dot per repetition, the median, and its interval."""
    shown = result.measurements[:ROWS_MAX]
    figure, axes = _figure(height=1.2 + 0.42 * len(shown))
    for row, one in enumerate(shown):
        spread = one.spread
        axes.hlines(row, spread.low, spread.high, color=PALE, lw=9)
        axes.scatter(one.rates, [row] * len(one.rates), color=BLUE, s=14, zorder=3)
        axes.vlines(spread.median, row - 0.32, row + 0.32, color=INK, lw=2)
    axes.set_yticks(range(len(shown)), [one.name for one in shown], fontsize=8)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    rates = [rate for one in shown for rate in one.rates if rate > 0]
    if rates and max(rates) > LINEAR_RANGE_MAX * min(rates):
        _logarithmic(axes)
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(shown[0].unit)
    return svg_of(figure)


def draw_latency(result: BenchResult) -> str:
    """The share of calls that took so long or longer, on logarithmic axes, which show the tail."""
    figure, panels = _panels(result.measurements[:ROWS_MAX])
    for axes, shown in panels:
        for one in shown:
            _draw_tail(axes, one)
        _logarithmic(axes)
        axes.set_yscale("log")
        axes.set_xlabel("latency of a call, µs")
        axes.set_ylabel("share of calls that\ntake so long or longer")
        _legend_below(axes)
    return svg_of(figure)


def _draw_tail(axes: Axes, one: Measurement) -> None:
    calls = left = one.latency.calls
    times, shares = [], []
    for bar in one.latency.bars:
        times.append(max(bar.seconds, 1e-9) * 1e6)
        shares.append(left / calls)
        left -= bar.count
    axes.step(times, shares, where="pre", lw=1.4, label=one.name)


def draw_ranks(result: BenchResult) -> str:
    """The time of each rank, relative to the median rank's."""
    figure, panels = _panels(result.measurements[:ROWS_MAX])
    for axes, shown in panels:
        for one in shown:
            middle = (median(one.rank_seconds) if one.rank_seconds else 0) or 1.0
            ratios = [seconds / middle for seconds in one.rank_seconds[:RANKS_MAX]]
            axes.plot(range(len(ratios)), ratios, marker=".", lw=0.8, ms=4, label=one.name)
        axes.axhline(1, color=INK, lw=0.8, ls=(0, (4, 3)))
        axes.set_xlabel("rank")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("time ÷ time of\nthe median rank")
        axes.set_ylim(bottom=0)
        axes.set_xlim(-0.5, max(len(one.rank_seconds) for one in shown) - 0.5)
        _legend_below(axes)
    return svg_of(figure)


PICTURES: tuple[tuple[str, str, Callable[[BenchResult], str]], ...] = (
    (
        "Rates",
        "Each dot is a repetition; the mark is the median, the bar its interval.",
        draw_rates,
    ),
    (
        "Latency of calls",
        "All ranks and repetitions. A line that falls late has a long tail.",
        draw_latency,
    ),
    ("Spread over ranks", "Ranks above the dashed line kept the others waiting.", draw_ranks),
)


def draw_ratios(findings: Sequence[Finding]) -> str:
    """A dot per pair's ratio, the estimate with its interval, and the margin as a band."""
    shown = findings[:ROWS_MAX]
    figure, axes = _figure(height=1.4 + 0.5 * len(shown))
    margin = shown[0].margin
    axes.axvspan(1 / (1 + margin), 1 + margin, color=FAINT, alpha=0.6, lw=0)
    axes.axvline(1, color=INK, lw=0.8, ls=(0, (4, 3)))
    for row, one in enumerate(shown):
        low, high = one.ratio.low, one.ratio.high
        if low is not None and high is not None:
            axes.hlines(row, low, high, color=PALE, lw=9)
        ratios = [b / a for a, b in zip_of(one.a, one.b, strict=True)]
        axes.scatter(ratios, [row] * len(ratios), color=BLUE, s=14, zorder=3)
        axes.vlines(one.ratio.estimate, row - 0.32, row + 0.32, color=INK, lw=2)
    axes.set_yticks(
        range(len(shown)), [f"{one.quantity}: {one.verdict.value}" for one in shown], fontsize=8
    )
    axes.set_ylim(len(shown) - 0.4, -0.6)
    ratios = [b / a for one in shown for a, b in zip_of(one.a, one.b, strict=True)]
    if max(ratios) > LINEAR_RATIO_MAX * min(ratios):
        _logarithmic(axes)
    axes.set_xlabel("B ÷ A (right of 1: B is faster)")
    return svg_of(figure)


def draw_pairs(findings: Sequence[Finding]) -> str:
    """Both rates of each pair in the order in which they ran, which shows drifts."""
    shown = findings[:PAIRS_DRAWN_MAX]
    figure = Figure(figsize=(10, 2.6 * len(shown)), layout="constrained")
    for axes, one in zip_of(figure.subplots(len(shown), squeeze=False)[:, 0], shown, strict=True):
        draw_runs_of_pairs(axes, (one.a, one.b), ("A", "B"))
        axes.set_title(one.quantity, fontsize=9, loc="left")
        axes.set_ylabel(one.unit)
        axes.legend(fontsize=7, frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    axes.set_xlabel("pair")
    return svg_of(figure)


COMPARISON_PICTURES: tuple[tuple[str, str, int, Callable[[Sequence[Finding]], str]], ...] = (
    (
        "B against A",
        "Each dot is a pair; the mark is the estimate, the bar its interval, the band the margin.",
        ROWS_MAX,
        draw_ratios,
    ),
    ("Pairs as they ran", "A drift moves both runs of a pair.", PAIRS_DRAWN_MAX, draw_pairs),
)


def _figure(*, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(10, height), layout="constrained")
    axes = figure.subplots()
    style(axes)
    return figure, axes


def _panels(
    measurements: Sequence[Measurement],
) -> tuple[Figure, list[tuple[Axes, Sequence[Measurement]]]]:
    """Panels one above the other, with at most LINES_MAX measurements each."""
    groups = [measurements[at : at + LINES_MAX] for at in range(0, len(measurements), LINES_MAX)]
    legends = sum(
        0.17 * math.ceil(len(group) / _columns([one.name for one in group])) for group in groups
    )
    figure = Figure(figsize=(10, 3.6 * len(groups) + legends), layout="constrained")
    panels = figure.subplots(len(groups), squeeze=False)[:, 0]
    for axes in panels:
        style(axes)
    return figure, list(zip_of(panels, groups, strict=True))


def _columns(names: Sequence[str]) -> int:
    """The number of columns of a legend, by the length of its names."""
    return 1 if len(names) == 1 else 3 if max(map(len, names)) < 40 else 2


def _legend_below(axes: Axes) -> None:
    """Puts the legend below its axes."""
    _, names = axes.get_legend_handles_labels()
    columns = _columns(names)
    axes.legend(
        loc="upper left", bbox_to_anchor=(0, -0.2), ncols=columns, fontsize=7, frameon=False
    )


def _logarithmic(axes: Axes) -> None:
    """Makes the x axis logarithmic, with plain numbers, also for less than two powers of ten."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    steps = (1, 2, 5) if high < LABELLED_BY_STEPS_MAX * low else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=20))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
