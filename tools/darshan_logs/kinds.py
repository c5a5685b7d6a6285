"""Synthetic Darshan logs of kinds of programs that a specialist meets and that troubles.c cannot
make: few writers, files of groups of ranks, many files, chunks of HDF5, layouts, what a log does
not see. The counters are modelled on those of real programs.

    .venv/bin/python -m tools.darshan_logs.kinds FOLDER"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.darshan_logs.invented import GIB, KIB, MIB, mpiio, posix
from tools.darshan_logs.logfile import Item, Run, write_log

Kind = tuple[str, str, Run, str]
"""A log's name, the kind of its first item, the run, and why."""


def run_of(
    ranks: int, seconds: float, items: Iterable[Item], *, stripes: int = 0, **more: Any
) -> Run:
    """A run of the items, whose files below /scratch lie on `stripes` targets of Lustre if these
    are given."""
    found = list(items)
    paths = sorted({one.path for one in found if one.path.startswith("/scratch")})
    return Run(
        **{
            "command": "/apps/model",
            "ranks": ranks,
            "seconds": seconds,
            "items": found,
            "file_system": "lustre" if stripes else "ext4",
            "striping": {path: range(stripes) for path in paths} if stripes else {},
            **more,
        }
    )


def own(ranks: Iterable[int], name: str = "out", **one: Any) -> Iterator[Item]:
    """A POSIX record for each rank, of a file that it alone uses."""
    return (posix(path=f"/scratch/run/{name}.{rank}", rank=rank, **one) for rank in ranks)


def with_counters(item: Item, **more: float) -> Item:
    """The record with more counters and times; the latter begin with F_."""
    times = {name: value for name, value in more.items() if name.startswith("F_")}
    counts = {name: int(value) for name, value in more.items() if name not in times}
    return replace(item, counters={**item.counters, **counts}, times={**item.times, **times})


def stdio(path: str, rank: int, seconds: float, **counters: int) -> Item:
    """A record of writes by STDIO that took `seconds`."""
    times = {"F_WRITE_TIME": seconds}
    return Item(module="STDIO", path=path, rank=rank, counters=counters, times=times)


def _ranks() -> Iterator[Kind]:
    """Logs that differ in who does the work, and who waits for whom."""
    big: Mapping[str, Any] = {"written": 40 * GIB, "call": 4 * MIB}
    yield (
        "few-writers",
        "root-writer",
        run_of(64, 300.0, own((0, 21, 42), write_seconds=155.0, **big)),
        "3 of 64 ranks write all checkpoints",
    )
    few = posix(
        ranks=64, written=120 * GIB, call=4 * MIB, write_seconds=450.0, slowest=152.0, movers=3
    )
    yield (
        "few-writers-shared",
        "root-writer",
        run_of(64, 300.0, [with_counters(few, F_VARIANCE_RANK_TIME=32.0**2)]),
        "3 of 64 ranks write into a file that all of them opened",
    )
    yield (
        "half-of-8-write",
        "none",
        run_of(8, 300.0, own(range(0, 8, 2), write_seconds=150.0, **big)),
        "4 of 8 ranks write large requests: too many to be called few",
    )
    above = mpiio(ranks=512, written=1024 * GIB, call=16 * MIB, write_seconds=512e3, slowest=1002.0)
    only = posix(rank=0, written=1024 * GIB, call=16 * MIB, write_seconds=950.0)
    yield (
        "one-aggregator",
        "root-writer",
        run_of(512, 1200.0, [only, above], stripes=16),
        "collective writes of 512 ranks go through a single aggregator",
    )
    for name, mean, last, why in (
        ("late-rank", 148.0, 9.2, "one rank comes late to each collective write"),
        ("staggered-ranks", 76.0, 3.0, "ranks come to collective writes at different times"),
    ):
        below = posix(
            ranks=64, written=16 * GIB, call=16 * MIB, write_seconds=32.0, slowest=8.2, movers=4
        )
        calls = mpiio(
            ranks=64, written=16 * GIB, call=16 * MIB, write_seconds=64 * mean, slowest=151.0
        )
        late = with_counters(calls, F_FASTEST_RANK_TIME=last, FASTEST_RANK=17)
        yield name, "imbalance", run_of(64, 300.0, [below, late]), why
    reads = [
        posix(path=f"/scratch/run/in.{rank}", rank=rank, read=GIB, call=4 * MIB, read_seconds=spent)
        for rank, spent in ((rank, 70.0 if rank == 13 else 5.0) for rank in range(64))
    ]
    yield (
        "straggler-that-reads",
        "imbalance",
        run_of(64, 100.0, reads),
        "one rank takes 14 times as long to read as much",
    )


