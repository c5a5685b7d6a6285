"""How many I/O ranks a program needs, by the record of an earlier run, and so that as many ranks
are left for the program as it can divide its grid by. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Optional

from forebay.common.model.frozen import frozen
from forebay.common.model.record import PoolRecord, PoolSample, Record, RunRecord, distinct_jobs
from forebay.common.model.units import human_bytes, human_rate, human_seconds

WRITER_SHARE = 0.7
"""The part of the interval between two outputs that a writer is to be busy, at most."""
SIDES_RATIO_MOST = 3
"""A number of ranks can be divided well if it is a product whose larger factor is at most so many
times the smaller one: 6144 is 64 × 96, but 6134 is 2 × 3067."""
_KNOWN_SHARE = 8
"""The number of ranks of the earlier run is taken again if at most one of so many ranks has to be
an I/O rank for that."""
_STEPS_LEAST = 3
"""Fewer outputs show no interval: then bytes and seconds of the whole run are taken."""


@frozen
class OutputDemand:
    """The output of a run: how much it wrote, how often, and how fast a writer was."""

    command: str
    step_bytes: float
    """Bytes of one output step."""
    interval_seconds: float
    """Seconds from one step to the next."""
    seconds: float
    """Duration of the whole run."""
    writer_rate: float
    """Bytes per second of one writer while it has something to write."""
    ranks: Optional[int] = None
    """Ranks that the program saw, if the record has them."""
    pool: Optional[PoolRecord] = None
    """The pool that the bytes went through; None if they went by MPI-IO without one."""

    @property
    def writers(self) -> int:
        """How many writers are busy for at most WRITER_SHARE of the interval; at least 1."""
        return max(1, math.ceil(self.busy_share / WRITER_SHARE - 1e-9))

    @property
    def busy_share(self) -> float:
        """The part of the interval for which a single writer is busy; above 1, it cannot keep
        up."""
        return self.step_bytes / (self.writer_rate * self.interval_seconds)

    @property
    def text(self) -> str:
        """The numbers for people."""
        return (
            f"{human_bytes(round(self.step_bytes))} every "
            f"{human_seconds(self.interval_seconds)} s, {human_rate(self.writer_rate)} of one "
            "writer"
        )


def demand_of(record: Record) -> Optional[OutputDemand]:
    """The demand of the last run in the record that wrote through a pool; if none did, that of all
    its runs by MPI-IO. None if the record does not have bytes, seconds and a writer's rate."""
    jobs = distinct_jobs(record.jobs)
    ranks = jobs[-1].ranks if jobs else None
    for run in reversed(record.runs):
        if run.pool is not None and (found := _of_pool(run, run.pool, ranks)) is not None:
            return found
    return _of_mpi_io(record, ranks)


def _of_pool(run: RunRecord, pool: PoolRecord, ranks: Optional[int]) -> Optional[OutputDemand]:
    stored = sum(one.storage_bytes for one in pool.files)
    busy = sum(one.storage_seconds for one in pool.files)
    on_one_node = pool.nodes == 1 and len(pool.samples) > 0  # older records do not say `nodes`
    if on_one_node and pool.storage_seconds > 0:  # files overlap in time there
        busy = min(busy, pool.storage_seconds)
    if pool.taken <= 0 or stored <= 0 or busy <= 0 or run.seconds <= 0:
        return None
    step_bytes, interval = steps_of(pool.samples) or (float(pool.taken), run.seconds)
    return OutputDemand(
        command=run.command,
        step_bytes=step_bytes,
        interval_seconds=interval,
        seconds=run.seconds,
        writer_rate=stored / busy,
        ranks=run.ranks or ranks,
        pool=pool,
    )


def _of_mpi_io(record: Record, ranks: Optional[int]) -> Optional[OutputDemand]:
    """Without a pool the program waits for its output: that time is no part of the interval."""
    writes = [one for one in record.files if one.write.bytes > 0 and one.write.seconds_storage > 0]
    written = sum(one.write.bytes for one in writes)
    interval = record.seconds - sum(one.write.seconds for one in writes)
    busy = 0.0
    for one in writes:
        bypassed = 2 * one.write.bypassed_calls > one.write.calls
        movers = one.ranks if bypassed else max(1, len(one.aggregators))
        busy += movers * one.write.seconds_storage
    if written <= 0 or interval <= 0 or not record.runs:
        return None
    return OutputDemand(
        command=record.runs[-1].command,
        step_bytes=float(written),
        interval_seconds=interval,
        seconds=record.seconds,
        writer_rate=written / busy,
        ranks=record.runs[-1].ranks or ranks,
    )


def steps_of(samples: Sequence[PoolSample]) -> Optional[tuple[float, float]]:
    """Bytes of one output step and seconds from one to the next, on average. A step is what was
    taken between two samples, or several, without one between them in which nothing was. None if
    there are too few of them."""
    begins = list(_begins(samples))
    if len(begins) < _STEPS_LEAST:
        return None
    (first, taken_first), (last, taken_last) = begins[0], begins[-1]
    steps = len(begins) - 1
    if last <= first or taken_last <= taken_first:
        return None
    return (taken_last - taken_first) / steps, (last - first) / steps


def _begins(samples: Sequence[PoolSample]) -> Iterator[tuple[float, int]]:
    """When each step began, and what had been taken until then."""
    grows = bool(samples) and samples[0].taken > 0
    if grows:
        yield 0.0, 0
    for before, after in zip(samples, samples[1:]):
        if after.taken > before.taken and not grows:
            yield before.seconds, before.taken
        grows = after.taken > before.taken


def sides_of(count: int) -> tuple[int, int]:
    """The two factors of `count` that are closest to each other, the smaller one first."""
    for side in range(math.isqrt(count), 0, -1):
        if count % side == 0:
            return side, count // side
    return 1, count


def chosen_count(
    writers: int, *, ranks: int, groups: int = 1, known: Optional[int] = None
) -> Optional[int]:
    """How many of `ranks` ranks are to be I/O ranks, so that there are at least `writers`, in each
    of the `groups` as many, and as many ranks are left as a program can divide well: the `known`
    number of an earlier run, else the largest that is a product of two similar factors. None if a
    group would have more I/O ranks than others."""
    least = groups * math.ceil(max(1, writers) / groups)
    most = groups * (ranks // groups // 2)
    fitting = range(least, most + 1, groups)
    own = ranks - known if known else 0
    if own in fitting and own <= max(2 * least, ranks // _KNOWN_SHARE):
        return own
    good = (one for one in fitting if _ratio(ranks - one) <= SIDES_RATIO_MOST)
    return next(good, min(fitting, key=lambda one: _ratio(ranks - one), default=None))


def _ratio(count: int) -> float:
    small, large = sides_of(count)
    return large / small
