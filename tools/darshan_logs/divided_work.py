"""Synthetic Darshan logs of programs whose ranks divide their work in ways that a specialist meets:
unevenly, by one rank for all, on one target for many. The counters are modelled on those of real
programs.

    .venv/bin/python -m tools.darshan_logs.divided_work FOLDER"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tools.darshan_logs.invented import GIB, KIB, MIB, mpiio, posix
from tools.darshan_logs.kinds import Kind, own, run_of, with_counters, write_kinds


def divided_work() -> list[Kind]:
    """All logs of this file."""
    return [*_shares(), *_targets_and_aggregators(), *_one_of_all(), *_one_that_is_late()]


def _shares() -> Iterator[Kind]:
    """Logs that differ in how much each rank has to do."""
    ramp = [(rank + 1) * GIB // 8 for rank in range(64)]
    mean = sum(ramp) / 64
    shared = posix(ranks=64, written=sum(ramp), call=4 * MIB, write_seconds=64 * 50.0, slowest=98.5)
    counters = {"SLOWEST_RANK": 63, "SLOWEST_RANK_BYTES": max(ramp)}
    counters |= {"FASTEST_RANK": 0, "FASTEST_RANK_BYTES": min(ramp)}
    times = {
        "F_VARIANCE_RANK_BYTES": sum((one - mean) ** 2 for one in ramp) / 64,
        "F_VARIANCE_RANK_TIME": 28.4**2,
        "F_FASTEST_RANK_TIME": 1.5,
    }
    yield (
        "ramp-in-a-shared-file",
        "imbalance",
        run_of(64, 200.0, [with_counters(shared, **counters, **times)]),
        "rank n writes n + 1 times as much as rank 0: half of the time, half of the ranks wait",
    )
    alone = [
        posix(path=f"/scratch/run/r.{n}", rank=n, written=size, call=4 * MIB, write_seconds=seconds)
        for n, (size, seconds) in enumerate((one, 1.6 * (at + 1)) for at, one in enumerate(ramp))
    ]
    yield "ramp-in-own-files", "imbalance", run_of(64, 200.0, alone), "the same in own files"
    slow = [
        posix(
            path=f"/scratch/run/n.{n}",
            rank=n,
            written=4 * GIB,
            call=8 * MIB,
            write_seconds=55.0 if n // 8 == 3 else 9.0 + n % 4 * 0.2,
        )
        for n in range(64)
    ]
    yield (
        "one-slow-node",
        "imbalance",
        run_of(64, 100.0, slow),
        "the 8 ranks of one node take six times as long for as much",
    )


def _targets_and_aggregators() -> Iterator[Kind]:
    """Work that is dealt unevenly to those that do I/O for others."""
    aggregators = [
        posix(
            rank=n * 16,
            written=8 * GIB,
            call=16 * MIB,
            write_seconds=150.0 if n == 5 else 25.0 + n % 3,
        )
        for n in range(16)
    ]
    together = mpiio(
        ranks=256, written=128 * GIB, call=16 * MIB, write_seconds=256 * 155.0, slowest=156.0
    )
    yield (
        "one-slow-aggregator",
        "imbalance",
        run_of(256, 200.0, [*aggregators, together], stripes=16),
        "one of 16 aggregators takes six times as long, and all ranks wait for it",
    )
    crowd = [3] * 60 + [n % 9 if n % 9 < 3 else n % 9 + 1 for n in range(40)]
    crowded = [
        posix(
            path=f"/scratch/run/c.{n}",
            rank=n,
            written=4 * GIB,
            call=8 * MIB,
            write_seconds=90.0 if target == 3 else 7.0 + n % 3 * 0.4,
        )
        for n, target in enumerate(crowd)
    ]
    striping = {one.path: [crowd[one.rank]] for one in crowded}
    yield (
        "files-crowded-on-one-target",
        "few-stripes",
        run_of(100, 150.0, crowded, file_system="lustre", striping=striping),
        "60 of 100 files lie on one of ten targets, which is as fast as the others",
    )


def _one_of_all() -> Iterator[Kind]:
    """One rank has something to do that the others have not, beside I/O that all of them share."""
    shards = own(range(64), "shard", read=2 * GIB, call=4 * MIB, read_seconds=9.0)
    model = posix(
        path="/scratch/run/model.pt", rank=0, written=40 * GIB, call=MIB, write_seconds=150.0
    )
    yield (
        "root-saves-the-model",
        "root-writer",
        run_of(64, 300.0, [*shards, model]),
        "all ranks read shards of 2 GiB, and rank 0 writes a model of 40 GiB while they wait",
    )
    mesh = posix(
        path="/scratch/run/mesh",
        ranks=128,
        read=200 * GIB,
        call=16 * MIB,
        read_seconds=128 * 8.0,
        slowest=9.0,
        movers=128,
        deviation=0.3,
    )
    result = posix(
        path="/scratch/run/result", rank=0, written=60 * GIB, call=8 * MIB, write_seconds=160.0
    )
    yield (
        "root-writes-what-all-have-read",
        "root-writer",
        run_of(128, 300.0, [mesh, result], stripes=32),
        "128 ranks read 200 GiB in 9 s, and rank 0 alone writes 60 GiB in 160 s",
    )
    field = posix(
        ranks=128,
        written=200 * GIB,
        call=16 * MIB,
        write_seconds=128 * 8.0,
        slowest=9.0,
        movers=128,
        deviation=0.3,
    )
    source = posix(
        path="/scratch/run/input", rank=0, read=60 * GIB, call=8 * MIB, read_seconds=160.0
    )
    yield (
        "root-reads-what-all-write",
        "root-writer",
        run_of(128, 300.0, [field, source], stripes=32),
        "rank 0 alone reads 60 GiB in 160 s, and 128 ranks write 200 GiB in 9 s",
    )


def _one_that_is_late() -> Iterator[Kind]:
    """One rank waits where the others do not."""
    late = [
        posix(
            path=f"/scratch/run/o.{rank}",
            rank=rank,
            written=GIB,
            call=8 * MIB,
            write_seconds=4.0 + rank % 3 * 0.1,
            meta_seconds=41.0 if rank == 17 else 0.4 + rank % 5 * 0.02,
        )
        for rank in range(64)
    ]
    yield (
        "one-rank-that-opens-late",
        "imbalance",
        run_of(64, 100.0, late),
        "the open of one rank takes 41 s, and those of the others half a second",
    )
    tiny, large = 80_000 * 544, 64 * GIB
    data = posix(
        ranks=32,
        written=tiny + large,
        call=8 * MIB,
        write_seconds=31 * 6.0 + 60.0,
        slowest=60.0,
        movers=32,
        deviation=9.5,
    )
    counters = {
        "WRITES": 80_000 + large // (8 * MIB),
        "SIZE_WRITE_100_1K": 80_000,
        "SIZE_WRITE_4M_10M": large // (8 * MIB),
        "ACCESS1_ACCESS": 544,
        "ACCESS1_COUNT": 80_000,
        "SLOWEST_RANK_BYTES": tiny + large // 32,
        "FASTEST_RANK_BYTES": large // 32,
    }
    yield (
        "small-writes-of-the-root-beside-large-ones",
        "imbalance",
        run_of(32, 200.0, [with_counters(data, **counters)]),
        "rank 0 writes 80000 small pieces of a library beside its data: all wait 54 s for it",
    )
    settings = [
        posix(
            path="/scratch/run/settings",
            rank=rank,
            read=10_000 * 2 * KIB,
            call=2 * KIB,
            read_seconds=3.0,
            meta_seconds=16.0,
            MAX_BYTE_READ=2 * KIB - 1,
            OPENS=10_000,
        )
        for rank in range(2)
    ]
    yield (
        "settings-read-for-each-step",
        "metadata",
        run_of(2, 60.0, settings),
        "a file of 2 KiB is opened, read and closed for each of 10000 steps",
    )


if __name__ == "__main__":
    sys.exit(write_kinds(divided_work(), sys.argv[1]))
