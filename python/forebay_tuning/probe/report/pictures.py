"""The five figures of the configuration study, from a portrait. Lines are the fit within the probed
range, dots are probes. Where the probes show no structure there is no fit, and dots are what was
measured. A figure along something that was not varied, or that another one shows already, is left
out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from forebay.common.model.frozen import frozen
from forebay.common.model.units import exact_bytes
from forebay.common.report.drawing import BLUE, INK, PALE, SERIES, style, svg_of
from forebay_tuning.model.point import COORDINATES, Direction, Point, changed
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.response import Response
from forebay_tuning.model.sample import Choice, Purpose, Sample

_GIBI = 1 << 30
_LINES_MAX = 6
Change = Callable[[Point, int], Point]


def draw_transfer(portrait: Portrait) -> str:
    """(1) Transfer size, with a line per stripe size."""
    return _draw(
        portrait,
        axis="transfer_bytes",
        label="transfer size",
        lines="stripe_bytes",
        name="stripe",
    )


def draw_bytes(portrait: Portrait) -> str:
    """(2) Bytes per process, including opening and closing."""
    return _draw(
        portrait,
        axis="process_bytes",
        label="bytes of a process",
        whole=True,
    )


def draw_per_node(portrait: Portrait) -> str:
    """(3) Processes per node, with all nodes used."""
    nodes = portrait.identity.nodes

    def change(base: Point, value: int) -> Point:
        return replace(base, per_node=value, processes=min(base.nodes, nodes) * value)

    return _draw(portrait, axis="per_node", label="I/O processes on a node", change=change)


def draw_stripes(portrait: Portrait) -> str:
    """(4) File size, with a line per stripe count."""
    return _draw(
        portrait,
        axis="process_bytes",
        label="size of the file",
        lines="stripe_count",
        name="stripes",
        whole=True,
        scale=lambda base: base.processes,
    )


def draw_processes(portrait: Portrait) -> str:
    """(5) Number of processes; below, their cost of opening and closing."""

    def change(base: Point, value: int) -> Point:
        return replace(base, processes=value, per_node=min(base.per_node, value))

    figure, panels = _panels(max(1, len(portrait.choices)), rows=2)
    for column, (direction, choice) in enumerate(portrait.choices.items()):
        above, below = panels[0][column], panels[1][column]
        if _is_fitted(choice):
            _lines(above, portrait, choice, "processes", change, None, whole=False)
        _rate_axis(above)
        _dots(above, portrait, direction, choice, "processes", change)
        levels = portrait.space.levels["processes"]
        response = choice.response
        low, high = Reach.of(portrait.samples, direction).spans.get("processes", (0, 0))
        probed = [one for one in levels if low <= one <= high]
        storms = ((response.opening, "opening", BLUE), (response.closing, "closing", SERIES[1]))
        for storm, text, colour in storms:
            seconds = [1e6 * storm.seconds(one) for one in probed]
            below.plot(probed, seconds, label=text, lw=1.4, color=colour)
        _axis(below, levels, "I/O processes", sizes=False)
        below.set_yscale("log")
        below.set_ylabel("µs")
        below.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        below.yaxis.set_minor_locator(NullLocator())
        below.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        below.legend(fontsize=7, frameon=False)
        _axis(above, levels, "I/O processes", sizes=False)
        _title(above, direction, choice)
    return svg_of(figure)


def draw_course(portrait: Portrait) -> str:
    """The control probes' rates, relative to their median, over time."""
    figure = Figure(figsize=(10, 2.8), layout="constrained")
    axes = figure.subplots()
    style(axes)
    for direction in portrait.choices:
        places, rates = [], []
        for place, sample in enumerate(portrait.samples):
            passage = sample.passage(direction)
            if passage is not None and sample.ask.purpose is Purpose.CONTROL:
                places.append(place + 1)
                rates.append(passage.rate)
        if rates:
            middle = sorted(rates)[len(rates) // 2]
            ratios = [one / middle for one in rates]
            colour = BLUE if direction is Direction.WRITE else INK
            axes.plot(places, ratios, marker=".", lw=0.8, label=direction.value, color=colour)
    axes.axhline(1, color=INK, lw=0.8, ls=(0, (4, 3)))
    axes.set_xlabel("probe")
    axes.set_ylabel("rate ÷ median")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=7, frameon=False)
    return svg_of(figure)


def _is_fitted(choice: Choice) -> bool:
    return choice.response.surface.has_structure


def _varies(portrait: Portrait, axis: str) -> bool:
    return len(portrait.space.levels[axis]) > 1


def _is_any_fitted(portrait: Portrait) -> bool:
    return any(_is_fitted(one) for one in portrait.choices.values())


@frozen
class Figured:
    """A figure of a portrait, and whether it would show something that no other one shows."""

    title: str
    caption: str
    draw: Callable[[Portrait], str]
    shows: Callable[[Portrait], bool]


PICTURES: tuple[Figured, ...] = (
    Figured(
        title="Transfer size and stripe size",
        caption="How large a call has to be.",
        draw=draw_transfer,
        shows=lambda portrait: _varies(portrait, "transfer_bytes"),
    ),
    # It has no dots, since opening and closing count: where nothing is fitted it is empty.
    Figured(
        title="Bytes of a process",
        caption="How much is to be moved before opening and closing do not matter.",
        draw=draw_bytes,
        shows=lambda portrait: _varies(portrait, "process_bytes") and _is_any_fitted(portrait),
    ),
    # On one node it is the same as the number of I/O processes.
    Figured(
        title="Processes on a node",
        caption="From where on a node carries no more.",
        draw=draw_per_node,
        shows=lambda portrait: _varies(portrait, "per_node") and portrait.identity.nodes > 1,
    ),
    # With one stripe count it is the second one, on another scale.
    Figured(
        title="Stripe count and size of the file",
        caption="How many targets a file needs.",
        draw=draw_stripes,
        shows=lambda portrait: _varies(portrait, "stripe_count") and _is_any_fitted(portrait),
    ),
    Figured(
        title="Number of I/O processes",
        caption="How many disturb each other, and what opening and closing cost them.",
        draw=draw_processes,
        shows=lambda portrait: _varies(portrait, "processes"),
    ),
)


