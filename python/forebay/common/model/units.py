"""Amounts of bytes and seconds, as settings spell them and as people read them."""

import re

_BYTES = re.compile(r"\+?(?=\.?\d)(\d*)\.?(\d*)[ \t]*([kmgtpe]i?)?b?", re.ASCII)
_LARGEST = (1 << 63) - 1
_LENGTH_MAX = 64
_NAMES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
MIB = 1 << 20
GIB = 1 << 30


def parse_bytes(text: str) -> int | None:
    """The one grammar of sizes, as src/foundation/base/byte_size.hpp has it: a number, and
    k, m, g, t, p or e
    for powers of 1024, also as MB or MiB. None: not a size, no whole bytes, or too many.
    schema/examples/sizes.tsv has examples."""
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
    """Rounded to three digits: 1.00 MiB, 96 B."""
    value, power = float(count), 0
    while value >= 1023.5 and power < len(_NAMES) - 1:
        value /= 1024
        power += 1
    if power == 0:
        return f"{count} B"
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {_NAMES[power]}"


def human_rate(bytes_per_second: float) -> str:
    """As human_bytes, each second: people are never shown two kinds of units side by side."""
    return f"{human_bytes(round(bytes_per_second))}/s"


def human_seconds(seconds: float) -> str:
    """0.123 below ten seconds, fewer decimals above."""
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.1f}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """1 rank, 4 ranks; `plural` where an s does not do."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"
