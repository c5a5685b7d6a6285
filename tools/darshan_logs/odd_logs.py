"""Synthetic Darshan logs of which something is missing or wrong: names, times, records, the end of
the run. The troubles in them are simple ones; what counts is that they are found nevertheless, and
that nothing is called healthy of which the log tells too little.

    .venv/bin/python -m tools.darshan_logs.odd_logs FOLDER"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

from tools.darshan_logs.invented import GIB, MIB, posix
from tools.darshan_logs.kinds import Kind, own, run_of, stdio, with_counters, write_kinds
from tools.darshan_logs.logfile import Run

_PRINTED = {"OPENS": 1, "WRITES": 4_000_000, "BYTES_WRITTEN": 256_000_000}


def odd_logs() -> list[Kind]:
    """All logs of this file."""
    return [*_names(), *_times(), *_records()]


def _names() -> Iterator[Kind]:
    hidden = [stdio(str(3_057_294_837 + n), n, 40.0, **_PRINTED) for n in range(4)]
    yield (
        "names-made-anonymous",
        "small-calls",
        run_of(4, 100.0, hidden),
        "names are numbers, as darshan-convert --obfuscate leaves them; small writes by STDIO",
    )
    yield (
        "names-missing",
        "small-calls",
        run_of(4, 100.0, hidden, is_named=False),
        "the log has no names of its files; small writes by STDIO",
    )


def _times() -> Iterator[Kind]:
    small = list(own(range(4), written=256 * MIB, call=512, write_seconds=40.0))
    yield (
        "end-before-start",
        "small-calls",
        run_of(4, -3600.0, small),
        "the clock was set back during the run, which ends before it began",
    )
    back = [
        with_counters(one, F_META_TIME=-1e6, F_WRITE_START_TIMESTAMP=-3600.0)
        if one.rank == 1
        else one
        for one in small
    ]
    yield "negative-times", "small-calls", run_of(4, 100.0, back), "negative times of one rank"
    broken = with_counters(small[2], F_WRITE_TIME=math.nan, F_META_TIME=math.inf)
    yield (
        "times-that-are-no-numbers",
        "small-calls",
        run_of(4, 100.0, [*small[:2], broken, small[3]]),
        "one rank's times are NaN and infinite",
    )
    untimed = [
        with_counters(
            one,
            F_META_TIME=0.0,
            F_MAX_WRITE_TIME=0.0,
            F_WRITE_START_TIMESTAMP=0.0,
            F_WRITE_END_TIMESTAMP=0.0,
        )
        for one in own(range(4), written=256 * MIB, call=512)
    ]
    yield (
        "no-times",
        "none",
        run_of(4, 100.0, untimed),
        "two million writes of 512 bytes without a second: the log does not say what they took",
    )


def _records() -> Iterator[Kind]:
    small = list(own(range(4), written=256 * MIB, call=512, write_seconds=40.0))
    stray = posix(path="/scratch/run/stray", rank=7, written=MIB, write_seconds=1.0)
    yield (
        "rank-beyond-the-job",
        "small-calls",
        run_of(4, 100.0, [*small, stray]),
        "a record of rank 7 in a job of 4 ranks",
    )
    huge = [
        with_counters(one, BYTES_READ=(1 << 63) - 1, READS=1, MAX_BYTE_READ=(1 << 63) - 1)
        for one in own(range(3), "huge", read=MIB, read_seconds=0.01)
    ]
    yield (
        "counters-that-overflow",
        "small-calls",
        run_of(4, 100.0, [*small, *huge]),
        "three files of which 2^63 - 1 bytes are said to be read, beside small writes",
    )
    yield (
        "heatmap-only",
        "none",
        Run(command="/apps/model", ranks=16, seconds=100.0, items=(), heat=[GIB] * 80 + [0] * 20),
        "80 GiB in the heat map, and no counter of any call",
    )
    empty = Run(command="/apps/model", ranks=4, seconds=100.0, items=())
    yield "no-modules", "none", empty, "Darshan was loaded and saw no I/O at all"
    yield (
        "partial-stdio",
        "small-calls",
        run_of(
            4,
            100.0,
            [stdio(f"/scratch/run/p.{n}", n, 40.0, **_PRINTED) for n in range(3)],
            partial=("STDIO",),
        ),
        "small writes by STDIO, whose records are not all there",
    )


if __name__ == "__main__":
    sys.exit(write_kinds(odd_logs(), sys.argv[1]))