def _groups() -> Iterator[Kind]:
    """Files that only a part of the ranks share, at the same time."""
    for name, label, size, seconds, why in (
        ("subfiles", "none", 4 * MIB, 5.0, "groups of 4 ranks write files at the same time: 6 s"),
        ("subfiles-small", "small-calls", 2 * KIB, 40.0, "the same by calls of 2 KiB"),
    ):
        items = [
            posix(
                path=f"/scratch/run/sub.{rank // 4}",
                rank=rank,
                written=16_000 * size,
                call=size,
                write_seconds=seconds + rank // 4 * 0.01,
            )
            for rank in range(256)
        ]
        yield name, label, run_of(256, 100.0, items), why
    alone = []
    for rank in range(32):
        below: dict[str, Any] = {
            "written": 256 * MIB,
            "call": KIB,
            "write_seconds": 20.0 + rank % 5,
        }
        above = mpiio(ranks=1, written=256 * MIB, call=KIB, slowest=0.0, together=False)
        path = f"/scratch/run/self.{rank}"
        alone += [
            posix(path=path, rank=rank, **below),
            with_counters(replace(above, path=path, rank=rank), F_WRITE_TIME=20.3 + rank % 5),
        ]
    yield (
        "files-of-comm-self",
        "small-calls",
        run_of(32, 100.0, alone),
        "each rank opens a file of its own by MPI_COMM_SELF and writes 1 KiB at a time",
    )


def _many_files() -> Iterator[Kind]:
    """Many files, each of which costs too little to be seen alone."""
    steps = [
        posix(
            path=f"/scratch/run/step.{n:04}",
            ranks=64,
            written=64 * MIB,
            call=KIB,
            write_seconds=64 * 0.23,
            slowest=0.24,
            movers=64,
            deviation=0.01,
        )
        for n in range(300)
    ]
    yield "steps-small", "small-calls", run_of(64, 100.0, steps), "300 files by calls of 1 KiB"
    modules = [
        posix(
            path=f"/scratch/env/lib/mod{n}.py",
            ranks=512,
            read=512 * 8 * KIB,
            call=8 * KIB,
            read_seconds=0.5,
            meta_seconds=512 * 0.1,
            slowest=0.11,
            movers=512,
            STATS=512,
            MAX_BYTE_READ=8 * KIB - 1,
        )
        for n in range(400)
    ]
    yield (
        "imports",
        "metadata",
        run_of(512, 120.0, modules),
        "512 ranks import 400 Python modules: each opens and stats all of them",
    )
    opened = []
    for n in range(200):
        path = f"/scratch/run/step.{n:04}"
        below: dict[str, Any] = {"meta_seconds": 64 * 0.02, "write_seconds": 0.02, "slowest": 0.03}
        above = mpiio(
            path=path, ranks=64, written=MIB, call=16 * KIB, write_seconds=0.64, slowest=0.31
        )
        opened += [
            posix(path=path, ranks=64, written=MIB, movers=1, **below),
            with_counters(above, F_META_TIME=64 * 0.3),
        ]
    yield (
        "many-mpi-files",
        "opening-together",
        run_of(64, 100.0, opened),
        "200 files, each opened by all ranks together for 1 MiB",
    )
    yield (
        "creations-of-256",
        "metadata",
        run_of(256, 100.0, own(range(256), written=8 * MIB, meta_seconds=35.0)),
        "256 ranks create a file each at once, which takes 35 s",
    )


