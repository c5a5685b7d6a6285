"""The pictures of a verification: the ratios of its pairs, and the pairs as they ran."""

from collections.abc import Callable

from matplotlib.figure import Figure

from forebay.common.model.newer_python import zip_of
from forebay.common.report.drawing import BLUE, FAINT, INK, PALE, draw_runs_of_pairs, style, svg_of
from forebay_tuning.verify.model import Verification


def draw_ratio(found: Verification) -> str:
    """A dot per pair's ratio, the estimate with its interval, and the margin as a band."""
    figure = Figure(figsize=(10, 1.9), layout="constrained")
    axes = figure.subplots()
    style(axes)
    margin, ratio = found.margin, found.ratio
    axes.axvspan(1 / (1 + margin), 1 + margin, color=FAINT, alpha=0.6, lw=0)
    axes.axvline(1, color=INK, lw=0.8, ls=(0, (4, 3)))
    if ratio.low is not None and ratio.high is not None:
        axes.hlines(0, ratio.low, ratio.high, color=PALE, lw=9)
    ratios = [a / b for a, b in zip_of(found.default, found.advised, strict=True)]
    axes.scatter(ratios, [0] * len(ratios), color=BLUE, s=16, zorder=3)
    axes.vlines(ratio.estimate, -0.32, 0.32, color=INK, lw=2)
    axes.set_yticks([0], [found.verdict.value], fontsize=9)
    axes.set_ylim(-0.6, 0.6)
    axes.set_xlabel("times as fast with the advice (right of 1: faster)")
    return svg_of(figure)


def draw_pairs(found: Verification) -> str:
    """Both runs of each pair in the order in which the pairs ran, which shows drifts."""
    figure = Figure(figsize=(10, 3.0), layout="constrained")
    axes = figure.subplots()
    draw_runs_of_pairs(axes, (found.default, found.advised), ("as it is", "with the advice"))
    axes.set_xlabel("pair")
    axes.set_ylabel("seconds, or 1 ÷ rate")
    axes.legend(fontsize=8, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return svg_of(figure)


PICTURES: tuple[tuple[str, str, Callable[[Verification], str]], ...] = (
    (
        "With the advice against as it is",
        "Each dot is a pair; the mark is the estimate, the bar its interval, the band the margin.",
        draw_ratio,
    ),
    ("Pairs as they ran", "A drift moves both runs of a pair.", draw_pairs),
)