def _draw(
    portrait: Portrait,
    *,
    axis: str,
    label: str,
    change: Change | None = None,
    lines: str | None = None,
    name: str = "",
    whole: bool = False,
    scale: Callable[[Point], int] = lambda _: 1,
) -> str:
    """A figure along a coordinate. `change` moves a point along it if more than the coordinate
    changes."""
    go = change or (lambda base, value: changed(base, {axis: value}))
    figure, panels = _panels(max(1, len(portrait.choices)), rows=1)
    for column, (direction, choice) in enumerate(portrait.choices.items()):
        axes = panels[0][column]
        factor = scale(choice.best)
        if _is_fitted(choice):
            _lines(axes, portrait, choice, axis, go, lines, whole=whole, factor=factor)
        _rate_axis(axes)
        if factor == 1 and not whole:
            _dots(axes, portrait, direction, choice, axis, go)
        levels = [factor * one for one in portrait.space.levels[axis]]
        _axis(axes, levels, label, sizes=axis.endswith("bytes"))
        _title(axes, direction, choice)
        if lines is not None and len(portrait.space.levels[lines]) > 1 and _is_fitted(choice):
            beside = (1, 1)  # outside of the axes, so that it hides no line
            axes.legend(
                fontsize=7,
                frameon=False,
                title=name,
                title_fontsize=7,
                loc="upper left",
                bbox_to_anchor=beside,
            )
    return svg_of(figure)


def _panels(columns: int, *, rows: int) -> tuple[Figure, Sequence[Sequence[Axes]]]:
    figure = Figure(figsize=(10, 3.2 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for row in panels:
        for axes in row:
            style(axes)
    found: Sequence[Sequence[Axes]] = [list(row) for row in panels]
    return figure, found


def _lines(
    axes: Axes,
    portrait: Portrait,
    choice: Choice,
    axis: str,
    change: Change,
    lines: str | None,
    *,
    whole: bool,
    factor: int = 1,
) -> None:
    levels = portrait.space.levels[axis]
    probed = Reach.of(portrait.samples, choice.response.direction)
    own = portrait.space.levels[lines] if lines else (0,)
    for number, value in enumerate(own[:: max(1, math.ceil(len(own) / _LINES_MAX))]):
        base = changed(choice.best, {lines: value}) if lines else choice.best
        text = exact_bytes(value) if (lines or "").endswith("bytes") else str(value)
        points = [change(base, one) for one in levels]
        rates = [
            _rate(choice.response, one, whole) / _GIBI if probed.holds(one) else math.nan
            for one in points
        ]
        colour = SERIES[number % len(SERIES)]
        axes.plot([factor * one for one in levels], rates, lw=1.4, label=text, color=colour)


def _rate_axis(axes: Axes) -> None:
    axes.set_ylabel("GiB/s")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


@frozen
class Reach:
    """The range of the probes that count: minimum and maximum of each coordinate, and the most
    bytes. No line is drawn beyond it."""

    spans: Mapping[str, tuple[int, int]]
    bytes_max: int

    @staticmethod
    def of(samples: Sequence[Sample], direction: Direction) -> Reach:
        """The range of a direction, without long passages, which are larger and not fitted."""
        points = [
            one.ask.point
            for one in samples
            if one.passage(direction) is not None and one.ask.purpose is not Purpose.SUSTAIN
        ]
        values = {name: [getattr(one, name) for one in points] for name in COORDINATES}
        return Reach(
            spans={name: (min(found), max(found)) for name, found in values.items() if found},
            bytes_max=max((one.bytes for one in points), default=0),
        )

    def holds(self, point: Point) -> bool:
        """Whether the point is within the range."""
        return point.bytes <= self.bytes_max and all(
            low <= getattr(point, name) <= high for name, (low, high) in self.spans.items()
        )


def _rate(response: Response, point: Point, whole: bool) -> float:
    return response.rate(point) if whole else response.surface.rate(point)


def _dots(
    axes: Axes,
    portrait: Portrait,
    direction: Direction,
    choice: Choice,
    axis: str,
    change: Change,
) -> None:
    surface = choice.response.surface
    at, rates = [], []
    for sample in portrait.samples:
        passage = sample.passage(direction)
        if passage is None or sample.ask.purpose is Purpose.SUSTAIN:
            continue
        value: int = getattr(sample.ask.point, axis)
        at.append(value)
        rate = passage.rate
        if _is_fitted(choice):
            rate *= surface.rate(change(choice.best, value)) / surface.rate(sample.ask.point)
        rates.append(rate / _GIBI)
    axes.scatter(at, rates, color=PALE if _is_fitted(choice) else BLUE, s=9, zorder=1)


def _axis(axes: Axes, levels: Sequence[int], label: str, *, sizes: bool) -> None:
    axes.set_xscale("log")
    shown = levels[:: max(1, len(levels) // 6)]
    axes.xaxis.set_major_locator(FixedLocator([float(one) for one in shown]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: exact_bytes(round(value)) if sizes else f"{value:.0f}")
    )
    axes.set_xlabel(label)


def _title(axes: Axes, direction: Direction, choice: Choice) -> None:
    known = "" if _is_fitted(choice) else " (no structure found: what was measured)"
    axes.set_title(f"{direction}{known}", fontsize=9, loc="left")
