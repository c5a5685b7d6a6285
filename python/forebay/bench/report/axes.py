"""The common part of the pictures of benchmarks: figures with rows, and logarithmic axes."""

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from forebay.common.report.drawing import style

LABELLED_BY_STEPS_MAX = 3000
"""Logarithmic axes with a smaller span have labels at 1, 2 and 5 of each power of ten."""
LINEAR_RANGE_MAX = 30
"""The ratio of the largest to the smallest value above which an axis is logarithmic."""


def rows_figure(*, height: float) -> tuple[Figure, Axes]:
    """A figure of so many inches, for rows one below the other."""
    figure = Figure(figsize=(10, height), layout="constrained")
    axes = figure.subplots()
    style(axes)
    axes.tick_params(labelsize=8)
    return figure, axes


def logarithmic(axes: Axes) -> None:
    """Makes the x axis logarithmic, with plain numbers, also for less than two powers of ten."""
    axes.set_xscale("log")
    _labelled(axes.xaxis, axes.get_xlim())


def logarithmic_height(axes: Axes) -> None:
    """The same for the y axis."""
    axes.set_yscale("log")
    _labelled(axes.yaxis, axes.get_ylim())


def plain_number(value: float, _: object) -> str:
    """A number on an axis, without a power of ten."""
    return f"{value:,.10g}"


def _labelled(axis: Axis, limits: tuple[float, float]) -> None:
    low, high = limits
    steps = (1, 2, 5) if high < LABELLED_BY_STEPS_MAX * low else (1,)
    axis.set_major_locator(LogLocator(subs=steps, numticks=20))
    axis.set_major_formatter(FuncFormatter(plain_number))
    axis.set_minor_formatter(NullFormatter())
