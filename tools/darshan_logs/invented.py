"""Synthetic Darshan logs of machines that are not at hand (Lustre, DAOS, thousands of ranks). The
counters are modelled on those of real programs, and Darshan's library writes the logs.

    .venv/bin/python -m tools.darshan_logs.invented FOLDER"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.darshan_logs.logfile import Item, Run, write_log

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SHARED = "/scratch/run/shared"
Made = dict[str, tuple[str, Run]]


def posix(
    *,
    path: str = SHARED,
    rank: int = -1,
    ranks: int = 1,
    written: int = 0,
    read: int = 0,
    call: int = MIB,
    write_seconds: float = 0.0,
    read_seconds: float = 0.0,
    meta_seconds: float = 0.01,
    slowest: float = 0.0,
    movers: int = 0,
    deviation: float = 0.0,
    unaligned: float = 0.0,
    slowest_rank: int = 0,
    module: str = "POSIX",
    **more: int,
) -> Item:
    """A record of the POSIX module (or `module`). Seconds are summed over all ranks; `movers` of
    the ranks share the bytes evenly."""
    writes, reads = -(-written // call), -(-read // call)
    mean = (written + read) / max(1, ranks)
    variance = mean**2 * (ranks / movers - 1) if movers and rank < 0 else 0.0
    extent = max(written, 1) - 1
    counters = {
        "OPENS": ranks,
        "WRITES": writes,
        "READS": reads,
        "BYTES_WRITTEN": written,
        "BYTES_READ": read,
        "ACCESS1_ACCESS": call,
        "ACCESS1_COUNT": writes + reads,
        "SLOWEST_RANK": slowest_rank,
    }
    if module == "POSIX":
        counters |= {
            "SEQ_WRITES": max(0, writes - ranks),
            "SEQ_READS": max(0, reads - ranks),
            "MAX_BYTE_WRITTEN": extent if written else 0,
            "MAX_BYTE_READ": max(0, read - 1),
            "FILE_ALIGNMENT": MIB,
            "FILE_NOT_ALIGNED": int(unaligned * (writes + reads)),
        }
    times = {
        "F_WRITE_TIME": write_seconds,
        "F_READ_TIME": read_seconds,
        "F_META_TIME": meta_seconds,
        "F_SLOWEST_RANK_TIME": slowest,
        "F_MAX_WRITE_TIME": 3 * write_seconds / max(1, writes),
        "F_WRITE_START_TIMESTAMP": 1.0 if writes else 0.0,
        "F_WRITE_END_TIMESTAMP": 1.0 + slowest + write_seconds / max(1, ranks) if writes else 0.0,
        "F_OPEN_END_TIMESTAMP": 1.0,
    }
    if module == "POSIX":
        times |= {"F_VARIANCE_RANK_BYTES": variance, "F_VARIANCE_RANK_TIME": deviation**2}
    return Item(module=module, path=path, rank=rank, counters=counters | more, times=times)


def mpiio(
    *,
    ranks: int,
    written: int = 0,
    read: int = 0,
    call: int,
    write_seconds: float = 0.0,
    read_seconds: float = 0.0,
    slowest: float,
    together: bool = True,
    path: str = SHARED,
) -> Item:
    """A shared MPI-IO record of all ranks. The calls are in the histogram's bin for their size."""
    kind = "COLL" if together else "INDEP"
    writes, reads = -(-written // call), -(-read // call)
    row = "100K_1M" if call > 100 * KIB else "1K_10K" if call > KIB else "100_1K"
    row = "1M_4M" if call >= MIB else row
    return Item(
        module="MPI-IO",
        path=path,
        rank=-1,
        counters={
            "COLL_OPENS": ranks,
            f"{kind}_WRITES": writes,
            f"{kind}_READS": reads,
            "BYTES_WRITTEN": written,
            "BYTES_READ": read,
            f"SIZE_WRITE_AGG_{row}": writes,
            f"SIZE_READ_AGG_{row}": reads,
            "ACCESS1_ACCESS": call,
            "ACCESS1_COUNT": writes + reads,
        },
        times={
            "F_WRITE_TIME": write_seconds,
            "F_READ_TIME": read_seconds,
            "F_META_TIME": 0.02 * ranks,
            "F_SLOWEST_RANK_TIME": slowest,
        },
    )


def _run(ranks: int, seconds: float, *items: Item, stripes: int = 0, **more: Any) -> Run:
    paths = sorted({one.path for one in items if one.path.startswith("/scratch")})
    striping = {path: range(stripes) for path in paths} if stripes else {}
    return Run(
        command="/apps/model",
        ranks=ranks,
        seconds=seconds,
        items=items,
        file_system="lustre" if stripes else "ext4",
        striping=striping,
        **more,
    )


def _sick() -> Run:
    items, striping = [], {}
    for rank in range(240):
        path = f"/scratch/run/out.{rank:08}"
        seconds = 190.0 if rank % 24 == 7 else 9.0 + rank % 5 * 0.3
        items.append(
            posix(
                path=path,
                rank=rank,
                written=256 * MIB,
                write_seconds=seconds,
                slowest=0.0,
            )
        )
        striping[path] = [rank % 24]
    return Run(
        command="/apps/model",
        ranks=240,
        seconds=200.0,
        items=items,
        file_system="lustre",
        striping=striping,
    )


def _holes() -> Run:
    """56 of 512 ranks are aggregators, which read before they write."""
    aggregators = [
        posix(
            rank=rank,
            written=5 * GIB,
            read=5 * GIB,
            write_seconds=58.0,
            read_seconds=200.0 + rank % 7,
        )
        for rank in range(0, 512, 9)
    ]
    above = mpiio(
        ranks=512, written=70 * GIB, call=700 * KIB, write_seconds=512 * 640.0, slowest=642.0
    )
    return _run(512, 700.0, *aggregators, above, stripes=56)


def _hdf5() -> Run:
    files = mpiio(ranks=64, written=4 * GIB, call=MIB, write_seconds=64 * 3.0, slowest=3.2)
    below = posix(
        ranks=64, written=4 * GIB, call=4 * MIB, write_seconds=40.0, slowest=2.9, movers=16
    )
    library = Item(
        module="H5D",
        path=f"{SHARED}:/temperature",
        rank=-1,
        counters={"OPENS": 64, "WRITES": 4096, "BYTES_WRITTEN": 4 * GIB, "DATATYPE_SIZE": 4},
        times={"F_WRITE_TIME": 64 * 80.0, "F_SLOWEST_RANK_TIME": 81.0},
    )
    return _run(64, 100.0, files, below, library)


def _even(
    name: str,
    trouble: str,
    *,
    ranks: int,
    seconds: float,
    mean: float,
    stripes: int = 0,
    read: int = 0,
    **below: Any,
) -> tuple[str, tuple[str, Run]]:
    """A program whose ranks write or read one file evenly, in `mean` seconds each."""
    times: dict[str, Any] = {"read_seconds" if read else "write_seconds": ranks * mean}
    item = posix(ranks=ranks, read=read, movers=ranks, **times, **below)
    return name, (trouble, _run(ranks, seconds, item, stripes=stripes))


def _two_layers() -> Made:
    """Programs whose MPI-IO calls are in the log, with the POSIX calls beneath them."""
    return {
        "lustre-one-stripe": (
            "few-stripes",
            _run(
                512,
                700.0,
                posix(rank=0, written=64 * GIB, write_seconds=560.0),
                mpiio(
                    ranks=512, written=64 * GIB, call=MIB, write_seconds=512 * 640.0, slowest=645.0
                ),
                stripes=1,
            ),
        ),
        "pieces-of-256": (
            "small-calls",
            _run(
                64,
                80.0,
                posix(
                    ranks=64,
                    written=160 * MIB,
                    call=256,
                    write_seconds=75.0,
                    slowest=74.0,
                    movers=1,
                ),
                mpiio(
                    ranks=64,
                    written=160 * MIB,
                    call=256 * KIB,
                    write_seconds=64 * 77.0,
                    slowest=78.0,
                ),
                stripes=8,
            ),
        ),
        "exchange-of-2048": (
            "exchange",
            _run(
                2048,
                700.0,
                posix(ranks=2048, read=512 * GIB, read_seconds=9000.0, slowest=180.0, movers=56),
                mpiio(
                    ranks=2048,
                    read=512 * GIB,
                    call=4 * MIB,
                    read_seconds=2048 * 600.0,
                    slowest=640.0,
                ),
                stripes=56,
            ),
        ),
        "sick-target": ("sick-target", _sick()),
        "holes-of-512": ("read-modify-write", _holes()),
        "hdf5-conversion": ("library", _hdf5()),
    }


# fmt: off
EVEN: Made = dict((
    _even("lustre-one-stripe-posix", "few-stripes", ranks=256, seconds=400.0, stripes=1,
          written=64 * GIB, call=4 * MIB, mean=300.0, slowest=310.0, deviation=4.0),
    _even("lustre-two-stripes", "few-stripes", ranks=1024, seconds=900.0, stripes=2,
          written=256 * GIB, call=16 * MIB, mean=600.0, slowest=620.0, deviation=9.0),
    _even("lustre-eight-stripes-of-a-tebibyte", "few-stripes", ranks=4096, seconds=1200.0,
          stripes=8, written=1024 * GIB, call=16 * MIB, mean=170.0, slowest=180.0, deviation=4.0),
    _even("lustre-locks", "lock-contention", ranks=128, seconds=300.0, stripes=8, unaligned=0.95,
          written=128 * 500_000 * 64, call=500_000, mean=180.0, slowest=190.0, deviation=4.0),
    _even("lustre-healthy", "none", ranks=512, seconds=3600.0, stripes=64,
          written=256 * GIB, call=16 * MIB, mean=40.0, slowest=45.0, deviation=2.0),
    _even("lustre-busy", "none", ranks=512, seconds=120.0, stripes=64,
          written=1024 * GIB, call=16 * MIB, mean=70.0, slowest=85.0, deviation=6.0),
    _even("slow-rank-of-1024", "imbalance", ranks=1024, seconds=400.0, stripes=64, slowest_rank=777,
          written=64 * GIB, call=16 * MIB, mean=20.0, slowest=300.0, deviation=9.0),
    _even("same-bytes-of-1024", "same-bytes", ranks=1024, seconds=200.0, stripes=8,
          read=1024 * GIB, call=4 * MIB, mean=120.0, slowest=130.0, deviation=4.0,
          MAX_BYTE_READ=GIB - 1),
    _even("dfs-healthy", "none", module="DFS", ranks=16, seconds=10.0,
          written=8 * GIB, mean=0.8, slowest=0.9),
    _even("dfs-small", "small-calls", module="DFS", ranks=16, seconds=100.0,
          read=4 * GIB, call=4096, mean=60.0, slowest=62.0),
    _even("clock-that-jumped", "small-calls", ranks=8, seconds=50.0,
          written=64 * MIB, call=512, mean=4000.0, slowest=7130.9),
    _even("no-run-time", "small-calls", ranks=4, seconds=0.0,
          written=64 * MIB, call=512, mean=3.0, slowest=3.1),
))
# fmt: on


def invented() -> Made:
    """For each log's name, the kind of the expected first trouble, and the run."""
    return _two_layers() | EVEN


def main(words: Sequence[str]) -> int:
    """Writes all logs into the folder words[0]."""
    into = Path(words[0])
    into.mkdir(parents=True, exist_ok=True)
    for name, (_, run) in invented().items():
        write_log(run, into / f"{name}.darshan")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
