"""The common part of pictures with rows of dots on one logarithmic axis. They are plain SVG text,
so that equal numbers give equal files; colours follow the reader's theme (light or dark)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from xml.sax.saxutils import escape

from forebay.common.model.frozen import frozen

WIDTH, LEFT, RIGHT = 920, 290, 30
TOP = 74
STYLE = """\
    .back { fill: #ffffff } .ink { fill: #1d2b36 } .soft { fill: #5b6b77 }
    .grid { stroke: #dcdfe2 } LIGHT
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9aa7b2 }
      .grid { stroke: #30363d } DARK
    }"""

Row = Callable[[float], list[str]]
"""A function that draws a row whose middle is at the given y."""


@frozen
class Axis:
    """A logarithmic axis. Values outside of it are drawn at its ends."""

    ends: tuple[float, float]
    ticks: tuple[float, ...]
    unit: str
    same: float | None = None
    """The tick that is emphasised, in the style "same"; None for none."""

    def x(self, value: float) -> float:
        """The x coordinate of a value; equal ratios have equal distances."""
        low, high = (log2(end) for end in self.ends)
        place = min(max((log2(max(value, self.ends[0])) - low) / (high - low), 0.0), 1.0)
        return LEFT + place * (WIDTH - LEFT - RIGHT)

    def draw(self, bottom: float) -> list[str]:
        """The ticks, down to `bottom`."""
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


def style(light: Sequence[str], dark: Sequence[str]) -> str:
    """The style sheet of all pictures, with additional lines for the light and the dark theme."""
    return STYLE.replace("LIGHT", "\n    ".join(light)).replace("DARK", "\n      ".join(dark))


def legend(kinds: Mapping[str, str], *, width: int) -> list[str]:
    """The legend: the meaning of each kind of dots, `width` pixels apart."""
    parts = []
    for index, (kind, words) in enumerate(kinds.items()):
        x = LEFT + 6 + width * index
        parts.append(f'  <circle class="{kind}" cx="{x}" cy="44" r="4.5"/>')
        parts.append(f'  <text class="ink" x="{x + 10}" y="48.5">{words}</text>')
    return parts


def label(text: str, y: float) -> str:
    """The label to the left of a row."""
    return (
        f'  <text class="ink" x="{LEFT - 14}" y="{y + 4.5:g}" text-anchor="end">'
        f"{escape(text)}</text>"
    )


@frozen
class Frame:
    """The surroundings of the rows. `words` are the text below them."""

    title: str
    heading: str
    styles: str
    words: str


def drawn(frame: Frame, head: Sequence[str], axis: Axis, rows: Sequence[Row], *, line: int) -> str:
    """The whole picture. `line` is the height of a row."""
    bottom = TOP + line * len(rows)
    height = bottom + 56
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f"  <title>{frame.title}</title>",
        f"  <style>\n{frame.styles}\n  </style>",
        f'  <rect class="back" width="{WIDTH}" height="{height}"/>',
        f'  <text class="ink" x="{LEFT}" y="24" font-size="15" font-weight="bold">'
        f"{frame.heading}</text>",
        *head,
        *axis.draw(bottom),
    ]
    for index, row in enumerate(rows):
        lines += row(TOP + line * index + line / 2)
    lines.append(f'  <text class="soft" x="{LEFT}" y="{bottom + 44}">{frame.words}</text>')
    return "\n".join([*lines, "</svg>", ""])
