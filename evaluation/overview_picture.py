"""The picture of docs/performance.md: a dot per measurement, placed by the ratio of speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from evaluation.row_picture import Axis, Frame, drawn, label, legend, style
from forebay.common.model.frozen import frozen

AXIS = Axis(ends=(0.45, 80), ticks=(0.5, 1, 2, 4, 8, 16, 32, 64), unit="×", same=1)
STYLE = style(
    light=[
        ".same { stroke: #1d2b36; stroke-width: 1.5 }",
        ".disk { fill: #00798c; stroke: #00798c } .tmpfs { fill: #d1495b; stroke: #d1495b }",
    ],
    dark=[
        ".same { stroke: #e6edf3 }",
        ".disk { fill: #4fb8c9; stroke: #4fb8c9 } .tmpfs { fill: #f0808d; stroke: #f0808d }",
    ],
)
FRAME = Frame(
    title="Speed of Forebay over that of the best incumbent, for each pattern",
    heading="How many times as fast as the best incumbent",
    styles=STYLE,
    words="to the right of 1 Forebay is faster; bars are the intervals of the tables",
)


@dataclass(frozen=True)
class Dot:
    storage: str
    ratio: float
    low: float
    high: float


@frozen
class Row:
    label: str
    dots: tuple[Dot, ...]


def draw(rows: Sequence[Row]) -> str:
    """The picture as SVG."""
    head = legend({"disk": "disk (ext4)", "tmpfs": "tmpfs"}, width=120)
    return drawn(FRAME, head, AXIS, [partial(_row, row) for row in rows], line=26)


def _row(row: Row, y: float) -> list[str]:
    """A row. Dots of the two storages are shifted, so that none hides another."""
    x, parts = AXIS.x, [label(row.label, y)]
    for dot in row.dots:
        at = y - 4 if dot.storage == "disk" else y + 4
        parts.append(
            f'  <path class="{dot.storage}" opacity=".45" stroke-width="2" '
            f'd="M{x(dot.low):.1f} {at:g} H{x(dot.high):.1f}"/>'
        )
        parts.append(
            f'  <circle class="{dot.storage}" cx="{x(dot.ratio):.1f}" cy="{at:g}" r="3.5"/>'
        )
    return parts
