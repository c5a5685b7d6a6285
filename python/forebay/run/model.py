"""The conclusions of a comparison of runs without and with Forebay, from their files and times."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import median

from forebay.common.model.estimate import Ratio, paired_ratio
from forebay.common.model.frozen import frozen
from forebay.common.model.interleaving import interleaved
from forebay.common.model.newer_python import StrEnum

DIFFERENT = 76
"""The exit status if the files differ."""
_CHEAP_SECONDS = 60.0
"""A program that runs no longer is run once more to see whether it differs by itself."""
_GAIN_LEAST = 0.05
"""Differences below this share of the elapsed time are not told from noise by a single pair."""
_SECONDS_LEAST = 1e-6


class RunSide(StrEnum):
    """How the program was run."""

    PLAIN = "plain"
    FOREBAY = "forebay"


class Contrast(StrEnum):
    """How an entry of the output folder differs between two runs."""

    MISSING = "missing"
    """Only the first run left it."""
    ADDED = "added"
    """Only the second run left it."""
    KIND = "kind"
    """It is a file after one run and a folder or a link after the other, or another link."""
    BYTES = "bytes"
    UNREADABLE = "unreadable"


_OF_NAMES = (Contrast.MISSING, Contrast.ADDED)


@frozen
class FileDifference:
    """A difference between the first run without Forebay and another run. `name` is relative to the
    output folder; `offset` is that of the first byte that differs; sizes are in bytes."""

    name: str
    contrast: Contrast
    offset: int | None = None
    first_bytes: int | None = None
    other_bytes: int | None = None


@frozen
class WrittenFiles:
    """Regular files that a run wrote or changed, and their bytes."""

    files: int
    bytes: int


@frozen
class RunPair:
    """The elapsed times of a pair of runs, in seconds."""

    first: RunSide
    plain_seconds: float
    forebay_seconds: float


def run_order(pairs: int, *, seed: int) -> tuple[tuple[RunSide, RunSide], ...]:
    """The order of the runs. A single pair begins without Forebay: if that fails, it is known that
    Forebay is not the reason."""
    if pairs == 1:
        return ((RunSide.PLAIN, RunSide.FOREBAY),)
    return interleaved(RunSide.PLAIN, RunSide.FOREBAY, pairs=pairs, seed=seed)


def unexplained(
    differences: Collection[FileDifference], own: Collection[FileDifference] | None
) -> tuple[FileDifference, ...]:
    """The differences that the program does not make by itself, as far as `own`, those between its
    runs without Forebay, show (None: no two of these were compared). Once names differ by
    themselves, as with a process id in them, no name tells anything."""
    known = {one.name for one in own or ()}
    names_differ = any(one.contrast in _OF_NAMES for one in own or ())
    return tuple(
        one
        for one in differences
        if one.name not in known and not (names_differ and one.contrast in _OF_NAMES)
    )


def is_cheap(pairs: Sequence[RunPair]) -> bool:
    """Whether one more run takes so little time that nobody has to be asked."""
    return median(one.plain_seconds for one in pairs) <= _CHEAP_SECONDS


def speed_ratio(pairs: Sequence[RunPair]) -> Ratio:
    """How many times as fast the program is with Forebay, by elapsed time, from at least a pair."""
    return paired_ratio(
        [max(one.plain_seconds, _SECONDS_LEAST) for one in pairs],
        [max(one.forebay_seconds, _SECONDS_LEAST) for one in pairs],
    )


def wait_without(pairs: Sequence[RunPair], *, waited: float, processes: int) -> float | None:
    """About how many seconds a program of one process waited for its files without the pool: what
    it ran longer, and what it `waited` with the pool. None if the times do not tell: it hardly ran
    longer, or has several processes, whose waits may overlap."""
    if processes != 1 or not has_gained(pairs):
        return None
    return _longer(pairs) + waited


def has_gained(pairs: Sequence[RunPair]) -> bool:
    """Whether the runs without Forebay took longer, by more than runs of a program differ."""
    plain = median(one.plain_seconds for one in pairs)
    return _longer(pairs) >= _GAIN_LEAST * plain


def _longer(pairs: Sequence[RunPair]) -> float:
    plain = median(one.plain_seconds for one in pairs)
    return plain - median(one.forebay_seconds for one in pairs)
