"""The picture of docs/performance.md: a dot a measurement, its place the ratio of speeds. Plain SVG
text, so that the same numbers give the same file; colours follow the reader's theme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench.drawing import LEFT, TOP, head, place_on
from forebay.domain.frozen import frozen

LINE = 26
TICKS = (0.5, 1, 2, 4, 8, 16, 32, 64)
ENDS = (0.45, 80)
STYLE = """\
    .back { fill: #ffffff } .ink { fill: #1d2b36 } .soft { fill: #5b6b77 }
    .grid { stroke: #dcdfe2 } .same { stroke: #1d2b36; stroke-width: 1.5 }
    .disk { fill: #00798c; stroke: #00798c } .tmpfs { fill: #d1495b; stroke: #d1495b }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9aa7b2 }
      .grid { stroke: #30363d } .same { stroke: #e6edf3 }
      .disk { fill: #4fb8c9; stroke: #4fb8c9 } .tmpfs { fill: #f0808d; stroke: #f0808d }
    }"""


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


def _x(ratio: float) -> float:
    return place_on(ENDS, ratio)


def draw(rows: Sequence[Row]) -> str:
    bottom = TOP + LINE * len(rows)
    height = bottom + 56
    parts = [
        *head(
            title="Speed of Forebay over that of the best incumbent, for each pattern",
            heading="How many times as fast as the best incumbent",
            style=STYLE,
            height=height,
        ),
        *_legend(),
        *_axis(bottom),
    ]
    for index, row in enumerate(rows):
        parts += _row(row, TOP + LINE * index + LINE / 2)
    words = "to the right of 1 Forebay is faster; bars are the intervals of the tables"
    parts.append(f'  <text class="soft" x="{LEFT}" y="{bottom + 44}">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _legend() -> list[str]:
    parts = []
    for index, (storage, words) in enumerate((("disk", "disk (ext4)"), ("tmpfs", "tmpfs"))):
        x = LEFT + 6 + 120 * index
        parts.append(f'  <circle class="{storage}" cx="{x}" cy="44" r="4.5"/>')
        parts.append(f'  <text class="ink" x="{x + 10}" y="48.5">{words}</text>')
    return parts


def _axis(bottom: float) -> list[str]:
    parts = []
    for tick in TICKS:
        x = _x(tick)
        kind = "same" if tick == 1 else "grid"
        parts.append(f'  <path class="{kind}" d="M{x:.1f} {TOP - 6} V{bottom + 4:g}"/>')
        parts.append(
            f'  <text class="ink" x="{x:.1f}" y="{bottom + 20:g}" text-anchor="middle">'
            f"{tick:g}×</text>"
        )
    return parts


def _row(row: Row, y: float) -> list[str]:
    """Dots of the two storages a little apart, so that none hides another."""
    parts = [
        f'  <text class="ink" x="{LEFT - 14}" y="{y + 4.5:g}" text-anchor="end">'
        f"{escape(row.label)}</text>"
    ]
    for dot in row.dots:
        at = y - 4 if dot.storage == "disk" else y + 4
        parts.append(
            f'  <path class="{dot.storage}" opacity=".45" stroke-width="2" '
            f'd="M{_x(dot.low):.1f} {at:g} H{_x(dot.high):.1f}"/>'
        )
        parts.append(
            f'  <circle class="{dot.storage}" cx="{_x(dot.ratio):.1f}" cy="{at:g}" r="3.5"/>'
        )
    return parts
