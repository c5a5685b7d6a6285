"""Pictures of a program's I/O, as SVG: over time, by size of call, by rank, by target."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forebay.common.model.units import exact_bytes
from forebay.common.report.drawing import BLUE, FAINT, INK, PALE, style, svg_of
from forebay_tuning.model.course import PoolCourse, rates_of
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import busy, target_rates
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis

_COLOURS = {Direction.WRITE: BLUE, Direction.READ: INK}
_MEBI = 1 << 20
_RANKS_MAX = 8192
_CAP_DRAWN_SHARE = 0.3
"""If less than this share of the pool's bound was held, the bound is not drawn, since it would
flatten the curve."""


def draw_time(diagnosis: ProgramDiagnosis) -> str:
    """Bytes per second over the run; empty if there is nothing to draw, as in all of these."""
    program = diagnosis.program
    found = {direction: rates for direction, rates in busy(program).items() if any(rates)}
    if not found or program.seconds <= 0:
        return ""
    figure, axes = _figure(2.8)
    for direction, rates in found.items():
        width = program.seconds / len(rates)
        axes.step(
            [width * number for number in range(len(rates))],
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


def draw_course(course: PoolCourse) -> str:
    """Three rows over one time: deposits and the file system, bytes in memory, waits so far."""
    figure = Figure(figsize=(10, 5.4), layout="constrained")
    rows = figure.subplots(3, sharex=True, height_ratios=(1.3, 1, 1))
    for axes in rows:
        style(axes)
        axes.axvline(course.seconds, color=INK, lw=0.8, ls=(0, (4, 3)))
        axes.axvspan(course.seconds, course.seconds_shown, color=FAINT, alpha=0.5, lw=0)
    above, middle, below = rows
    rates = rates_of(course.samples)
    edges = [rates[0].since, *(one.until for one in rates)]
    deposited = [one.deposited / _MEBI for one in rates]
    stored = [one.stored / _MEBI for one in rates]
    above.stairs(deposited, edges, color=PALE, fill=True, label="deposits of programs")
    above.stairs(stored, edges, color=BLUE, lw=1.4, label="written to the file system")
    above.set_ylabel("MiB/s")
    _legend_above(above)
    at = [one.seconds for one in course.samples]
    held = [one.outstanding / _MEBI for one in course.samples]
    middle.fill_between(at, held, color=PALE, lw=0)
    middle.plot(at, held, color=BLUE, lw=1.2, label="in memory, and not in the file system yet")
    cap = course.cap / _MEBI
    if cap and max(held) > _CAP_DRAWN_SHARE * cap:
        middle.axhline(cap, color=INK, lw=1, label="the bound of this memory (pool_cap)")
    middle.set_ylabel("MiB")
    _legend_above(middle)
    waited = [one.waited_seconds for one in course.samples]
    below.step(at, waited, where="post", color=INK, lw=1.4, label="waited so far, all processes")
    below.set_ylabel("seconds")
    _legend_above(below)
    below.set_xlabel("seconds after the program's start")
    for axes in rows:
        axes.set_xlim(0, course.seconds_shown)
        axes.set_ylim(bottom=0)
    figure.align_ylabels()
    return svg_of(figure)


def _legend_above(axes: Axes) -> None:
    """A legend that hides nothing of the picture."""
    axes.legend(
        fontsize=7, frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0
    )


def draw_sizes(diagnosis: ProgramDiagnosis) -> str:
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


def draw_ranks(diagnosis: ProgramDiagnosis) -> str:
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


def draw_targets(diagnosis: ProgramDiagnosis) -> str:
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


PICTURES: tuple[tuple[str, str, Callable[[ProgramDiagnosis], str]], ...] = (
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
