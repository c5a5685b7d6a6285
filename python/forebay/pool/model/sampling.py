"""Keeps a bounded number of samples of a daemon's counts over a run. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from forebay.common.model.record import PoolSample
from forebay.pool.model.pool import PoolStatus

SAMPLES_MAX = 400
"""The most samples that are kept. When they are that many, every second one goes, and from then on
they are taken half as often."""
FIRST_INTERVAL_SECONDS = 0.25
_COST_SHARE = 0.02
"""The most of a processor's time that decoding statuses may take. To write one of many files costs
the daemon about as much as to decode it."""


AT_START = PoolSample(seconds=0.0, taken=0, stored=0, outstanding=0, waited_seconds=0.0)
"""The counts of a run's daemon when its program starts: a journal was replayed before."""


def sample_of(status: PoolStatus, seconds: float) -> PoolSample:
    """The sample of a status that was got so many `seconds` after the program's start."""
    return PoolSample(
        seconds=round(seconds, 3),
        taken=status.taken,
        stored=sum(file.storage_bytes for file in status.files),
        outstanding=status.outstanding,
        waited_seconds=round(sum(file.waited_seconds for file in status.files), 6),
    )


@dataclass
class PoolSampling:
    """The samples of a run so far, in the order of time."""

    samples: list[PoolSample] = field(default_factory=list)
    interval_seconds: float = FIRST_INTERVAL_SECONDS

    def add(self, sample: PoolSample) -> None:
        """Takes in a sample; one that is not later than the last is left out."""
        if self.samples and sample.seconds <= self.samples[-1].seconds:
            return
        self.samples.append(sample)
        if len(self.samples) >= SAMPLES_MAX:
            del self.samples[-2::-2]  # the newest stays
            self.interval_seconds *= 2

    def pause_seconds(self, cost_seconds: float) -> float:
        """How long to wait before the next sample, if the last one cost so much processor time."""
        return max(self.interval_seconds, cost_seconds / _COST_SHARE)
