"""Rows of columns for terminals, one column a value."""

from __future__ import annotations

from collections.abc import Sequence

_STEPS = "▁▂▃▄▅▆▇█"
_STEPS_ASCII = "_.:-=+*#"


def columns(values: Sequence[float], *, is_ascii: bool) -> str:
    """A column for each value, which is not negative; the largest one is full."""
    steps = _STEPS_ASCII if is_ascii else _STEPS
    most = max(values, default=0.0) or 1.0
    return "".join(steps[min(len(steps) - 1, int(value / most * len(steps)))] for value in values)


def shows_columns(encoding: str | None) -> bool:
    """Whether a stream with that encoding can print the columns as blocks."""
    try:
        _STEPS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
