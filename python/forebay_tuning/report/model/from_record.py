"""A Forebay record as evidence: openings, bytes and waits of collective calls."""

from __future__ import annotations

from forebay.common.model.errors import EvidenceError
from forebay.common.model.record import FileSummary, Record, Traffic, distinct_jobs, summarise
from forebay_tuning.model.portrait import SickTarget
from forebay_tuning.model.program_io import FileIo, Passing, ProgramIo


def program_of(record: Record, *, source: str) -> ProgramIo:
    """EvidenceError: it has no files."""
    files = summarise(record.files)
    if not files:
        raise EvidenceError(
            f"there is nothing in {source} (no file was recorded). `forebay run --record FILE` "
            "makes a record; its summary says why there may be nothing in it."
        )
    jobs = distinct_jobs(record.jobs)
    gaps = [
        "a record does not say how long the run was: seconds are told, not shares of it",
        "a record has collective calls; what was left to the MPI is counted, not timed",
    ]
    if record.damaged_lines:
        gaps.append(f"{len(record.damaged_lines)} lines of the record are damaged and left out")
    return ProgramIo(
        source=source,
        command=jobs[0].command if jobs else "",
        ranks=max([one.ranks for one in files]),
        nodes=max([one.nodes for one in files]),
        seconds=0.0,  # `seconds_open` is how long opening took
        started=jobs[0].started if jobs else "",
        files=tuple(_file(one) for one in files),
        gaps=tuple(gaps),
        targets_known=True,
    )


def sick_in(record: Record) -> tuple[SickTarget, ...]:
    """Targets that the record itself names as slow."""
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
