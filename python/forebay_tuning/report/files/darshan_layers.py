"""Sums up the records of one Darshan module (POSIX, STDIO, MPI-IO, DFS, HDF5 …) per file.

A file has either one record for each rank, which are added up here, or one record with rank -1:
a shared record, in which Darshan has reduced the counters and times of all ranks, and names the
slowest rank."""

import importlib
import math
from typing import Any

from forebay.common.model.newer_python import zip_of
from forebay_tuning.report.files.darshan_tables import Table

_SMALL = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M")
_SIZES = (*_SMALL, "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
_MIDDLES = (50, 512, 5120, 51200, 1 << 19, 2 << 20, 6 << 20, 48 << 20, 480 << 20, 1 << 30)
"""The assumed bytes of a call in each bin of `_SIZES`: its middle, roughly."""
_SUMS = {
    "opens": ("OPENS", "FDOPENS", "INDEP_OPENS", "COLL_OPENS", "GLOBAL_OPENS", "CREATES"),
    "stats": ("STATS", "GET_SIZES", "LOOKUPS"),
    "seeks": ("SEEKS",),
    "views": ("VIEWS",),
    "syncs": ("FSYNCS", "FDSYNCS", "SYNCS"),
    "flushes": ("FLUSHES",),
    "switches": ("RW_SWITCHES",),
    "unaligned": ("FILE_NOT_ALIGNED",),
    "collective_sets": ("USE_MPIIO_COLLECTIVE",),
}
_CALLS = {
    "READ": ("READS", "READXS", "INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
    "WRITE": ("WRITES", "WRITEXS", "INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"),
}


def file_without_layers(path: str) -> dict[str, Any]:
    """The description of a file of which nothing is known yet, with the fields of a FileIo."""
    return {
        "path": path,
        "layers": [],
        "stripe_count": None,
        "stripe_bytes": None,
        "targets": [],
        "files": 1,
        "file_system": "",
    }


class Layers:
    """The records `rows` of `table`, grouped by file. `ranks` is the number of ranks of the job."""

    def __init__(self, table: Table, rows: Any, ranks: int) -> None:
        numpy: Any = importlib.import_module("numpy")
        order = numpy.argsort(rows["id"], kind="stable")
        self._rows = rows = rows[order]
        self._table = table
        self._ranks = ranks
        keys, begins, counts = numpy.unique(rows["id"], return_index=True, return_counts=True)
        self._spans = list(zip_of(keys.tolist(), begins.tolist(), counts.tolist(), strict=True))
        self._begins = begins
        self._shared = rows["rank"] < 0
        self._seconds = table.seconds(rows)
        self._bytes = table.bytes(rows).astype("f8")
        self._slowest = table.slowest(rows, ranks)
        self._rank: list[int] = rows["rank"].tolist()
        self._spent: list[float] = self._slowest.tolist()
        self._moved: list[float] = self._bytes.tolist()
        self._slow_rank = table.column("SLOWEST_RANK", rows)
        self._fastest = table.column("F_FASTEST_RANK_TIME", rows)
        self._fast_rank = table.column("FASTEST_RANK", rows)
        self._least_bytes = table.column("FASTEST_RANK_BYTES", rows)
        self._most_bytes = table.column("SLOWEST_RANK_BYTES", rows)
        self._variance = table.column("F_VARIANCE_RANK_TIME", rows)
        self._variance_bytes = table.column("F_VARIANCE_RANK_BYTES", rows).clip(0)
        self._calls = sum(self._clipped(name) for names in _CALLS.values() for name in names)

    def found(self) -> dict[int, dict[str, Any]]:
        """Maps each file's record id to its sums, as the fields of a LayerIo."""
        if not self._spans:
            return {}
        numpy: Any = importlib.import_module("numpy")
        kinds = ("READ", "WRITTEN")
        last = numpy.maximum(*(self._clipped(f"MAX_BYTE_{one}") for one in kinds))
        columns = {key: self._add(*names).tolist() for key, names in _SUMS.items()}
        columns |= {
            "write": self._passings("WRITE"),
            "read": self._passings("READ"),
            "seconds_meta": plains(self._reduce(self._clipped("F_META_TIME"))),
            "sync_seconds": plains(self._sync_seconds()),
            "closing_seconds": plains(self._closing_seconds()),
            "extent": self._most(numpy.where(last > 0, last + 1, 0)).tolist(),
            "alignment": self._most(self._clipped("FILE_ALIGNMENT")).tolist(),
        }
        names = tuple(columns)
        found = {}
        for (key, begin, count), row in zip_of(
            self._spans, zip_of(*columns.values(), strict=True), strict=True
        ):
            layer = {"name": self._table.module, **dict(zip_of(names, row, strict=True))}
            found[key] = layer | self._whose(slice(begin, begin + count))
        return found

    def _clipped(self, name: str) -> Any:
        return self._table.column(name, self._rows).clip(0)

    def _most(self, column: Any) -> Any:
        numpy: Any = importlib.import_module("numpy")
        return numpy.maximum.reduceat(column, self._begins)

    def _reduce(self, column: Any) -> Any:
        numpy: Any = importlib.import_module("numpy")
        return numpy.add.reduceat(column, self._begins)

    def _add(self, *names: str) -> Any:
        return self._reduce(sum(self._clipped(name) for name in names))

    def _whose(self, span: slice) -> dict[str, Any]:
        if span.stop - span.start == 1 and self._rank[span.start] >= 0:
            return self._of_one(span.start)
        rows, shared, begin = self._rows[span], self._shared[span], span.start
        at = int(self._slowest[span].argmax())
        ranks = sorted(set(rows["rank"][~shared].tolist()))
        if shared.any():
            rank = int(self._slow_rank[span][at]) if shared[at] else int(rows["rank"][at])
            first = int(shared.argmax())
            fastest, least = self._fastest[span][first], int(self._least_bytes[span][first])
            fastest_rank = int(self._fast_rank[span][first])
            moved = int(self._most_bytes[span][at]) if shared[at] else int(self._moved[begin + at])
        else:
            quick = int(self._slowest[span].argmin())
            rank, fastest = int(rows["rank"][at]), self._slowest[span][quick]
            fastest_rank = int(rows["rank"][quick])
            moved = int(self._moved[begin + at])
            least = 0 if len(ranks) < self._ranks else int(self._bytes[span].min())
        return {
            "ranks": self._ranks if shared.any() else len(ranks),
            "rank": None if shared.any() or len(ranks) != 1 else ranks[0],
            "slowest_rank": rank,
            "slowest_seconds": plain(self._slowest[span][at]),
            "slowest_bytes": max(0, moved),
            "fastest_rank": fastest_rank,
            "fastest_seconds": plain(fastest),
            "least_bytes": max(0, least),
            "spread_seconds": self._spread(span),
            "effective_movers": self._effective_movers(span),
        }

    def _of_one(self, at: int) -> dict[str, Any]:
        """The short cut for a file with one record of one rank, which most files of most logs are:
        it needs no array operation."""
        seconds = plain(self._spent[at])
        return {
            "ranks": 1,
            "rank": self._rank[at],
            "slowest_rank": self._rank[at],
            "slowest_seconds": seconds,
            "slowest_bytes": int(self._moved[at]),
            "fastest_rank": self._rank[at],
            "fastest_seconds": seconds,
            "spread_seconds": 0.0,
            "effective_movers": int(self._moved[at] > 0),
        }

    def _spread(self, span: slice) -> float:
        """Standard deviation of the ranks' seconds in this file."""
        shared = self._shared[span]
        if shared.any():
            return math.sqrt(plain(self._variance[span][shared].max()))
        return float(self._seconds[span].std()) if shared.size > 1 else 0.0

    def _effective_movers(self, span: slice) -> int:
        """The effective number of ranks that moved the file's bytes, 0 if none did.

        It is the inverse Herfindahl index of the ranks' bytes: (Σ bytes)² / Σ bytes², which is n
        if n ranks moved equally many. Of a shared record, Σ bytes² follows from the variance."""
        moved, shared = self._bytes[span], self._shared[span]
        total = float(moved.sum())
        if total <= 0:
            return 0
        squares = float((moved[~shared] ** 2).sum())
        if shared.any():
            variance = self._variance_bytes[span]
            mean = moved[shared] / self._ranks
            squares += float((self._ranks * (variance[shared] + mean**2)).sum())
        return max(1, min(self._ranks, round(total * total / squares)))

    def _sync_seconds(self) -> Any:
        """A lower bound for the seconds that each file spent in fsync.

        Darshan adds the time of fsync to F_WRITE_TIME, but not to F_MAX_WRITE_TIME, nor to the
        time stamp of the last write. The part of F_WRITE_TIME that exceeds calls × longest write,
        or the span from the first to the last write, is therefore fsync's."""
        numpy: Any = importlib.import_module("numpy")
        table, rows = self._table, self._rows
        syncs = sum(self._clipped(name) for name in ("FSYNCS", "FDSYNCS"))
        seconds = table.column("F_WRITE_TIME", rows).clip(0)
        longest = table.column("F_MAX_WRITE_TIME", rows).clip(0)
        by_longest = seconds - self._clipped("WRITES") * longest
        begin, end = (table.column(f"F_WRITE_{at}_TIMESTAMP", rows) for at in ("START", "END"))
        by_span = numpy.where(self._shared, 0.0, seconds - (end - begin))
        least = numpy.maximum(by_longest, by_span)
        return self._reduce(numpy.where(syncs > 0, numpy.clip(least, 0, seconds), 0.0))

    def _closing_seconds(self) -> Any:
        """A lower bound for the seconds that each file spent in close, if each rank opened it once.

        Darshan adds them to F_META_TIME, and has time stamps of the first and the last call: one
        rank's close took the span between these, and no open of several took longer than theirs."""
        numpy: Any = importlib.import_module("numpy")
        meta, opens = self._clipped("F_META_TIME"), self._clipped("OPENS")
        opening, closing = (self._span("OPEN"), self._span("CLOSE"))
        known = self._clipped("F_CLOSE_START_TIMESTAMP") > 0
        alone = numpy.where(known & (opens == 1), numpy.minimum(closing, meta), 0.0)
        several = numpy.minimum(meta - opens * opening, opens * closing).clip(0)
        several = numpy.where(known & (opens <= self._ranks), several, 0.0)
        return self._reduce(numpy.where(self._shared, several, alone))

    def _span(self, call: str) -> Any:
        """Seconds from the begin of the first call to the end of the last one."""
        begin, end = (self._clipped(f"F_{call}_{at}_TIMESTAMP") for at in ("START", "END"))
        return (end - begin).clip(0)

    def _passings(self, kind: str) -> list[dict[str, Any]]:
        """The direction `kind` of each file, as the fields of a Passing; empty if nothing is in
        it."""
        numpy: Any = importlib.import_module("numpy")
        table, rows = self._table, self._rows
        noun = "WRITTEN" if kind == "WRITE" else "READ"
        calls = self._add(*_CALLS[kind]).tolist()
        moved = self._add(f"BYTES_{noun}").tolist()
        starts = table.column(f"F_{kind}_START_TIMESTAMP", rows)
        first = numpy.minimum.reduceat(numpy.where(starts > 0, starts, numpy.inf), self._begins)
        together = self._add(f"COLL_{kind}S", f"SPLIT_{kind}S").tolist()
        alone = self._add(f"INDEP_{kind}S", f"NB_{kind}S").tolist()
        sizes = numpy.stack([self._bins(kind, size) for size in _SIZES], axis=1)
        parts = zip_of(moved, together, alone, sizes.tolist(), strict=True)
        columns = {
            "bytes": moved,
            "calls": calls,
            "small_calls": sizes[:, : len(_SMALL)].sum(axis=1).tolist(),
            "seconds": plains(self._reduce(self._clipped(f"F_{kind}_TIME"))),
            "usual_transfer": self._usual(calls, moved),
            "collective_calls": together,
            "collective_bytes": [_collective_bytes(*one) if one[1] else 0 for one in parts],
            "begin": plains(first),
            "end": plains(self._most(self._clipped(f"F_{kind}_END_TIMESTAMP"))),
            "longest": plains(self._most(self._clipped(f"F_MAX_{kind}_TIME"))),
            "sequential": self._add(f"SEQ_{kind}S").tolist(),
        }
        names = tuple(columns)
        return [
            dict(zip_of(names, row, strict=True)) if any(row) else {}
            for row in zip_of(*columns.values(), strict=True)
        ]

    def _bins(self, kind: str, size: str) -> Any:
        return self._add(f"SIZE_{kind}_{size}", f"SIZE_{kind}_AGG_{size}")

    def _usual(self, calls: Any, moved: Any) -> list[int]:
        """Per file, the commonest size of a call if at least half of its calls have it, else the
        mean size. Bytes."""
        sizes = self._table.column("ACCESS1_ACCESS", self._rows).tolist()
        counts = self._table.column("ACCESS1_COUNT", self._rows).tolist()
        all_calls = self._calls.tolist()
        found = []
        for at, (_, begin, count) in enumerate(self._spans):
            busiest = begin
            if count > 1:
                busiest += int(self._calls[begin : begin + count].argmax())
            size, many = sizes[busiest], counts[busiest]
            common = size > 0 and 2 * many >= all_calls[busiest] and size <= moved[at]
            mean = moved[at] // calls[at] if calls[at] else 0
            found.append(size if common and calls[at] else mean)
        return found


def _collective_bytes(moved: int, together: int, alone: int, sizes: list[int]) -> int:
    """Estimates how many of the `moved` bytes collective calls moved.

    A log has one histogram of sizes for all calls. Independent calls on a file that has collective
    ones usually write headers, so the `alone` independent calls are taken to be the smallest."""
    if together == 0 or moved == 0:
        return 0
    left, small = alone, 0
    for count, size in zip_of(sizes, _MIDDLES, strict=True):
        taken = min(left, count)
        small += taken * size
        left -= taken
    return max(0, moved - min(moved, small))


def plains(column: Any) -> list[float]:
    """As `plain`, for each value of an array."""
    numpy: Any = importlib.import_module("numpy")
    found: list[float] = numpy.where(numpy.isfinite(column) & (column > 0), column, 0.0).tolist()
    return found


def plain(value: Any) -> float:
    """`value` as a float; 0 if it is negative, infinite or not a number."""
    number = float(value)
    return number if math.isfinite(number) and number > 0 else 0.0
