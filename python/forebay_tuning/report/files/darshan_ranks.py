"""Sums up what single ranks did in the files of a Darshan log, as far as it has a record of each
rank: in files of their own, and in files that a part of the ranks shared at the same time."""

import importlib
from typing import Any

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


def own_sums(storage: list[Table], mpi: "Table | None", ranks: int) -> list[list[float]]:
    """For each rank with files that only it used: the rank, and the sums in the order of `_OWN`. A
    file that several ranks used, or that was opened by MPI-IO, counts for no rank."""
    numpy: Any = importlib.import_module("numpy")
    if not storage:
        return []
    keys = numpy.concatenate([table.rows["id"] for table in storage])
    whose = numpy.concatenate([table.rows["rank"] for table in storage])
    files, which = numpy.unique(keys, return_inverse=True)
    least, most = numpy.full(len(files), ranks), numpy.full(len(files), -1)
    numpy.minimum.at(least, which, whose)
    numpy.maximum.at(most, which, whose)
    own = (least == most) & (least >= 0) & (least < ranks)
    if mpi is not None:
        own &= ~among(files, numpy.sort(mpi.rows["id"]))
    seconds = {name: numpy.zeros(ranks) for name in _OWN}
    for table in storage:
        rows = table.rows[among(table.rows["id"], files[own])]
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


def mark_waited(files: dict[int, Any], tables: dict[str, Table], ranks: int) -> None:
    """Marks the files that the rank that waited longest did not use as not `waited`: other ranks
    used them at the same time. It waits in a file as long as the file's slowest rank, since those
    who share a file wait for one another.

    Only files with a record of each rank say who used them. Those of single ranks count here if
    they were opened by MPI-IO, since all others are in `own_sums`."""
    users = _users(files, tables, ranks)
    if not users:
        return
    waited = [0.0] * ranks
    for key, whose in users.items():
        seconds = _seconds(files[key]["layers"])
        for rank in whose:
            waited[rank] += seconds
    longest = max(range(ranks), key=lambda rank: waited[rank])
    for key, whose in users.items():
        files[key]["waited"] = longest in whose


def _users(files: dict[int, Any], tables: dict[str, Table], ranks: int) -> dict[int, set[int]]:
    """The ranks that used each file, of those files that MPI-IO or several ranks opened."""
    together = {
        key
        for key, one in files.items()
        if len(one["layers"]) > 0
        and any(
            layer["name"] == "MPI-IO" or (layer["rank"] is None and layer["ranks"] < ranks)
            for layer in one["layers"]
        )
    }
    if not together:
        return {}
    numpy: Any = importlib.import_module("numpy")
    wanted = numpy.array(sorted(together), dtype="u8")
    users: dict[int, set[int]] = {}
    for table in tables.values():
        rows = table.rows[among(table.rows["id"], wanted)]
        for key, rank in zip(rows["id"].tolist(), rows["rank"].tolist()):
            found = users.setdefault(key, set())
            found.update(range(ranks) if rank < 0 else (rank,) if rank < ranks else ())
    return {key: whose for key, whose in users.items() if len(whose) < ranks}


def _seconds(layers: list[dict[str, Any]]) -> float:
    above = [one for one in layers if one["name"] == "MPI-IO"]
    return float(sum(one["slowest_seconds"] for one in above or layers))
