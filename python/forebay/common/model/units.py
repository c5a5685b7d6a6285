"""Amounts of bytes and seconds, as settings spell them and as people read them."""

from __future__ import annotations

import re

_BYTES = re.compile(r"\+?(?=\.?\d)(\d*)\.?(\d*)[ \t]*([kmgtpe]i?)?b?", re.ASCII)
_LARGEST = (1 << 63) - 1
_LENGTH_MAX = 64
_NAMES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
MIB = 1 << 20
GIB = 1 << 30


def parse_bytes(text: str) -> int | None:
    """The number of bytes that `text` spells, with the one grammar of sizes, as in
    src/foundation/base/byte_size.hpp: a number, and k, m, g, t, p or e for powers of 1024, also
    spelled MB or MiB. Returns None if it is no size, no whole number of bytes, or too large.
    Examples are in schema/examples/sizes.tsv."""
    found = _BYTES.fullmatch(text.strip(" \t").lower()) if len(text) <= _LENGTH_MAX else None
    if found is None:
        return None
    whole, part, unit = found.groups()
    power = "kmgtpe".index(unit[0]) + 1 if unit else 0
    size, rest = divmod(int(whole + part) * 1024**power, 10 ** len(part))
    return None if rest or size > _LARGEST else size


def exact_bytes(count: int) -> str:
    """The shortest exact spelling: 4194304 is "4 MiB", 1000 is "1000"."""
    power = 0
    while count and count % 1024 == 0 and power < len(_NAMES) - 1:
        count //= 1024
        power += 1
    return f"{count} {_NAMES[power]}" if power else str(count)


def human_bytes(count: int) -> str:
    """The size rounded to three digits: 1.00 MiB, 96 B."""
    value, power = float(count), 0
    while value >= 1023.5 and power < len(_NAMES) - 1:
        value /= 1024
        power += 1
    if power == 0:
        return f"{count} B"
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {_NAMES[power]}"


def human_rate(bytes_per_second: float) -> str:
    """The rate in the units of human_bytes, so that output never mixes two kinds of units."""
    return f"{human_bytes(round(bytes_per_second))}/s"


def human_seconds(seconds: float) -> str:
    """Three decimals below ten seconds, one above."""
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.1f}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """The number with its noun: 1 rank, 4 ranks. `plural` is for irregular nouns."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"
