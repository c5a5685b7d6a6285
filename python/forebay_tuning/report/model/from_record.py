"""Turns a Forebay record into evidence: collective calls with their bytes and seconds, the length
of the run, and the traffic through its pool."""

from __future__ import annotations

from collections.abc import Iterator

from forebay.common.model.errors import EvidenceError
from forebay.common.model.io_rank_count import demand_of
from forebay.common.model.record import (
    FileSummary,
    PoolFileRecord,
    Record,
    Traffic,
    distinct_jobs,
    summarise,
)
from forebay_tuning.model.course import SAMPLES_LEAST, PoolCourse
from forebay_tuning.model.program_io import FileIo, Passing, ProgramIo
from forebay_tuning.model.targets import SickTarget


def program_of(record: Record, *, source: str) -> ProgramIo:
    """The record as evidence. Raises EvidenceError if it has no files."""
    files = summarise(record.files)
    pools = tuple(one.pool for one in record.runs if one.pool is not None)
    known = {one.path for one in files}
    jobs = distinct_jobs(record.jobs)
    ranks = max([*(one.ranks for one in files), *(one.ranks for one in jobs)], default=1)
    pooled = [
        _pooled(one, ranks)
        for pool in pools
        for one in pool.files
        if one.path not in known and (one.taken or one.past_the_pool)
    ]
    if not files and not pooled:
        raise EvidenceError(
            f"there is nothing in {source} (no file was recorded). `forebay run --record FILE` "
            "makes a record; its summary says why there may be nothing in it."
        )
    first = jobs[0] if jobs else record.runs[0] if record.runs else None
    return ProgramIo(
        source=source,
        command=first.command if first else "",
        ranks=ranks,
        nodes=max([one.nodes for one in files], default=None),
        seconds=record.seconds,
        started=first.started if first else "",
        files=(*(_file(one) for one in files), *pooled),
        gaps=tuple(_gaps(record, has_pool=bool(pools))),
        targets_known=bool(files),
        pools=pools,
        demand=demand_of(record),
        courses=tuple(_courses(record)),
    )


def _courses(record: Record) -> Iterator[PoolCourse]:
    for run in record.runs:
        if run.pool is not None and len(run.pool.samples) >= SAMPLES_LEAST:
            yield PoolCourse(command=run.command, seconds=run.seconds, pool=run.pool)


def _gaps(record: Record, *, has_pool: bool) -> Iterator[str]:
    if not record.seconds:
        yield (
            "the record does not say how long the run was (it is not of `forebay run --record`, "
            "and has no line on its end): seconds are told, not shares of it"
        )
    if record.files:
        yield "a record has collective calls; what was left to the MPI is counted, not timed"
    if has_pool:
        yield (
            "of files in the pool, the seconds are those that processes waited for it, all "
            "together; copying into its memory is not timed"
        )
    if record.damaged_lines:
        yield f"{len(record.damaged_lines)} lines of the record are damaged and left out"


def _pooled(one: PoolFileRecord, ranks: int) -> FileIo:
    return FileIo(
        path=one.path,
        ranks=ranks,
        write=Passing(bytes=one.taken, seconds=one.waited_seconds),
        opens=one.times,
        extent=one.taken,
        slowest_seconds=one.waited_seconds / ranks,
    )


def sick_in(record: Record) -> tuple[SickTarget, ...]:
    """The targets that the record itself reports as slow."""
    slower: dict[int, list[float]] = {}
    for one in summarise(record.files):
        for slow in one.slow_targets:
            if slow.rate > 0:
                slower.setdefault(slow.target, []).append(slow.usual_rate / slow.rate)
    return tuple(
        SickTarget(target=target, slower=max(factors), files=len(factors))
        for target, factors in sorted(slower.items(), key=lambda item: -max(item[1]))
    )


def _file(one: FileSummary) -> FileIo:
    return FileIo(
        path=one.path,
        ranks=one.ranks,
        write=_passing(one.write, one),
        read=_passing(one.read, one),
        opens=one.opened,
        seconds_meta=one.seconds_open * one.ranks,
        extent=max(one.write.bytes, one.read.bytes),
        slowest_seconds=one.write.seconds + one.read.seconds + one.seconds_open,
        collective=True,
        by_mpi=True,
        stripe_count=one.targets or None,
        stripe_bytes=one.stripe_bytes or None,
    )


def _passing(traffic: Traffic, one: FileSummary) -> Passing:
    each = traffic.bytes // max(1, traffic.calls * one.ranks)
    return Passing(
        bytes=traffic.bytes,
        calls=traffic.calls * one.ranks,
        seconds=traffic.seconds * one.ranks,
        usual_transfer=each,
        collective_calls=traffic.calls * one.ranks,
        collective_bytes=traffic.bytes,
    )
