"""Pictures of a comparison: the ratios of its pairs, and the pairs as they ran. SVG."""

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from forebay.bench.model.comparison import QuantityFinding
from forebay.bench.report.axes import logarithmic, rows_figure
from forebay.common.model.newer_python import zip_of
from forebay.common.report.drawing import BLUE, FAINT, INK, PALE, draw_runs_of_pairs, svg_of

ROWS_MAX = 120
"""The most quantities in the picture of ratios; the page's table has all."""
PAIRS_DRAWN_MAX = 8
"""The most quantities whose pairs are drawn."""
LINEAR_RATIO_MAX = 5
"""The ratio of the largest to the smallest ratio above which the axis is logarithmic."""


def draw_ratios(findings: Sequence[QuantityFinding]) -> str:
    """A dot per pair's ratio, the estimate with its interval, and the margin as a band."""
    shown = findings[:ROWS_MAX]
    figure, axes = rows_figure(height=1.4 + 0.5 * len(shown))
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
        logarithmic(axes)
    axes.set_xlabel("B ÷ A (right of 1: B is faster)")
    return svg_of(figure)


def draw_pairs(findings: Sequence[QuantityFinding]) -> str:
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


COMPARISON_PICTURES: tuple[
    tuple[str, str, int, Callable[[Sequence[QuantityFinding]], str]], ...
] = (
    (
        "B against A",
        "Each dot is a pair; the mark is the estimate, the bar its interval, the band the margin.",
        ROWS_MAX,
        draw_ratios,
    ),
    ("Pairs as they ran", "A drift moves both runs of a pair.", PAIRS_DRAWN_MAX, draw_pairs),
)
