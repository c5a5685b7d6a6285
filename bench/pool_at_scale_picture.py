"""The picture of docs/performance/pool-at-scale.md: how long a burst keeps a program waiting,
without the pool and through it. Plain SVG text, so that the same numbers give the same file."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from bench.drawing import LEFT, TOP, head, place_on
from forebay.domain.frozen import frozen

LINE = 24
TICKS = (0.001, 0.01, 0.1, 1, 10)
ENDS = (0.0007, 20)
STYLE = """\
    .back { fill: #ffffff } .ink { fill: #1d2b36 } .soft { fill: #5b6b77 }
    .grid { stroke: #dcdfe2 } .between { stroke: #5b6b77; stroke-width: 1.5; opacity: .5 }
    .without { fill: #d1495b } .pool { fill: #00798c }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9aa7b2 }
      .grid { stroke: #30363d } .between { stroke: #9aa7b2 }
      .without { fill: #f0808d } .pool { fill: #4fb8c9 }
    }"""


@frozen
class Line:
    """Seconds that one burst keeps the program waiting."""

    label: str
    without: float
    pool: float


def _x(seconds: float) -> float:
    return place_on(ENDS, seconds)


def draw(lines: Sequence[Line]) -> str:
    """The whole picture."""
    bottom = TOP + LINE * len(lines)
    height = bottom + 56
    parts = head(
        title="Seconds that a burst of output keeps a program waiting, simulated",
        heading="How long a burst keeps the program waiting (simulated)",
        style=STYLE,
        height=height,
    )
    for index, (kind, words) in enumerate((("without", "without the pool"), ("pool", "pool"))):
        at = LEFT + 6 + 150 * index
        parts.append(f'  <circle class="{kind}" cx="{at}" cy="44" r="4.5"/>')
        parts.append(f'  <text class="ink" x="{at + 10}" y="48.5">{words}</text>')
    for tick in TICKS:
        x = _x(tick)
        parts.append(f'  <path class="grid" d="M{x:.1f} {TOP - 6} V{bottom + 4:g}"/>')
        parts.append(
            f'  <text class="ink" x="{x:.1f}" y="{bottom + 20:g}" text-anchor="middle">'
            f"{tick:g} s</text>"
        )
    for index, line in enumerate(lines):
        parts += _line(line, TOP + LINE * index + LINE / 2)
    words = "burst of each rank and computing between bursts; to the left is better"
    parts.append(f'  <text class="soft" x="{LEFT}" y="{bottom + 44}">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _line(line: Line, y: float) -> list[str]:
    return [
        f'  <text class="ink" x="{LEFT - 14}" y="{y + 4.5:g}" text-anchor="end">'
        f"{escape(line.label)}</text>",
        f'  <path class="between" d="M{_x(line.pool):.1f} {y:g} H{_x(line.without):.1f}"/>',
        f'  <circle class="without" cx="{_x(line.without):.1f}" cy="{y:g}" r="4"/>',
        f'  <circle class="pool" cx="{_x(line.pool):.1f}" cy="{y:g}" r="4"/>',
    ]
