"""Keeps a bounded number of samples of the daemons' counts over a run. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from forebay.common.model.newer_python import zip_of
from forebay.common.model.record import PoolSample
from forebay.pool.model.pool import PoolStatus

SAMPLES_MAX = 400
"""The most samples that are kept. When they are that many, every second one goes, and from then on
they are taken half as often."""
FIRST_INTERVAL_SECONDS = 0.25
_COST_SHARE = 0.02
"""The most of a processor's time that decoding statuses may take. To write one of many files costs
the daemon about as much as to decode it."""


_JOB_SAMPLES_MAX = 40_000
"""The most samples that the daemons of a job send to `forebay run` together: each is some 100
bytes."""
_NODE_SAMPLES_LEAST = 40

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


def samples_max_of(nodes: int) -> int:
    """How many samples each of the daemons of so many nodes is to keep."""
    return max(_NODE_SAMPLES_LEAST, min(SAMPLES_MAX, _JOB_SAMPLES_MAX // nodes))


def since_start(samples: Sequence[PoolSample], lead_seconds: float) -> tuple[PoolSample, ...]:
    """The samples with times since the program's start, `lead_seconds` after the daemon began to
    take them. What it counted before is left out: the program had written nothing."""
    later = (replace(one, seconds=round(one.seconds - lead_seconds, 3)) for one in samples)
    return (AT_START, *(one for one in later if one.seconds > 0))


def summed(nodes: Sequence[Sequence[PoolSample]]) -> tuple[PoolSample, ...]:
    """The counts of several nodes together, at the moments of the node with most samples, which are
    evenly spaced, and at the end. Each node has a sample at least."""
    if not nodes:
        return ()
    moments = [one.seconds for one in max(nodes, key=len)]
    end = max(one[-1].seconds for one in nodes)
    if end > moments[-1]:
        moments.append(end)
    times = [[one.seconds for one in samples] for samples in nodes]
    found = []
    for moment in moments:
        each = [_at(samples, of, moment) for samples, of in zip_of(nodes, times, strict=True)]
        found.append(
            PoolSample(
                seconds=moment,
                taken=sum(one.taken for one in each),
                stored=sum(one.stored for one in each),
                outstanding=sum(one.outstanding for one in each),
                waited_seconds=round(sum(one.waited_seconds for one in each), 6),
            )
        )
    return tuple(found)


def _at(samples: Sequence[PoolSample], times: Sequence[float], moment: float) -> PoolSample:
    """The counts at a moment: between two samples, bytes are taken to grow evenly, and a wait
    counts when it is over. After the last one they stay."""
    place = bisect_right(times, moment)
    before = samples[max(0, place - 1)]
    if place in (0, len(samples)):
        return before
    after = samples[place]
    share = (moment - before.seconds) / (after.seconds - before.seconds)

    def between(first: int, last: int) -> int:
        return round(first + share * (last - first))

    return PoolSample(
        seconds=moment,
        taken=between(before.taken, after.taken),
        stored=between(before.stored, after.stored),
        outstanding=between(before.outstanding, after.outstanding),
        waited_seconds=before.waited_seconds,
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
