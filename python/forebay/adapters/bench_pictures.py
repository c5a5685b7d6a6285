"""Draws what a benchmark measured: bandwidth, latency, spread over ranks. SVG, by matplotlib."""

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from forebay.domain.bench_result import BenchResult, Measurement
from forebay.domain.comparison import Finding

INK, FAINT, BLUE, PALE = "#1d2730", "#d9d6d0", "#0f6e9c", "#9fc7da"
ROWS_MAX = 120
"""Measurements in a picture that has a row for each; the table below has all."""
LINES_MAX = 30
"""In a picture that has a line for each: as many as colours and dashes tell apart."""
PAIRS_DRAWN_MAX = 8
"""Quantities whose pairs are drawn."""
RANKS_MAX = 4096
_COLOURS = 10
"""In matplotlib's cycle; then lines are dashed."""
_STYLES = ("-", "--", ":")
LINEAR_RANGE_MAX = 30
"""Rates further apart are drawn on a logarithmic axis."""
LINEAR_RATIO_MAX = 5
"""Ratios, likewise."""


def draw_rates(result: BenchResult) -> str:
    """Every repetition as a dot, the median and its interval."""
    shown = result.measurements[:ROWS_MAX]
    figure, axes = _figure(height=1.2 + 0.42 * len(shown))
    for row, one in enumerate(shown):
        spread = one.spread
        axes.hlines(row, spread.low, spread.high, color=PALE, lw=9)
        axes.scatter(one.rates, [row] * len(one.rates), color=BLUE, s=14, zorder=3)
        axes.vlines(spread.median, row - 0.32, row + 0.32, color=INK, lw=2)
    axes.set_yticks(range(len(shown)), [one.name for one in shown], fontsize=8)
    axes.invert_yaxis()
    rates = [rate for one in shown for rate in one.rates if rate > 0]
    if rates and max(rates) > LINEAR_RANGE_MAX * min(rates):
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(shown[0].unit)
    return _svg(figure)


