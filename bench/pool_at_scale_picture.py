"""The picture of docs/performance/pool-at-scale.md: how long a burst keeps a program waiting,
without the pool and through it."""

from __future__ import annotations

from collections.abc import Sequence

from bench.row_picture import Kind, RowPicture
from forebay.domain.frozen import frozen

STYLE = """\
    .back { fill: #ffffff } .ink { fill: #1d2b36 } .soft { fill: #5b6b77 }
    .grid { stroke: #dcdfe2 } .between { stroke: #5b6b77; stroke-width: 1.5; opacity: .5 }
    .without { fill: #d1495b } .pool { fill: #00798c }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9aa7b2 }
      .grid { stroke: #30363d } .between { stroke: #9aa7b2 }
      .without { fill: #f0808d } .pool { fill: #4fb8c9 }
    }"""
PICTURE = RowPicture(
    title="Seconds that a burst of output keeps a program waiting, simulated",
    heading="How long a burst keeps the program waiting (simulated)",
    style=STYLE,
    kinds=(Kind(name="without", words="without the pool"), Kind(name="pool", words="pool")),
    kind_width=150,
    ends=(0.0007, 20),
    ticks=(0.001, 0.01, 0.1, 1, 10),
    unit=" s",
    line=24,
    words="burst of each rank and computing between bursts; to the left is better",
)


@frozen
class Line:
    """Seconds that one burst keeps the program waiting."""

    label: str
    without: float
    pool: float


def draw(lines: Sequence[Line]) -> str:
    """The whole picture."""
    return PICTURE.draw([_line(line, PICTURE.middle(index)) for index, line in enumerate(lines)])


def _line(line: Line, y: float) -> list[str]:
    without, pool = PICTURE.x(line.without), PICTURE.x(line.pool)
    return [
        PICTURE.label(line.label, y),
        f'  <path class="between" d="M{pool:.1f} {y:g} H{without:.1f}"/>',
        f'  <circle class="without" cx="{without:.1f}" cy="{y:g}" r="4"/>',
        f'  <circle class="pool" cx="{pool:.1f}" cy="{y:g}" r="4"/>',
    ]
