"""Synthetic Darshan logs of workloads that a specialist meets on large machines: benchmarks,
training of neural networks, layouts that do not fit, libraries. The counters are modelled on those
of real programs.

    .venv/bin/python -m tools.darshan_logs.workloads FOLDER"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tools.darshan_logs.invented import GIB, KIB, MIB, mpiio, posix
from tools.darshan_logs.kinds import Kind, own, run_of, stdio, with_counters, write_kinds
from tools.darshan_logs.logfile import Item


def _many_small_files() -> Iterator[Kind]:
    """A file for each little thing."""
    images = [
        posix(
            path=f"/scratch/train/class{n % 100}/{n:06}.jpg",
            rank=0,
            read=110 * KIB,
            call=110 * KIB,
            read_seconds=0.012,
            meta_seconds=0.009,
        )
        for n in range(6000)
    ]
    yield (
        "training-on-images",
        "metadata",
        run_of(1, 200.0, images),
        "6000 images of 110 KiB are each opened and read by one call: they should be packed",
    )
    for name, size, why in (
        ("mdtest-easy", 0, "each rank creates, stats and closes 50 empty files"),
        ("mdtest-hard", 3901, "the same with 3901 bytes in each file"),
    ):
        files = [
            posix(
                path=f"/scratch/mdtest/{rank}.{n}",
                rank=rank,
                written=size,
                call=3901,
                write_seconds=0.004 if size else 0.0,
                meta_seconds=0.6 + rank % 3 * 0.04,
                STATS=1,
            )
            for rank in range(16)
            for n in range(50)
        ]
        yield name, "metadata", run_of(16, 60.0, files), why
    wide = list(own(range(256), written=MIB, write_seconds=0.3, meta_seconds=38.0))
    yield (
        "small-files-on-many-stripes",
        "metadata",
        run_of(256, 90.0, wide, stripes=64),
        "256 files of 1 MiB with 64 stripes each: each creation makes 64 objects",
    )
    opened = posix(
        ranks=4096,
        read=GIB,
        read_seconds=4096 * 0.5,
        meta_seconds=4096 * 12.0,
        slowest=22.5,
        movers=4096,
        deviation=4.0,
    )
    yield (
        "all-open-one-file",
        "metadata",
        run_of(4096, 60.0, [opened], stripes=16),
        "4096 ranks open one file at once, which takes 22 s",
    )
    polled = [posix(path="/scratch/run/flag", rank=0, meta_seconds=25.0, STATS=3_000_000)]
    yield "polling", "metadata", run_of(64, 100.0, polled), "rank 0 stats a file until it is there"


def _benchmarks() -> Iterator[Kind]:
    """IOR and what behaves alike."""
    hard = posix(
        ranks=64,
        written=64 * 10_000 * 47_008,
        call=47_008,
        write_seconds=64 * 60.0,
        slowest=62.0,
        movers=64,
        deviation=1.0,
        unaligned=0.99,
    )
    yield (
        "ior-hard",
        "small-calls",
        run_of(64, 80.0, [hard], stripes=8),
        "pieces of 47008 bytes of all ranks in turn, which are small and share stripes",
    )
    easy = list(own(range(64), "easy", written=100 * GIB, call=16 * MIB, write_seconds=60.0))
    spread = {one.path: [one.rank] for one in easy}
    yield (
        "ior-easy",
        "none",
        run_of(64, 70.0, easy, file_system="lustre", striping=spread),
        "each rank writes a file of its own by large requests: only the machine limits it",
    )


def _large_calls() -> Iterator[Kind]:
    """Programs whose calls could not be better."""
    large = posix(
        ranks=128,
        written=128 * 40 * GIB,
        call=8 * MIB,
        write_seconds=128 * 60.0,
        slowest=63.0,
        movers=128,
        deviation=1.0,
    )
    calls = mpiio(
        ranks=128,
        written=128 * 40 * GIB,
        call=8 * MIB,
        write_seconds=128 * 60.5,
        slowest=64.0,
        together=False,
    )
    yield (
        "large-independent",
        "none",
        run_of(128, 100.0, [large, calls], stripes=64),
        "independent MPI-IO of 8 MiB, aligned, on 64 stripes: nothing to gain by other calls",
    )
    bursts = [
        posix(
            path=f"/scratch/run/check.{step}.{rank}",
            rank=rank,
            written=2 * GIB,
            call=16 * MIB,
            write_seconds=9.0,
            meta_seconds=0.02,
        )
        for step in range(5)
        for rank in range(64)
    ]
    yield (
        "checkpoint-bursts",
        "none",
        run_of(64, 100.0, bursts),
        "five checkpoints at 228 MiB/s a rank: large calls that only faster storage would shorten",
    )
    npz = [
        posix(
            path=f"/scratch/train/{n}.npz",
            rank=0,
            read=140 * MIB,
            call=4 * MIB,
            read_seconds=0.35,
            meta_seconds=0.002,
        )
        for n in range(168)
    ]
    yield (
        "training-on-large-files",
        "none",
        run_of(1, 100.0, npz),
        "a loader reads 168 files of 140 MiB at 400 MiB/s: no call is small",
    )


def _reads() -> Iterator[Kind]:
    """Programs that only read."""
    parts = posix(
        ranks=128,
        read=200 * GIB,
        call=8 * MIB,
        read_seconds=128 * 195.0,
        slowest=201.0,
        movers=128,
        deviation=2.0,
    )
    yield (
        "input-on-four-stripes",
        "few-stripes",
        run_of(128, 300.0, [parts], stripes=4),
        "128 ranks read their parts of 200 GiB that lie on 4 targets",
    )
    below = posix(
        ranks=32,
        read=64 * GIB,
        call=4 * MIB,
        read_seconds=4 * 150.0,
        slowest=151.0,
        movers=4,
        deviation=50.0,
    )
    above = mpiio(ranks=32, read=8 * GIB, call=MIB, read_seconds=32 * 160.0, slowest=161.0)
    yield (
        "collective-reads-with-holes",
        "data-sieving",
        run_of(32, 200.0, [below, above]),
        "aggregators of collective reads fetch eight times what was asked for",
    )
    yield (
        "root-reads-the-input",
        "root-writer",
        run_of(256, 300.0, own([0], "mesh", read=40 * GIB, call=16 * MIB, read_seconds=120.0)),
        "rank 0 reads 40 GiB for all others",
    )
    header = posix(
        ranks=2048,
        read=2048 * 64 * MIB,
        call=4 * MIB,
        read_seconds=2048 * 30.0,
        slowest=33.0,
        movers=2048,
        deviation=1.0,
        MAX_BYTE_READ=64 * MIB - 1,
    )
    yield (
        "all-read-the-restart-file",
        "same-bytes",
        run_of(2048, 120.0, [header], stripes=4),
        "2048 ranks each read all 64 MiB of a file",
    )


def _calls() -> Iterator[Kind]:
    """How calls are made."""
    appended = posix(
        ranks=64,
        written=200 * 1_000_000,
        call=200,
        write_seconds=64 * 58.0,
        slowest=60.0,
        movers=64,
        deviation=1.0,
        unaligned=0.999,
    )
    yield (
        "appended-lines",
        "small-calls",
        run_of(64, 100.0, [appended], stripes=1),
        "64 ranks append lines of 200 bytes to one file",
    )
    blocks = posix(
        ranks=256,
        written=256 * 160 * 6_000_000,
        call=6_000_000,
        write_seconds=256 * 118.0,
        slowest=124.0,
        movers=256,
        deviation=2.0,
        unaligned=0.99,
        FILE_ALIGNMENT=16 * MIB,
    )
    yield (
        "unaligned-on-gpfs",
        "lock-contention",
        run_of(256, 200.0, [blocks], file_system="gpfs"),
        "pieces of 6 MB that share blocks of 16 MiB with others, at 8 MB/s a rank",
    )


def _collective_calls() -> Iterator[Kind]:
    """Collective calls that do not reach storage as such, or that are tiny."""
    pieces = posix(
        ranks=64,
        written=64 * 8000 * 4 * KIB,
        call=4 * KIB,
        write_seconds=64 * 70.0,
        slowest=72.0,
        movers=64,
        deviation=1.0,
    )
    above = mpiio(
        ranks=64,
        written=64 * 8000 * 4 * KIB,
        call=4 * MIB,
        write_seconds=64 * 74.0,
        slowest=76.0,
    )
    yield (
        "collective-buffering-off",
        "small-calls",
        run_of(64, 100.0, [pieces, above]),
        "collective writes that each rank makes for itself, 4 KiB at a time",
    )
    split = mpiio(
        ranks=32, written=32 * 4000 * 512, call=512, write_seconds=32 * 61.0, slowest=62.0
    )
    moved = {"COLL_WRITES": 0, "SPLIT_WRITES": 32 * 4000}
    fast = posix(
        ranks=32, written=32 * 4000 * 512, call=16 * KIB, write_seconds=3.0, slowest=3.0, movers=1
    )
    yield (
        "split-collectives",
        "exchange",
        run_of(32, 100.0, [fast, with_counters(split, **moved)]),
        "MPI_File_write_all_begin and _end for 512 bytes each",
    )


def _metadata_calls() -> Iterator[Kind]:
    """Seconds in calls that move no bytes, which are no price of many files."""
    closed = [
        with_counters(
            one,
            F_WRITE_START_TIMESTAMP=2.0,
            F_WRITE_END_TIMESTAMP=9.0,
            F_CLOSE_START_TIMESTAMP=9.0,
            F_CLOSE_END_TIMESTAMP=69.0,
            F_OPEN_START_TIMESTAMP=0.99,
        )
        for one in own(range(4), written=8 * GIB, call=4 * MIB, write_seconds=5.0, meta_seconds=60)
    ]
    yield (
        "closing-writes-back",
        "metadata",
        run_of(4, 120.0, closed, file_system="nfs"),
        "NFS writes 8 GiB of each rank when the file is closed: 60 s in one close",
    )
    shared = posix(
        ranks=8,
        written=64 * GIB,
        call=4 * MIB,
        write_seconds=40.0,
        meta_seconds=8 * 59.0,
        slowest=66.0,
        movers=8,
        deviation=0.5,
    )
    stamps = {"F_OPEN_START_TIMESTAMP": 0.9, "F_CLOSE_START_TIMESTAMP": 8.0}
    yield (
        "closing-a-shared-file",
        "metadata",
        run_of(
            8,
            120.0,
            [with_counters(shared, F_CLOSE_END_TIMESTAMP=68.0, **stamps)],
            file_system="nfs",
        ),
        "the same of a file that all ranks write: closes took 59 s, and no open a second",
    )
    looked = posix(module="DFS", ranks=16, meta_seconds=16 * 42.0, slowest=43.0, OPENS=0)
    yield (
        "dfs-lookups",
        "metadata",
        run_of(16, 100.0, [with_counters(looked, OPENS=0, LOOKUPS=1_600_000)]),
        "a hundred thousand names are looked up by each rank on DAOS",
    )


def _memory_and_syncs() -> Iterator[Kind]:
    """Writes that memory takes at once, and writes that are to wait for storage."""
    cached = posix(
        path="/scratch/run/cached", rank=0, written=60 * GIB, call=4 * KIB, write_seconds=40.0
    )
    yield (
        "small-writes-into-the-cache",
        "none",
        run_of(1, 100.0, [cached]),
        "writes of 4 KiB at 1.5 GiB/s: larger ones would be no faster",
    )
    synced = list(own(range(16), written=20 * GIB, call=100 * MIB, write_seconds=60.0, FSYNCS=205))
    yield (
        "syncs-of-100-mib",
        "none",
        run_of(16, 150.0, synced),
        "fsync behind each 100 MiB at 341 MiB/s a rank: storage takes that long anyway",
    )


def _libraries() -> Iterator[Kind]:
    """Logs that differ in what libraries add."""
    filled = 42 * GIB
    below = posix(
        path="/scratch/run/a.h5",
        ranks=16,
        written=filled,
        call=16 * MIB,
        write_seconds=4 * 80.0,
        slowest=82.0,
        movers=4,
        deviation=35.0,
    )
    calls = mpiio(
        path="/scratch/run/a.h5",
        ranks=16,
        written=filled,
        call=16 * MIB,
        write_seconds=16 * 84.0,
        slowest=85.0,
    )
    data = Item(
        module="H5D",
        path="/scratch/run/a.h5:/t",
        rank=-1,
        counters={"OPENS": 16, "WRITES": 1280, "BYTES_WRITTEN": 20 * GIB, "DATATYPE_SIZE": 4},
        times={"F_WRITE_TIME": 16 * 42.0, "F_META_TIME": 16 * 44.0, "F_SLOWEST_RANK_TIME": 87.0},
    )
    yield (
        "h5-fill-values",
        "read-modify-write",
        run_of(16, 150.0, [below, calls, data]),
        "HDF5 writes fill values into each dataset before the data: twice the bytes",
    )


def _streams() -> Iterator[Kind]:
    """Programs that use C's streams only."""
    text = {"OPENS": 1, "WRITES": 5_000_000, "BYTES_WRITTEN": 300_000_000}
    yield (
        "text-output",
        "small-calls",
        run_of(16, 100.0, [stdio(f"/scratch/run/t.{n}", n, 30.0, **text) for n in range(16)]),
        "each rank prints five million lines of 60 bytes into a file of its own",
    )
    large = {"OPENS": 1, "WRITES": 10_240, "BYTES_WRITTEN": 10 * GIB}
    yield (
        "large-fwrites",
        "none",
        run_of(4, 400.0, [stdio(f"/scratch/run/l.{n}", n, 5.0, **large) for n in range(4)]),
        "fwrite of 1 MiB in 1 % of the run",
    )
    notes = posix(rank=0, path="/scratch/run/notes", written=8 * MIB, call=512, write_seconds=4.0)
    yield (
        "four-percent-of-small-writes",
        "none",
        run_of(4, 100.0, [notes]),
        "small writes, but in 4 % of the run",
    )
    quick = [
        replace(one, times={**one.times, "F_WRITE_TIME": 0.19})
        for one in own(range(2), written=20 * MIB, call=512)
    ]
    yield "run-of-half-a-second", "small-calls", run_of(2, 0.4, quick), "half of a run of 0.4 s"
    puts: dict[str, Any] = {"ranks": 64, "written": 64 * GIB}
    below = posix(
        **puts, call=16 * MIB, write_seconds=8 * 16.0, slowest=17.0, movers=8, deviation=5.0
    )
    above = mpiio(**puts, call=64 * MIB, write_seconds=64 * 18.0, slowest=18.5)
    variable = Item(
        module="PNETCDF_VAR",
        path="/scratch/run/shared:/u",
        rank=-1,
        counters={"OPENS": 64, "NB_WRITES": 64 * 100, "BYTES_WRITTEN": 64 * GIB},
        times={"F_WRITE_TIME": 64 * 0.2, "F_SLOWEST_RANK_TIME": 0.3},
    )
    yield (
        "nonblocking-puts",
        "none",
        run_of(64, 250.0, [below, above, variable]),
        "ncmpi_iput and ncmpi_wait_all: large collective writes in 7 % of the run",
    )


_ALL: Sequence[Callable[[], Iterator[Kind]]] = (
    *(_many_small_files, _benchmarks, _large_calls, _reads, _calls, _collective_calls),
    *(_metadata_calls, _memory_and_syncs, _libraries, _streams),
)


def workloads() -> list[Kind]:
    """All logs of this file."""
    return [one for made in _ALL for one in made()]


if __name__ == "__main__":
    sys.exit(write_kinds(workloads(), sys.argv[1]))