def _layouts() -> Iterator[Kind]:
    """Where files lie."""
    for name, label, targets, why in (
        ("one-target-for-all", "few-stripes", 1, "the files of 128 ranks all lie on one target"),
        ("forty-targets", "none", 40, "the files of 128 ranks lie on 40 targets"),
    ):
        items = list(own(range(128), written=4 * GIB, call=4 * MIB, write_seconds=150.0))
        striping = {one.path: [one.rank % targets] for one in items}
        yield name, label, run_of(128, 300.0, items, file_system="lustre", striping=striping), why
    shared = posix(
        ranks=16,
        written=128 * GIB,
        call=4 * MIB,
        write_seconds=16 * 280.0,
        slowest=285.0,
        movers=16,
        deviation=2.0,
    )
    yield (
        "one-stripe-of-16-ranks",
        "few-stripes",
        run_of(16, 400.0, [shared], stripes=1),
        "128 GiB of 16 ranks on one stripe",
    )
    pieces = posix(
        ranks=128,
        written=128 * 400 * 1500 * KIB,
        call=1500 * KIB,
        write_seconds=128 * 150.0,
        slowest=160.0,
        movers=128,
        deviation=4.0,
        unaligned=0.97,
    )
    yield (
        "locks-of-1500k",
        "lock-contention",
        run_of(128, 300.0, [pieces], stripes=16),
        "pieces of 1500 KiB at 4 MB/s a rank: two ranks in most stripes",
    )


def _bound() -> Iterator[Kind]:
    """I/O that only a portrait could judge."""
    below = [
        posix(rank=rank, written=64 * GIB, call=16 * MIB, write_seconds=170.0)
        for rank in range(0, 256, 8)
    ]
    above = mpiio(
        ranks=256, written=2048 * GIB, call=64 * MIB, write_seconds=256 * 200.0, slowest=201.0
    )
    yield (
        "collective-at-the-rate",
        "none",
        run_of(256, 300.0, [*below, above], stripes=32),
        "large aligned collective writes, of which storage takes 85 %",
    )
    opened = mpiio(ranks=64, written=64 * GIB, call=64 * MIB, write_seconds=128.0, slowest=12.5)
    fast = posix(ranks=64, written=64 * GIB, call=16 * MIB, write_seconds=15.0, slowest=2.0)
    yield (
        "opening-once",
        "none",
        run_of(64, 100.0, [fast, with_counters(opened, F_META_TIME=640.0)]),
        "one MPI_File_open takes 10 s: who came late to it is not in the log",
    )
    yield (
        "memory-only",
        "none",
        run_of(
            4,
            100.0,
            [
                posix(path=f"/dev/shm/o.{n}", rank=n, written=GIB, write_seconds=2.0)
                for n in range(4)
            ],
        ),
        "files in memory, in 2 % of the run",
    )


def _again() -> Iterator[Kind]:
    """Reads of what was read before, and of what nobody asked for."""
    whole: Mapping[str, Any] = {"call": 4 * MIB, "read_seconds": 120.0}
    yield (
        "read-again",
        "same-bytes",
        run_of(1, 200.0, own([0], "in", read=100 * GIB, MAX_BYTE_READ=5 * GIB - 1, **whole)),
        "one rank reads a file of 5 GiB twenty times",
    )
    yield (
        "read-again-by-each",
        "same-bytes",
        run_of(16, 200.0, own(range(16), "in", read=40 * GIB, MAX_BYTE_READ=GIB - 1, **whole)),
        "each rank reads its own file forty times",
    )
    for name, label, read, written, asked, why in (
        ("h5-chunks-read", "data-sieving", 200, 0, "READ", "rows are read of chunks"),
        (
            "h5-chunks-written",
            "read-modify-write",
            100,
            100,
            "WRITTEN",
            "rows are written of chunks",
        ),
    ):
        verb = "READ" if asked == "READ" else "WRITE"
        file = posix(
            path="/scratch/run/a.h5",
            rank=0,
            read=read * GIB,
            written=written * GIB,
            read_seconds=75.0 if written else 150.0,
            write_seconds=75.0 if written else 0.0,
            MAX_BYTE_READ=2 * GIB - 1,
            MAX_BYTE_WRITTEN=2 * GIB - 1 if written else 0,
        )
        data = Item(
            module="H5D",
            path="/scratch/run/a.h5:/t",
            rank=0,
            counters={f"{verb}S": 200_000, f"BYTES_{asked}": 2 * GIB, "CHUNK_SIZE_D1": 512},
            times={f"F_{verb}_TIME": 152.0},
        )
        yield name, label, run_of(1, 200.0, [file, data]), f"{why} that the cache does not hold"


