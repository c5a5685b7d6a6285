"""Amounts of bytes and seconds, as settings spell them and as people read them."""

import re

_BYTES = re.compile(r"(\d+)[ \t]*(?:([kmgt])(?:ib)?|b)?", re.ASCII)
_SHIFTS = {None: 0, "k": 10, "m": 20, "g": 30, "t": 40}
_NAMES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
MIB = 1 << 20


def parse_bytes(text: str) -> int | None:
    """ "64 MiB", "4m", "65536" as bytes; None when it is none of these."""
    found = _BYTES.fullmatch(text.strip(" \t").lower())
    if found is None:
        return None
    return int(found[1]) << _SHIFTS[found[2]]


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


def human_seconds(seconds: float) -> str:
    """0.123 below ten seconds, fewer decimals above."""
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.1f}"


def counted(number: int, noun: str) -> str:
    """1 rank, 4 ranks."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
