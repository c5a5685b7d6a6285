"""Adds up the files of a Darshan log that are not listed one by one: those with fewest bytes, in a
log of very many files.

Files of one rank are added up for each rank, files of several ranks all together; those that MPI-IO
opened apart from the others, and those that were used beside the rank that waited longest, too. So
the sums count for the run as the files would."""

from __future__ import annotations

import importlib
from typing import Any

from forebay.common.model.newer_python import zip_of
from forebay_tuning.report.files.darshan_layers import Layers, file_without_layers, plain
from forebay_tuning.report.files.darshan_ranks import FileUse
from forebay_tuning.report.files.darshan_tables import Table, among


def rest_of(
    tables: dict[str, Table], use: FileUse, listed: set[int], ranks: int
) -> list[dict[str, Any]]:
    """The descriptions of the sums of all files that are not `listed`, with the layers of all
    `tables`. `ranks` is the number of ranks of the job."""
    numpy: Any = importlib.import_module("numpy")
    left = ~among(use.ids, numpy.array(sorted(listed), dtype="u8"))
    if not left.any():
        return []
    groups = ((use.rank + 1) * 2 + use.by_mpi) * 2 + use.waited
    counts = dict(
        zip_of(
            *(one.tolist() for one in numpy.unique(groups[left], return_counts=True)), strict=True
        )
    )
    found = {key: _sum(key, count) for key, count in counts.items()}
    for table in tables.values():
        rows = table.rows[among(table.rows["id"], use.ids[left])]
        if not len(rows):
            continue
        places = use.places(rows["id"])
        slowest = numpy.bincount(groups, use.slowest(table, rows, ranks))
        extents = numpy.bincount(groups, _extents(table, rows, places, len(groups)))
        rows["id"] = groups[places]  # so that Layers adds up groups instead of files
        for key, layer in Layers(table, rows, ranks).found().items():
            layer["slowest_seconds"] = plain(slowest[key])
            layer["extent"] = int(extents[key])
            if _rank(key) is None:
                layer.update(_of_several(table, rows[rows["id"] == key], layer))
            found[key]["layers"].append(_with_mean_transfer(layer))
    return list(found.values())


def _rank(group: int) -> int | None:
    return group // 4 - 1 if group >= 4 else None


def _sum(group: int, count: int) -> dict[str, Any]:
    rank = _rank(group)
    whose = "several ranks" if rank is None else f"rank {rank}"
    return {
        **file_without_layers(f"({count} files of {whose} with fewer bytes)"),
        "files": count,
        "waited": bool(group & 1),
    }


def _extents(table: Table, rows: Any, places: Any, files: int) -> Any:
    """For each of all `files`, one past the last byte touched by the records `rows`."""
    numpy: Any = importlib.import_module("numpy")
    last = numpy.maximum(*(table.column(f"MAX_BYTE_{one}", rows) for one in ("READ", "WRITTEN")))
    found = numpy.zeros(files)
    numpy.maximum.at(found, places, numpy.where(last > 0, last + 1, 0))
    return found


def _of_several(table: Table, rows: Any, layer: dict[str, Any]) -> dict[str, Any]:
    """The fields that differ in the sum of many files of several ranks from one such file: how the
    ranks of each file differ is not known, and a rank that moves the bytes of several files is
    one."""
    numpy: Any = importlib.import_module("numpy")
    movers = layer["effective_movers"]
    if movers and not (rows["rank"] < 0).any():
        which = numpy.unique(rows["rank"], return_inverse=True)[1]
        moved = numpy.bincount(which, table.bytes(rows))
        movers = max(1, round(float(moved.sum() ** 2 / (moved**2).sum())))
    return {
        "slowest_rank": None,
        "slowest_bytes": 0,
        "fastest_rank": None,
        "fastest_seconds": 0.0,
        "least_bytes": 0,
        "spread_seconds": 0.0,
        "effective_movers": movers,
    }


def _with_mean_transfer(layer: dict[str, Any]) -> dict[str, Any]:
    """The layer with the mean size of a call, since the files differ in theirs."""
    for way in ("write", "read"):
        calls = layer[way].get("calls", 0)
        if calls:
            layer[way]["usual_transfer"] = layer[way]["bytes"] // calls
    return layer
