"""The picture of docs/performance/pool-at-scale.md: the time that a burst keeps a program waiting,
without the pool and with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from evaluation.row_picture import Axis, Frame, drawn, label, legend, style
from forebay.common.model.frozen import frozen

AXIS = Axis(ends=(0.0007, 20), ticks=(0.001, 0.01, 0.1, 1, 10), unit=" s")
STYLE = style(
    light=[
        ".between { stroke: #5b6b77; stroke-width: 1.5; opacity: .5 }",
        ".without { fill: #d1495b } .pool { fill: #00798c }",
    ],
    dark=[
        ".between { stroke: #9aa7b2 }",
        ".without { fill: #f0808d } .pool { fill: #4fb8c9 }",
    ],
)
FRAME = Frame(
    title="Seconds that a burst of output keeps a program waiting, simulated",
    heading="How long a burst keeps the program waiting (simulated)",
    styles=STYLE,
    words="burst of each rank and computing between bursts; to the left is better",
)


@frozen
class Line:
    """The seconds that one burst keeps the program waiting."""

    label: str
    without: float
    pool: float


def draw(lines: Sequence[Line]) -> str:
    """The picture as SVG."""
    head = legend({"without": "without the pool", "pool": "pool"}, width=150)
    return drawn(FRAME, head, AXIS, [partial(_line, line) for line in lines], line=24)


def _line(line: Line, y: float) -> list[str]:
    without, pool = AXIS.x(line.without), AXIS.x(line.pool)
    return [
        label(line.label, y),
        f'  <path class="between" d="M{pool:.1f} {y:g} H{without:.1f}"/>',
        f'  <circle class="without" cx="{without:.1f}" cy="{y:g}" r="4"/>',
        f'  <circle class="pool" cx="{pool:.1f}" cy="{y:g}" r="4"/>',
    ]
