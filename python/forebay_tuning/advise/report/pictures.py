"""The picture of advice: the gains of all changes, accumulated."""

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from forebay.common.report.drawing import BLUE, INK, PALE, style, svg_of
from forebay_tuning.advise.model.advice import Advice


def draw_gain(advice: Advice) -> str:
    """A bar per change, from the gain before it to that after it, with intervals; and the total."""
    items = [one for one in advice.items if one.gain is not None]
    figure = Figure(figsize=(10, 1.2 + 0.45 * (len(items) + 1)), layout="constrained")
    axes = figure.subplots()
    style(axes)
    total = 1.0
    names = []
    for row, one in enumerate(items):
        after = total * (one.gain or 1.0)
        axes.barh(row, after - total, left=total, color=PALE, height=0.6)
        if one.gain_low is not None and one.gain_high is not None:
            axes.hlines(row, total * one.gain_low, total * one.gain_high, color=BLUE, lw=1)
        axes.vlines(after, row - 0.35, row + 0.35, color=BLUE, lw=2)
        names.append(f"{one.name}: {one.now} → {one.advised}")
        total = after
    row = len(items)
    low, high = advice.gain_low or 1.0, advice.gain_high or 1.0
    axes.hlines(row, low, high, color=PALE, lw=9)
    axes.vlines(advice.gain or 1.0, row - 0.35, row + 0.35, color=INK, lw=2)
    axes.set_yticks(range(row + 1), [*names, "all together"], fontsize=8)
    axes.set_ylim(row + 0.6, -0.6)
    axes.axvline(1, color=INK, lw=0.8, ls=(0, (4, 3)))
    axes.set_xscale("log")
    axes.set_xlabel("times as fast as now")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return svg_of(figure)
