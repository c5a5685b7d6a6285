"""Pictures of a program's I/O, as SVG: over time, by size of call, by rank, by target."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forebay.common.model.units import exact_bytes
from forebay.common.report.drawing import BLUE, FAINT, INK, PALE, style, svg_of
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import busy, target_rates
from forebay_tuning.report.model.diagnosis import Diagnosis

_COLOURS = {Direction.WRITE: BLUE, Direction.READ: INK}
_MEBI = 1 << 20
_RANKS_MAX = 8192


def draw_time(diagnosis: Diagnosis) -> str:
    """Bytes per second over the run; empty if there is nothing to draw, as in all of these."""
    program = diagnosis.program
    if program.bytes == 0 or program.seconds <= 0:
        return ""
    figure, axes = _figure(2.8)
    for direction, rates in busy(program).items():
        if any(rates):
            width = program.seconds / len(rates)
            at = [width * number for number in range(len(rates))]
            axes.step(
                at,
                [one / _MEBI for one in rates],
                where="post",
                lw=1.2,
                color=_COLOURS[direction],
                label=direction.value,
            )
    axes.set_xlabel("seconds after the start")
    axes.set_ylabel("MiB/s")
    axes.set_xlim(0, program.seconds)
    axes.legend(fontsize=7, frameon=False)
    return svg_of(figure)


def draw_sizes(diagnosis: Diagnosis) -> str:
    """Each file's usual size of a call, and the file's bytes."""
    figure, axes = _figure(3.0)
    drawn = False
    for direction, colour in _COLOURS.items():
        passings = [one.passing(direction) for one in diagnosis.program.files]
        dots = [(one.usual_transfer, one.bytes) for one in passings if one.usual_transfer]
        if dots:
            drawn = True
            axes.scatter(
                [one for one, _ in dots],
                [one for _, one in dots],
                s=12,
                color=colour,
                alpha=0.5,
                label=direction.value,
            )
    if not drawn:
        return ""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: _spelled(round(value)))
    axes.set_xlabel("usual size of a call")
    axes.set_ylabel("bytes of the file")
    axes.legend(fontsize=7, frameon=False)
    return svg_of(figure)


def _spelled(count: int) -> str:
    """A power of two with its unit, for an axis."""
    text = exact_bytes(count)
    return text if count >= 1024 else f"{text} B"


def draw_ranks(diagnosis: Diagnosis) -> str:
    """Seconds of each rank, if several ranks have files of their own."""
    by_rank: dict[int, float] = {}
    for one in diagnosis.program.files:
        if one.rank is not None:
            by_rank[one.rank] = by_rank.get(one.rank, 0.0) + one.seconds
    if len(by_rank) < 2:
        return ""
    figure, axes = _figure(2.6)
    ranks = sorted(by_rank)[:_RANKS_MAX]
    axes.vlines(ranks, 0, [by_rank[one] for one in ranks], color=PALE, lw=1)
    axes.scatter(ranks, [by_rank[one] for one in ranks], s=4, color=BLUE)
    axes.set_xlabel("rank")
    axes.set_ylabel("seconds in I/O")
    return svg_of(figure)


def draw_targets(diagnosis: Diagnosis) -> str:
    """Transfer rates of files, by the target that the file lies on."""
    rates = target_rates(diagnosis.program.files)
    if len(rates) < 2:
        return ""
    figure, axes = _figure(2.8)
    sick = {one.target for one in diagnosis.sick}
    for target, values in sorted(rates.items()):
        colour = "#b3261e" if target in sick else BLUE
        axes.scatter(
            [target] * len(values), [one / _MEBI for one in values], s=6, color=colour, alpha=0.4
        )
    axes.set_yscale("log")
    axes.set_xlabel("target")
    axes.set_ylabel("MiB/s of a file")
    axes.grid(axis="x", color=FAINT, lw=0)
    return svg_of(figure)


PICTURES: tuple[tuple[str, str, Callable[[Diagnosis], str]], ...] = (
    (
        "When",
        "Bytes of each file, taken evenly from its first to its last call.",
        draw_time,
    ),
    ("How large", "Each dot is a file.", draw_sizes),
    ("Who waited", "Each rank that has files of its own.", draw_ranks),
    ("Targets", "Each dot is a file that lies on one target; sick targets are red.", draw_targets),
)


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(10, height), layout="constrained")
    axes = figure.subplots()
    style(axes)
    return figure, axes
