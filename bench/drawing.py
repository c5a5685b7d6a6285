"""What the pictures of docs/performance have in common: lines of dots on a logarithmic axis."""

from __future__ import annotations

from math import log10

WIDTH, LEFT, RIGHT = 920, 290, 30
TOP = 74


def place_on(axis: tuple[float, float], value: float) -> float:
    """Equal ratios are equally far; what lies beyond the ends of the axis is drawn at them."""
    low, high = (log10(end) for end in axis)
    place = (log10(max(value, axis[0])) - low) / (high - low)
    return LEFT + min(place, 1.0) * (WIDTH - LEFT - RIGHT)


def head(*, title: str, heading: str, style: str, height: int) -> list[str]:
    """The picture's begin, with a heading that everybody sees and a title for who cannot."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f"  <title>{title}</title>",
        f"  <style>\n{style}\n  </style>",
        f'  <rect class="back" width="{WIDTH}" height="{height}"/>',
        f'  <text class="ink" x="{LEFT}" y="24" font-size="15" font-weight="bold">{heading}</text>',
    ]