def _sieving() -> Iterator[Kind]:
    """Reads with holes of a file that is written, too."""
    below = posix(
        ranks=16,
        written=4 * GIB,
        read=64 * GIB,
        call=4 * MIB,
        write_seconds=80.0,
        read_seconds=1600.0,
        slowest=107.0,
        movers=16,
        deviation=1.0,
    )
    above = mpiio(
        ranks=16,
        written=4 * GIB,
        read=4 * GIB,
        call=4 * MIB,
        write_seconds=83.0,
        read_seconds=1616.0,
        slowest=108.0,
        together=False,
    )
    yield (
        "sieving-of-a-written-file",
        "data-sieving",
        run_of(16, 200.0, [below, above]),
        "a file is written without holes, and read back with strides by independent calls",
    )


def _syncs() -> Iterator[Kind]:
    """Calls that wait for storage, and calls that do no harm."""
    yield (
        "checkpoints-synced",
        "none",
        run_of(
            16,
            600.0,
            own(range(16), written=10 * GIB, call=GIB, write_seconds=140.0, FSYNCS=10),
        ),
        "one fsync behind each checkpoint of 1 GiB",
    )
    log = posix(
        ranks=64, written=800 * KIB, call=4 * KIB, write_seconds=30.0, slowest=30.0, movers=1
    )
    yield (
        "synced-by-the-root",
        "sync-storm",
        run_of(64, 100.0, [with_counters(log, FSYNCS=200, F_VARIANCE_RANK_TIME=14.0)]),
        "rank 0 syncs each record of a file that all ranks opened",
    )
    flushed = {"OPENS": 1, "WRITES": 400, "BYTES_WRITTEN": 400 * 16 * MIB, "FLUSHES": 400}
    yield (
        "large-flushes",
        "none",
        run_of(4, 100.0, [stdio(f"/scratch/run/s.{n}", n, 50.0, **flushed) for n in range(4)]),
        "fflush behind each 16 MiB costs nothing beside them",
    )
    calls = mpiio(
        ranks=16,
        written=200 * MIB,
        call=64 * KIB,
        write_seconds=960.0,
        slowest=62.0,
        together=False,
    )
    yield (
        "mpi-syncs-alone",
        "sync-storm",
        run_of(16, 100.0, [with_counters(calls, SYNCS=3200)]),
        "MPI_File_sync behind each write, in a log without POSIX",
    )
    printed = {"OPENS": 1, "WRITES": 3_000_000, "BYTES_WRITTEN": 180_000_000}
    yield (
        "printing",
        "small-calls",
        run_of(8, 100.0, [stdio("<STDOUT>", 0, 70.0, **printed)]),
        "rank 0 prints three million lines in 70 of 100 s",
    )
    yield (
        "seeks",
        "metadata",
        run_of(
            4,
            100.0,
            own(range(4), written=200 * MIB, call=4 * MIB, meta_seconds=40.0, SEEKS=20_000_000),
        ),
        "twenty million lseeks for 50 writes",
    )


def _unseen() -> Iterator[Kind]:
    """Logs that lack something, so that a report must not take it for fine."""
    yield (
        "mapped-files",
        "none",
        run_of(4, 100.0, own(range(4), "in", MMAPS=3)),
        "files are read by mmap, which no counter sees",
    )
    yield (
        "nearly-empty-partial",
        "none",
        run_of(64, 100.0, own(range(64), written=MIB, write_seconds=0.01), partial=("POSIX",)),
        "0.02 s of I/O, but most records are missing",
    )


_ALL: Sequence[Callable[[], Iterator[Kind]]] = (
    *(_ranks, _groups, _many_files, _layouts, _bound, _again, _sieving, _syncs, _unseen),
)


def kinds() -> list[Kind]:
    """All logs of this file."""
    return [one for made in _ALL for one in made()]


def write_kinds(found: Sequence[Kind], folder: str) -> int:
    """Writes the logs into the folder."""
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    for name, _, run, _ in found:
        write_log(run, into / f"{name}.darshan")
    return 0


if __name__ == "__main__":
    sys.exit(write_kinds(kinds(), sys.argv[1]))