def draw_latency(result: BenchResult) -> str:
    """Share of calls that took longer, on two logarithmic axes: the tail is to be seen."""
    figure, axes = _figure(height=4.2)
    for number, one in enumerate(result.measurements[:LINES_MAX]):
        calls, left = one.latency.calls, one.latency.calls
        if not calls:
            continue
        times, shares = [], []
        for bar in one.latency.bars:
            times.append(max(bar.seconds, 1e-9) * 1e6)
            shares.append(left / calls)
            left -= bar.count
        style = _STYLES[number // _COLOURS % len(_STYLES)]
        axes.step(times, shares, style, where="pre", lw=1.4, label=one.name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("latency of a call, µs")
    axes.set_ylabel("share of calls that take so long or longer")
    _legend_below(figure)
    return _svg(figure)


def draw_ranks(result: BenchResult) -> str:
    """The time of each rank, as multiples of the median rank's."""
    shown = result.measurements[:LINES_MAX]
    figure, axes = _figure(height=4.2)
    for number, one in enumerate(shown):
        if not one.rank_seconds:
            continue
        middle = median(one.rank_seconds) or 1.0
        ratios = [seconds / middle for seconds in one.rank_seconds[:RANKS_MAX]]
        style = _STYLES[number // _COLOURS % len(_STYLES)]
        axes.plot(range(len(ratios)), ratios, style, marker=".", lw=0.8, ms=4, label=one.name)
    axes.axhline(1, color=INK, lw=0.8, ls=(0, (4, 3)))
    axes.set_xlabel("rank")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("time ÷ time of the median rank")
    axes.set_ylim(bottom=0)
    _legend_below(figure)
    return _svg(figure)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture of the page; it shows the first `shown_max` measurements."""

    title: str
    caption: str
    shown_max: int
    draw: Callable[[BenchResult], str]

    def caption_of(self, result: BenchResult) -> str:
        """Also how many measurements it leaves out."""
        count = len(result.measurements)
        if count <= self.shown_max:
            return self.caption
        return f"{self.caption} The first {self.shown_max} of {count}; the table has all."


PICTURES = (
    Picture(
        title="Rates",
        caption="Each dot is a repetition; the mark is the median, the bar its interval.",
        shown_max=ROWS_MAX,
        draw=draw_rates,
    ),
    Picture(
        title="Latency of calls",
        caption="All ranks and repetitions. A line that falls late has a long tail.",
        shown_max=LINES_MAX,
        draw=draw_latency,
    ),
    Picture(
        title="Spread over ranks",
        caption="Ranks above the dashed line kept the others waiting.",
        shown_max=LINES_MAX,
        draw=draw_ranks,
    ),
)


def draw_ratios(findings: Sequence[Finding]) -> str:
    """Every pair's ratio as a dot, the estimate and its interval; the margin shaded."""
    shown = findings[:ROWS_MAX]
    figure, axes = _figure(height=1.4 + 0.5 * len(shown))
    margin = shown[0].margin
    axes.axvspan(1 / (1 + margin), 1 + margin, color=FAINT, alpha=0.6, lw=0)
    axes.axvline(1, color=INK, lw=0.8, ls=(0, (4, 3)))
    for row, one in enumerate(shown):
        low, high = one.ratio.low, one.ratio.high
        if low is not None and high is not None:
            axes.hlines(row, low, high, color=PALE, lw=9)
        ratios = [b / a for a, b in zip(one.a, one.b, strict=True)]
        axes.scatter(ratios, [row] * len(ratios), color=BLUE, s=14, zorder=3)
        axes.vlines(one.ratio.estimate, row - 0.32, row + 0.32, color=INK, lw=2)
    axes.set_yticks(
        range(len(shown)), [f"{one.quantity}: {one.verdict.value}" for one in shown], fontsize=8
    )
    axes.invert_yaxis()
    ratios = [b / a for one in shown for a, b in zip(one.a, one.b, strict=True)]
    if max(ratios) > LINEAR_RATIO_MAX * min(ratios):
        axes.set_xscale("log")
    axes.set_xlabel("B ÷ A (right of 1: B is faster)")
    return _svg(figure)


def draw_pairs(findings: Sequence[Finding]) -> str:
    """Both rates of each pair in the order in which they ran: drifts are to be seen."""
    shown = findings[:PAIRS_DRAWN_MAX]
    figure = Figure(figsize=(10, 2.6 * len(shown)), layout="constrained")
    for axes, one in zip(figure.subplots(len(shown), squeeze=False)[:, 0], shown, strict=True):
        _style(axes)
        pairs = range(1, len(one.a) + 1)
        axes.vlines(pairs, one.a, one.b, color=FAINT, lw=3)
        axes.scatter(pairs, one.a, color=INK, s=18, marker="s", label="A", zorder=3)
        axes.scatter(pairs, one.b, color=BLUE, s=22, label="B", zorder=3)
        axes.set_title(one.quantity, fontsize=9, loc="left")
        axes.set_ylabel(one.unit)
        axes.set_ylim(0, 1.1 * max(*one.a, *one.b))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(fontsize=7, frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    axes.set_xlabel("pair")
    return _svg(figure)


COMPARISON_PICTURES: tuple[tuple[str, str, Callable[[Sequence[Finding]], str]], ...] = (
    (
        "B against A",
        "Each dot is a pair; the mark is the estimate, the bar its interval, the band the margin.",
        draw_ratios,
    ),
    ("Pairs as they ran", "What drifts moves both of a pair.", draw_pairs),
)


def slowest(one: Measurement) -> int:
    """The rank that took longest; 0 when there are none."""
    times = one.rank_seconds
    return max(range(len(times)), key=times.__getitem__) if times else 0


def _figure(*, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(10, height), layout="constrained")
    axes = figure.subplots()
    _style(axes)
    return figure, axes


def _legend_below(figure: Figure) -> None:
    """Under the axes, which become no lower for it."""
    handles, names = figure.axes[0].get_legend_handles_labels()
    columns = 1 if len(names) == 1 else 3 if max(map(len, names), default=0) < 40 else 2
    figure.set_figheight(figure.get_figheight() + 0.17 * math.ceil(len(names) / columns))
    figure.legend(
        handles, names, loc="outside lower left", ncols=columns, fontsize=7, frameon=False
    )


def _style(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK)
    axes.set_axisbelow(True)
    axes.grid(color=FAINT, lw=0.5)


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    whole = text.getvalue()
    return whole[whole.index("<svg") :]
