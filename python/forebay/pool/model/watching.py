"""A view of a daemon over time: its rates, and its files in a chosen order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import StrEnum
from forebay.pool.model.pool import PoolFile, PoolStatus

SAMPLES_MAX = 600
"""Rates that are kept: ten minutes, if one is taken each second."""


class FileOrder(StrEnum):
    """The orders of files; the value completes "sorted by …"."""

    LAG = "what is to go"
    AGE = "age"
    WAITED = "waiting"
    TAKEN = "what was taken"
    NAME = "name"

    @property
    def following(self) -> FileOrder:
        """The order that comes after this one; the first after the last."""
        all_ = list(FileOrder)
        return all_[(all_.index(self) + 1) % len(all_)]


_KEYS: Mapping[FileOrder, Callable[[PoolFile], tuple[float, float]]] = {
    FileOrder.LAG: lambda file: (-file.outstanding, -file.oldest_seconds),
    FileOrder.AGE: lambda file: (-file.oldest_seconds, -file.outstanding),
    FileOrder.WAITED: lambda file: (-file.waited_seconds, -file.outstanding),
    FileOrder.TAKEN: lambda file: (-file.taken, -file.outstanding),
    FileOrder.NAME: lambda _: (0, 0),
}


def ordered(files: tuple[PoolFile, ...], order: FileOrder) -> list[PoolFile]:
    """The files in that order, those with an error first. Files that are alike in it are in the
    order of their names."""
    key = _KEYS[order]
    return sorted(files, key=lambda file: (not file.error, *key(file), file.path))


@frozen
class RateSample:
    """Rates of one interval, in bytes per second: what programs deposited, and what the file
    system's requests moved."""

    deposited: float
    stored: float


@dataclass
class RateHistory:
    """The rates of a daemon, from one status to the next."""

    samples: list[RateSample] = field(default_factory=list)
    _before: tuple[float, int, int] | None = None

    def add(self, status: PoolStatus, moment: float) -> None:
        """Takes in a status. `moment` is in seconds, of a clock that does not go back."""
        taken, stored = status.taken, sum(file.storage_bytes for file in status.files)
        before, self._before = self._before, (moment, taken, stored)
        if before is None or moment <= before[0]:
            return
        seconds = moment - before[0]
        # Sums shrink where the daemon forgets the counts of closed files.
        self.samples.append(
            RateSample(
                deposited=max(0, taken - before[1]) / seconds,
                stored=max(0, stored - before[2]) / seconds,
            )
        )
        del self.samples[:-SAMPLES_MAX]

    @property
    def last(self) -> RateSample:
        """The newest rates; zeros before there are two statuses."""
        return self.samples[-1] if self.samples else RateSample(deposited=0.0, stored=0.0)
