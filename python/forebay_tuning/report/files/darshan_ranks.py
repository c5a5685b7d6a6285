"""Finds which ranks used each file of a Darshan log, as far as it has a record of each rank, and
sums up what single ranks did in files of their own."""

import importlib
from dataclasses import replace
from typing import Any

from forebay.common.model.frozen import frozen
from forebay_tuning.report.files.darshan_tables import Table, among

_OWN = (
    "seconds",
    "write_seconds",
    "read_seconds",
    "meta_seconds",
    "bytes",
    "opens",
    "files",
    "written",
)
MPI = "MPI-IO"
SEVERAL = -1


@frozen
class FileUse:
    """The files of a log as arrays with an entry each, in the ascending order of their `ids`.

    `rank` is the only rank that used the file, `SEVERAL` if there are more; `by_mpi` says whether
    MPI-IO opened it, and `waited` whether its seconds count for the run: false for files that only
    other ranks used than the one that waited longest."""

    ids: Any
    rank: Any
    by_mpi: Any
    waited: Any

    def places(self, ids: Any) -> Any:
        """The indices of `ids`, all of which have an entry."""
        numpy: Any = importlib.import_module("numpy")
        return numpy.searchsorted(self.ids, ids)

    def slowest(self, table: Table, rows: Any, ranks: int) -> Any:
        """Seconds of each file's slowest rank in the records `rows` of `table`; 0 without any."""
        numpy: Any = importlib.import_module("numpy")
        found = numpy.zeros(len(self.ids))
        numpy.maximum.at(found, self.places(rows["id"]), table.slowest(rows, ranks))
        return found


def use_of(tables: dict[str, Table], ranks: int) -> FileUse:
    """The ranks that used the files of `tables`, those of the modules, in a job of `ranks`."""
    numpy: Any = importlib.import_module("numpy")
    rows = [table.rows for table in tables.values()]
    keys = numpy.concatenate([numpy.zeros(0, "u8"), *(one["id"] for one in rows)])
    whose = numpy.concatenate([numpy.zeros(0, "i8"), *(one["rank"] for one in rows)])
    ids, which = numpy.unique(keys, return_inverse=True)
    least, most = numpy.full(len(ids), ranks), numpy.full(len(ids), -1)
    numpy.minimum.at(least, which, whose)
    numpy.maximum.at(most, which, whose)
    alone = (least == most) & (least >= 0) & (least < ranks)
    by_mpi = numpy.zeros(len(ids), bool)
    if MPI in tables:
        by_mpi[numpy.searchsorted(ids, tables[MPI].rows["id"])] = True
    use = FileUse(
        ids=ids,
        rank=numpy.where(alone, least, SEVERAL),
        by_mpi=by_mpi,
        waited=numpy.ones(len(ids), bool),
    )
    known = (whose >= 0) & (whose < ranks)
    pairs = numpy.unique(which[known] * ranks + whose[known])
    return replace(use, waited=_waited(use, tables, ranks, pairs, least < 0))


def _waited(use: FileUse, tables: dict[str, Table], ranks: int, pairs: Any, shared: Any) -> Any:
    """Which files the rank that waited longest used; others were used by other ranks at the same
    time. `pairs` has (index of file) × `ranks` + rank for all records of single ranks; `shared`
    says which files have a record of all ranks.

    A rank waits in a file as long as the file's slowest rank, since those who share a file wait for
    one another. Only files with a record of each rank say who used them. Those of single ranks
    count here if they were opened by MPI-IO, since all others are in `own_sums`."""
    numpy: Any = importlib.import_module("numpy")
    of_file, of_rank = pairs // ranks, pairs % ranks
    users = numpy.bincount(of_file, minlength=len(use.ids))
    partly = (use.by_mpi | (users > 1)) & (users < ranks) & ~shared
    if not partly.any():
        return ~partly
    stored, above = numpy.zeros(len(use.ids)), numpy.zeros(len(use.ids))
    for name, table in tables.items():
        (above if name == MPI else stored)[:] += use.slowest(table, table.rows, ranks)
    seconds = numpy.where(partly, numpy.where(use.by_mpi, above, stored), 0.0)
    longest = int(numpy.bincount(of_rank, seconds[of_file], minlength=ranks).argmax())
    found = ~partly
    found[of_file[of_rank == longest]] = True
    return found


def own_sums(storage: list[Table], use: FileUse, ranks: int) -> list[list[float]]:
    """For each rank with files that only it used: the rank, and the sums in the order of `_OWN`. A
    file that several ranks used, or that was opened by MPI-IO, counts for no rank."""
    numpy: Any = importlib.import_module("numpy")
    own = use.ids[(use.rank >= 0) & ~use.by_mpi]
    seconds = {name: numpy.zeros(ranks) for name in _OWN}
    for table in storage:
        rows = table.rows[among(table.rows["id"], own)]
        rank = rows["rank"]
        values = {
            "seconds": table.seconds(rows),
            "write_seconds": table.column("F_WRITE_TIME", rows).clip(0),
            "read_seconds": table.column("F_READ_TIME", rows).clip(0),
            "meta_seconds": table.column("F_META_TIME", rows).clip(0),
            "bytes": table.bytes(rows),
            "opens": table.column("OPENS", rows).clip(0),
            "files": numpy.ones(len(rows)),
            "written": table.column("BYTES_WRITTEN", rows).clip(0),
        }
        for name, column in values.items():
            numpy.add.at(seconds[name], rank, column)
    busy = numpy.nonzero(seconds["files"])[0].tolist()
    return [[rank, *(float(seconds[name][rank]) for name in _OWN)] for rank in busy]
