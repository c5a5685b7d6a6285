"""Numbers with units, as platforms and portraits spell them: "9.8 GB/s" (a link, in its vendor's
decimal units), "9.13 GiB/s", "0.3 ms", "1 MiB"."""

from __future__ import annotations

import re

_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_NEARLY = 999.5 / 1024
"""The share of a unit from which on it is used: in the smaller unit, the value would round to four
digits."""
_QUANTITY = re.compile(r"([-+]?[\d.]+(?:e[-+]?\d+)?) *([a-zA-Zµ]*?)(B/s|B|s)", re.ASCII)


def parse_quantity(text: str) -> float | None:
    """The value in bytes, seconds, or bytes per second; None if the text is malformed."""
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        return None
    number, prefix, _ = found.groups()
    factor = _BINARY.get(prefix, _PREFIXES.get(prefix))
    try:
        return None if factor is None else float(number) * factor
    except ValueError:
        return None


def spell_rate(value: float, *, digits: int = 6) -> str:
    """A rate in bytes per second, spelled in binary units."""
    prefixes = (("Gi", 2.0**30), ("Mi", 2.0**20), ("Ki", 2.0**10), ("", 1.0))
    return _spelled(value, digits, "B/s", prefixes)


def spell_seconds(value: float, *, digits: int = 6) -> str:
    """A time in seconds, spelled with a unit."""
    return _spelled(value, digits, "s", (("", 1.0), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9)))


def _spelled(value: float, digits: int, unit: str, prefixes: tuple[tuple[str, float], ...]) -> str:
    for prefix, factor in prefixes:
        if abs(value) >= _NEARLY * factor:
            return f"{value / factor:.{digits}g} {prefix}{unit}"
    prefix, factor = prefixes[-1]
    return f"{value / factor:.{digits}g} {prefix}{unit}"
