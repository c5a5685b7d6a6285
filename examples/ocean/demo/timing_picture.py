"""The picture of the timings: every pair, and where the time goes through Forebay."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from demo.experiment import Comparison
from demo.map_picture import INK, PAPER, PIXELS_PER_INCH
from demo.summary import middle_parts, spread_text
from forebay.common.model.units import human_seconds

PLAIN, FOREBAY, FAINT = "#9a958c", "#0f6e9c", "#d9d6d0"
PARTS = (
    ("creating:\nopening, metadata", "#9a958c"),
    ("writing:\ncollective calls", "#0f6e9c"),
    ("writing: independent\ncalls, library", "#58a6c9"),
    ("closing", "#d9a441"),
)


def draw_timings(comparisons: Sequence[Comparison], path: Path) -> None:
    """One row of panels for each comparison."""
    figure = Figure(figsize=(13, 4.4 * len(comparisons)), facecolor=PAPER, layout="constrained")
    panels = figure.subplots(
        len(comparisons), 3, squeeze=False, gridspec_kw={"width_ratios": [3, 3, 3]}
    )
    for (times, ratios, parts), comparison in zip(panels, comparisons, strict=True):
        _draw_times(times, comparison)
        _draw_ratios(ratios, comparison)
        _draw_parts(parts, comparison)
    figure.savefig(path, dpi=PIXELS_PER_INCH, metadata={"Software": ""})


def _clear(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", color=INK, fontsize=11)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK)
    axes.set_axisbelow(True)


def _draw_times(axes: Axes, comparison: Comparison) -> None:
    plain = [pair.plain.times.output for pair in comparison.pairs]
    forebay = [pair.forebay.times.output for pair in comparison.pairs]
    for left, right in zip(plain, forebay, strict=True):
        axes.plot([0, 1], [left, right], color=FAINT, lw=1.5, zorder=1)
    axes.scatter([0] * len(plain), plain, color=PLAIN, s=60, zorder=2)
    axes.scatter([1] * len(forebay), forebay, color=FOREBAY, s=60, zorder=2)
    for place, values, colour in ((0, plain, PLAIN), (1, forebay, FOREBAY)):
        middle = median(values)
        axes.hlines(middle, place - 0.16, place + 0.16, color=colour, lw=3)
        side = -1 if place == 0 else 1
        axes.text(
            place + 0.2 * side,
            middle,
            f"{human_seconds(middle)} s",
            va="center",
            ha="right" if place == 0 else "left",
            color=INK,
        )
    axes.set_xlim(-0.7, 1.7)
    axes.set_ylim(0, 1.12 * max(plain + forebay))
    axes.set_xticks([0, 1], ["plain", "through Forebay"])
    axes.set_ylabel("time in output, s", color=INK)
    axes.grid(axis="y", color=FAINT, lw=0.6)
    _clear(axes, comparison.variant.title)


def _draw_ratios(axes: Axes, comparison: Comparison) -> None:
    ratio = comparison.ratio
    values = [pair.ratio for pair in comparison.pairs]
    axes.axvline(1, color=INK, lw=1, ls=(0, (4, 3)))
    if ratio.count > 1:
        axes.axvspan(ratio.low, ratio.high, color=FOREBAY, alpha=0.12, lw=0)
    axes.axvline(ratio.median, color=FOREBAY, lw=2.5)
    axes.scatter(values, range(1, len(values) + 1), color=FOREBAY, s=60, zorder=3)
    axes.set_ylim(len(values) + 0.6, 0.4)
    axes.set_yticks(range(1, len(values) + 1))
    axes.set_xlim(0, 1.15 * max([*values, 1.0]))
    axes.set_ylabel("pair", color=INK)
    axes.set_xlabel(f"plain ÷ Forebay\n{spread_text(ratio)}", color=INK)
    _clear(axes, "Ratio of each pair (right of 1: Forebay is faster)")


def _draw_parts(axes: Axes, comparison: Comparison) -> None:
    """One bar a part; together they are the whole time in output of one run."""
    found = middle_parts(comparison)
    _clear(axes, "Where the time goes through Forebay")
    if found is None:
        axes.set_axis_off()
        return
    run, parts = found
    values = (parts.create, parts.collective, parts.rest, parts.close)
    began = 0.0
    for row, ((_, colour), value) in enumerate(zip(PARTS, values, strict=True)):
        axes.barh(row, value, left=began, color=colour, height=0.55)
        began += value
        axes.text(began, row, f" {human_seconds(value)} s", va="center", color=INK)
    axes.set_yticks(range(len(PARTS)), [name for name, _ in PARTS])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.35 * max(began, 1e-3))
    axes.set_xlabel(
        f"s; together {human_seconds(run.times.output)} s, the run of median time\n"
        f"collective calls (parts overlap): exchange {human_seconds(parts.exchange)},\n"
        f"storage {human_seconds(parts.storage)}, wait {human_seconds(parts.wait)} s",
        color=INK,
    )
