"""The picture of one pair on a limited disk: when the model computes, when it is in output, and
what reaches the disk meanwhile."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from demo.disk import MEBIBYTES_PER_SECOND, Written
from demo.map_picture import INK, PAPER, PIXELS_PER_INCH
from demo.model import Span
from demo.workshop import Outcome

COMPUTE, OUTPUT, DRAIN, FAINT = "#d9d6d0", "#c8553d", "#58a6c9", "#d9d6d0"
_RATE_WINDOW_SECONDS = 0.25
Sides = Sequence[tuple[str, Outcome, Written]]


def draw_timeline(plain: Outcome, forebay: Outcome, path: Path) -> None:
    """Two time lines, one below the other, on one scale."""
    sides = [
        (name, run, run.timeline)
        for name, run in (("plain", plain), ("through the pool", forebay))
        if run.timeline is not None
    ]
    figure = Figure(figsize=(13, 2.6 * len(sides) + 0.6), facecolor=PAPER, layout="constrained")
    panels = figure.subplots(len(sides), 1, sharex=True, squeeze=False)
    for (axes,), (name, run, written) in zip(panels, sides, strict=True):
        _draw_side(axes, name, run.spans, written)
    panels[-1][0].set_xlabel("seconds since the program was started", color=INK)
    figure.savefig(path, dpi=PIXELS_PER_INCH, metadata={"Software": ""})


def _draw_side(axes: Axes, name: str, spans: Sequence[Span], written: Written) -> None:
    """Bars above, the disk's rate as an area below."""
    rates = rates_of(written)
    axes.fill_between(
        [at for at, _ in rates], [rate for _, rate in rates], color=DRAIN, lw=0, step="mid"
    )
    axes.axhline(MEBIBYTES_PER_SECOND, color=INK, lw=0.8, ls=(0, (4, 3)))
    high = 1.6 * MEBIBYTES_PER_SECOND
    if spans:
        begin, end = spans[0].begin - written.begin, spans[-1].end - written.begin
        axes.broken_barh([(begin, end - begin)], (high, 18), color=COMPUTE)
        axes.broken_barh(
            [(one.begin - written.begin, one.end - one.begin) for one in spans],
            (high, 18),
            color=OUTPUT,
        )
    output = sum(one.end - one.begin for one in spans)
    axes.set_title(
        f"{name}: {output:.2f} s in output (red; grey: computing), everything is on the disk after "
        f"{written.whole:.1f} s",
        loc="left",
        color=INK,
        fontsize=11,
    )
    axes.set_ylim(0, high + 24)
    axes.set_yticks([0, MEBIBYTES_PER_SECOND])
    axes.set_ylabel("MiB/s at the disk", color=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK)


def rates_of(written: Written) -> list[tuple[float, float]]:
    """Seconds since the begin, and MiB/s at the disk around that moment."""
    moments = list(zip(written.seconds, written.bytes, strict=True))
    kept = moments[:1]
    for moment in moments[1:]:
        if moment[0] - kept[-1][0] >= _RATE_WINDOW_SECONDS:
            kept.append(moment)
    return [
        ((a + b) / 2 - written.begin, (more - less) / (1 << 20) / (b - a))
        for (a, less), (b, more) in pairwise(kept)
    ]
