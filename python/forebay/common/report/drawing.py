"""The style of all pictures, which are SVG drawn with matplotlib. Only modules that draw import
this one, since matplotlib is optional. Colours become variables of the page's style, which has
values for light and for dark."""

import io
import re
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

INK, FAINT, BLUE, PALE, BAD = "#1d2730", "#d9d6d0", "#0f6e9c", "#9fc7da", "#b3261e"
SERIES = (BLUE, "#c4651a", "#3a8a4d", "#8a5aa8", "#a0407a", "#6b7680")
"""Colours of lines that are told apart by a legend."""
_VARIABLES = {
    INK: "ink",
    FAINT: "faint",
    BLUE: "blue",
    PALE: "pale",
    BAD: "bad",
    "#000000": "ink",
    **{colour: f"series-{number}" for number, colour in enumerate(SERIES[1:], start=2)},
}
_COLOUR = re.compile(r"(?<=fill: )#[0-9a-f]{6}|(?<=stroke: )#[0-9a-f]{6}")


def style(axes: Axes) -> None:
    """Gives the axes the common style."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK)
    axes.set_axisbelow(True)
    axes.grid(color=FAINT, lw=0.5)


def draw_runs_of_pairs(
    axes: Axes, runs: tuple[Sequence[float], Sequence[float]], names: tuple[str, str]
) -> None:
    """Both runs of each pair in the order in which the pairs ran, which shows drifts; `names` are
    those of the first and second runs."""
    style(axes)
    first, second = runs
    pairs = range(1, len(first) + 1)
    axes.vlines(pairs, first, second, color=FAINT, lw=3)
    axes.scatter(pairs, first, color=INK, s=18, marker="s", label=names[0], zorder=3)
    axes.scatter(pairs, second, color=BLUE, s=22, label=names[1], zorder=3)
    axes.set_ylim(0, 1.1 * max(*first, *second))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def svg_of(figure: Figure) -> str:
    """The figure as SVG without an XML header, to be embedded in a page made from
    page_base.html.j2. Its ground is the page's."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
    whole = text.getvalue()
    return _COLOUR.sub(_variable, whole[whole.index("<svg") :])


def _variable(found: re.Match[str]) -> str:
    name = _VARIABLES.get(found[0])
    return found[0] if name is None else f"var(--{name})"
