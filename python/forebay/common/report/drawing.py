"""The style of all pictures, which are SVG drawn with matplotlib. Only modules that draw import
this one, since matplotlib is optional."""

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, FAINT, BLUE, PALE = "#1d2730", "#d9d6d0", "#0f6e9c", "#9fc7da"


def style(axes: Axes) -> None:
    """Gives the axes the common style."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK)
    axes.set_axisbelow(True)
    axes.grid(color=FAINT, lw=0.5)


def svg_of(figure: Figure) -> str:
    """The figure as SVG without an XML header, to be embedded in a page."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    whole = text.getvalue()
    return whole[whole.index("<svg") :]
