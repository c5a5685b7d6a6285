"""A picture of rows, in each of them dots on one logarithmic axis. Plain SVG text, so that the same
numbers give the same file; colours follow the reader's theme."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from xml.sax.saxutils import escape

from forebay.domain.frozen import frozen

WIDTH, LEFT, RIGHT = 920, 290, 30
TOP = 74


@frozen
class Kind:
    """Of dots: the class that gives their colour, and what the legend says."""

    name: str
    words: str


@frozen
class RowPicture:
    """What is there before any row is."""

    title: str
    heading: str
    style: str
    kinds: tuple[Kind, ...]
    kind_width: int
    ends: tuple[float, float]
    """Of the axis; what lies beyond them is drawn at them."""
    ticks: tuple[float, ...]
    unit: str
    line: int
    """From row to row."""
    words: str
    same: float | None = None
    """The tick that stands out, in the style of that name."""

    def x(self, value: float) -> float:
        """Twice as much is as far everywhere."""
        low, high = (log2(end) for end in self.ends)
        place = min(max((log2(max(value, self.ends[0])) - low) / (high - low), 0.0), 1.0)
        return LEFT + place * (WIDTH - LEFT - RIGHT)

    def middle(self, index: int) -> float:
        """The y of a row's middle."""
        return TOP + self.line * index + self.line / 2

    def label(self, text: str, y: float) -> str:
        """What stands at the left of a row."""
        return (
            f'  <text class="ink" x="{LEFT - 14}" y="{y + 4.5:g}" text-anchor="end">'
            f"{escape(text)}</text>"
        )

    def draw(self, rows: Sequence[Sequence[str]]) -> str:
        """The whole picture; each row as its elements."""
        bottom = TOP + self.line * len(rows)
        height = bottom + 56
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="13">',
            f"  <title>{self.title}</title>",
            f"  <style>\n{self.style}\n  </style>",
            f'  <rect class="back" width="{WIDTH}" height="{height}"/>',
            f'  <text class="ink" x="{LEFT}" y="24" font-size="15" font-weight="bold">'
            f"{self.heading}</text>",
            *self._legend(),
            *self._axis(bottom),
        ]
        for row in rows:
            parts += row
        parts.append(f'  <text class="soft" x="{LEFT}" y="{bottom + 44}">{self.words}</text>')
        return "\n".join([*parts, "</svg>", ""])

    def _legend(self) -> list[str]:
        parts = []
        for index, kind in enumerate(self.kinds):
            x = LEFT + 6 + self.kind_width * index
            parts.append(f'  <circle class="{kind.name}" cx="{x}" cy="44" r="4.5"/>')
            parts.append(f'  <text class="ink" x="{x + 10}" y="48.5">{kind.words}</text>')
        return parts

    def _axis(self, bottom: float) -> list[str]:
        parts = []
        for tick in self.ticks:
            x = self.x(tick)
            kind = "same" if tick == self.same else "grid"
            parts.append(f'  <path class="{kind}" d="M{x:.1f} {TOP - 6} V{bottom + 4:g}"/>')
            parts.append(
                f'  <text class="ink" x="{x:.1f}" y="{bottom + 20:g}" text-anchor="middle">'
                f"{tick:g}{self.unit}</text>"
            )
        return parts
