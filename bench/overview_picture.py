"""The picture of docs/performance.md: a dot a measurement, its place the ratio of speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.row_picture import Kind, RowPicture
from forebay.domain.frozen import frozen

STYLE = """\
    .back { fill: #ffffff } .ink { fill: #1d2b36 } .soft { fill: #5b6b77 }
    .grid { stroke: #dcdfe2 } .same { stroke: #1d2b36; stroke-width: 1.5 }
    .disk { fill: #00798c; stroke: #00798c } .tmpfs { fill: #d1495b; stroke: #d1495b }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9aa7b2 }
      .grid { stroke: #30363d } .same { stroke: #e6edf3 }
      .disk { fill: #4fb8c9; stroke: #4fb8c9 } .tmpfs { fill: #f0808d; stroke: #f0808d }
    }"""
PICTURE = RowPicture(
    title="Speed of Forebay over that of the best incumbent, for each pattern",
    heading="How many times as fast as the best incumbent",
    style=STYLE,
    kinds=(Kind(name="disk", words="disk (ext4)"), Kind(name="tmpfs", words="tmpfs")),
    kind_width=120,
    ends=(0.45, 80),
    ticks=(0.5, 1, 2, 4, 8, 16, 32, 64),
    unit="×",
    line=26,
    words="to the right of 1 Forebay is faster; bars are the intervals of the tables",
    same=1,
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
    """The whole picture."""
    return PICTURE.draw([_row(row, PICTURE.middle(index)) for index, row in enumerate(rows)])


def _row(row: Row, y: float) -> list[str]:
    """Dots of the two storages a little apart, so that none hides another."""
    x, parts = PICTURE.x, [PICTURE.label(row.label, y)]
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
