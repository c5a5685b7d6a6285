"""The child process of darshan_log: prints a Darshan log as one line of JSON.

A log may have records of a hundred thousand files. They are read through Darshan's C library into
arrays, a row for each record (darshan_tables), and summed up per file and layer (darshan_layers).
Only the `files_max` files with most bytes are listed one by one; all others are added up per rank.
The exit status is 3 if PyDarshan is missing."""

from __future__ import annotations

import datetime
import functools
import gc
import importlib
import json
import sys
import types
from typing import Any

from forebay.common.model.newer_python import zip_of
from forebay_tuning.report.files.darshan_layers import Layers, file_without_layers, plain
from forebay_tuning.report.files.darshan_ranks import own_sums, use_of
from forebay_tuning.report.files.darshan_rest import rest_of
from forebay_tuning.report.files.darshan_tables import Names, Table, among

MISSING = 3
_STORAGE = ("POSIX", "STDIO", "DFS")
_MODULES = (*_STORAGE, "MPI-IO")
_LIBRARIES = {"H5D": "HDF5", "PNETCDF_VAR": "PnetCDF"}
_PIPE_SECONDS = 1.0
_PIPE_BYTES = 1 << 20
_STREAMS = {
    14734109647742566553: "<STDIN>",
    15920181672442173319: "<STDOUT>",
    7238257241479193519: "<STDERR>",
}
"""The ids that Darshan gives to C's streams: a hash of these names, which they keep where names
were made anonymous."""
_STREAM_SHARE = 0.05
_CHUNKED = "H5D"
_OVER_TIME = ("HEATMAP", "DXT_POSIX", "DXT_MPIIO")
"""Modules that say when bytes were moved, and nothing that a cause is found in."""
_UNTIMED_BYTES = 1 << 20
"""Bytes that take no time by the log: with fewer, a clock may just be coarse."""


def main(path: str, files_max: int) -> int:
    """Reads the log at `path`, prints it, and returns the exit status."""
    gc.disable()  # this short process makes many objects and hardly any garbage
    load_late("pandas")
    try:
        importlib.import_module("darshan")
    except ImportError:
        return MISSING
    print(json.dumps(document_of(path, files_max)))
    return 0


def document_of(path: str, files_max: int) -> dict[str, Any]:
    """The log at `path` as the JSON document that `main` prints. Raises ValueError if the log is
    damaged, and whatever PyDarshan raises."""
    darshan: Any = importlib.import_module("darshan")
    report = darshan.DarshanReport(path, read_all=False)
    try:
        return _described(report, files_max)
    finally:
        _all_names.cache_clear()  # or the log stays open


def _described(report: Any, files_max: int) -> dict[str, Any]:
    job = report.metadata["job"]
    ranks = max(1, int(job["nprocs"]))
    tables = {name: Table(report, name) for name in _MODULES if name in report.modules}
    storage = [tables[name] for name in _STORAGE if name in tables]
    seconds = _seconds(job, tables)
    if "STDIO" in tables:
        drop_streams(report, tables["STDIO"], _STREAM_SHARE * seconds)
    pipes = [name for table in tables.values() for name in drop_pipes(report, table)]
    use = use_of(tables, ranks)
    listed = _most_bytes(storage or list(tables.values()), files_max)
    files = _files(tables, _names_of(report, listed), ranks)
    for key, is_waited in zip_of(use.ids.tolist(), use.waited.tolist(), strict=True):
        if key in files:
            files[key]["waited"] = is_waited
    layouts, chunked = _layouts(report, files), _through_hdf5(report)
    mounts = _mounts(report)
    for key, one in files.items():
        one.update(layouts.get(key, {}))
        one["library"] = chunked.get(key)
        one["file_system"] = "lustre" if key in layouts else _mounted_at(one["path"], mounts)
    gaps = _gaps(report, tables)
    return {
        "command": str(report.metadata.get("exe", "")),
        "ranks": ranks,
        "nodes": None,
        "seconds": seconds,
        "started": _time(job),
        "files": [*files.values(), *rest_of(tables, use, listed, ranks)],
        "own": own_sums(storage, use, ranks),
        "libraries": _libraries(report, ranks),
        "gaps": [*gaps, *_left_out(pipes)],
        "is_whole": not gaps,
        "targets_known": bool(layouts),
    }


def load_late(name: str) -> None:
    """Puts a lazy module into `sys.modules` that imports package `name` at the first attribute.

    PyDarshan imports pandas for tables that are not used here, and pandas is slow to import."""

    def load(attribute: str) -> Any:
        if sys.modules.get(name) is late:
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)

    late: Any = types.ModuleType(name)
    late.__getattr__ = load
    sys.modules[name] = late


def _seconds(job: Any, tables: dict[str, Table]) -> float:
    """Seconds that the run took; if the log does not say, until the end of its last call."""
    run_time = plain(job.get("run_time", 0.0))
    ends = [
        plain(table.column(f"F_{kind}_END_TIMESTAMP").max())
        for table in tables.values()
        for kind in ("OPEN", "READ", "WRITE", "CLOSE")
    ]
    return run_time or max(ends, default=0.0)


def _time(job: Any) -> str:
    seconds = job.get("start_time_sec", job.get("start_time", 0))
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).isoformat()


def drop_streams(report: Any, table: Table, seconds: float) -> None:
    """Drops the records of streams that are no files (<STDIN>, <STDOUT>, <STDERR>) from `table`,
    but not those of output in which a rank spent `seconds` or more: it prints too much. (The time
    in <STDIN> is spent waiting for its other end.) Files keep theirs where the log has no names, or
    numbers in place of them."""
    numpy: Any = importlib.import_module("numpy")
    names = _names_of(report, set(table.rows["id"].tolist()))
    no_files = {key: name for key, name in names.items() if name.startswith("<")}
    slow = numpy.maximum(table.seconds(), table.column("F_SLOWEST_RANK_TIME"))
    slow = numpy.where(table.rows["rank"] < 0, table.column("F_SLOWEST_RANK_TIME"), slow)
    loud = set(table.rows["id"][(slow >= seconds) & (slow > 0)].tolist())
    dropped = [k for k, name in no_files.items() if name == "<STDIN>" or k not in loud]
    table.rows = table.rows[~among(table.rows["id"], numpy.array(sorted(dropped), dtype="u8"))]


def drop_pipes(report: Any, table: Table) -> list[str]:
    """Drops the records of named pipes (FIFOs) from `table`, and returns their names.

    The time in a FIFO is spent waiting for the process at its other end. A log does not say which
    files are FIFOs. A file is assumed to be one if its name has "pipe" or "fifo", there were no
    seeks in it, and it moved less than 1 MiB but took a second or more."""
    slow = (table.seconds() >= _PIPE_SECONDS) & (table.column("SEEKS") == 0)
    slow &= table.bytes() < _PIPE_BYTES
    if not slow.any():
        return []
    names = _names_of(report, set(table.rows["id"][slow].tolist()))
    pipes = {
        key: name
        for key, name in names.items()
        if any(word in name.rpartition("/")[2].lower() for word in ("pipe", "fifo"))
    }
    numpy: Any = importlib.import_module("numpy")
    pipe_ids = numpy.array(sorted(pipes), dtype="u8")
    table.rows = table.rows[~among(table.rows["id"], pipe_ids)]
    return sorted(pipes.values())


def _left_out(pipes: list[str]) -> list[str]:
    if not pipes:
        return []
    name = pipes[0].rpartition("/")[2]
    many = f"{name} and {len(pipes) - 1} more" if len(pipes) > 1 else name
    return [f"{many}: a pipe by its name, whose seconds are waiting for its other end; left out"]


def _mapped(tables: dict[str, Table]) -> list[str]:
    if "POSIX" not in tables:
        return []
    posix = tables["POSIX"]
    mapped = len(set(posix.rows["id"][posix.column("MMAPS") > 0].tolist()))
    many = "1 file was" if mapped == 1 else f"{mapped} files were"
    told = f"{many} mapped into memory (mmap): what was read and written there"
    return [told] if mapped else []


def _timeless(tables: dict[str, Table]) -> list[str]:
    """A log of many bytes and no seconds lacks the latter."""
    moved = sum(float(one.bytes().sum()) for one in tables.values())
    if moved < _UNTIMED_BYTES or any(float(one.seconds().sum()) > 0 for one in tables.values()):
        return []
    return ["the log counts calls and bytes, but has no times of them"]


def _broken(tables: dict[str, Table]) -> list[str]:
    records = sum(one.broken for one in tables.values())
    many = "1 record has" if records == 1 else f"{records} records have"
    return [f"{many} impossible counts of bytes, which are left out"] if records else []


def _gaps(report: Any, tables: dict[str, Table]) -> list[str]:
    gaps = []
    counted = {"MPI-IO", *_LIBRARIES} & set(report.modules)
    over_time = [one for one in _OVER_TIME if one in report.modules]
    if not tables and not counted and over_time:
        gaps.append(
            f"the log has {' and '.join(over_time)}, but no counters of calls, from which causes "
            "are found: take a log with Darshan's POSIX module"
        )
    elif "POSIX" not in tables and (counted or (report.modules and not tables)):
        gaps.append("the log has no POSIX module: only what other modules saw is known")
    gaps += [*_mapped(tables), *_timeless(tables), *_broken(tables)]
    partial = [
        name
        for name, one in report.modules.items()
        if one.get("partial_flag") and name in (*_MODULES, *_LIBRARIES)
    ]
    if partial:
        gaps.append(
            f"the records of {', '.join(partial)} are partial (Darshan's memory for them was full, "
            "the log says): files and ranks are missing"
        )
    if "DAOS" in report.modules and "DFS" not in tables:
        gaps.append("what the module DAOS counted is of objects, not of files: it is not told")
    return gaps


def _mounts(report: Any) -> list[tuple[str, str]]:
    """Mount points and file system types, the longest mount point first."""
    found = getattr(report, "mounts", None) or []
    return sorted(((str(a), str(b)) for a, b in found), key=lambda one: -len(one[0]))


def _mounted_at(path: str, mounts: list[tuple[str, str]]) -> str:
    for directory, kind in mounts:
        if path == directory or path.startswith(directory.rstrip("/") + "/"):
            return kind
    return ""


def _most_bytes(tables: list[Table], files_max: int) -> set[int]:
    """The ids of the `files_max` files with most bytes, which are listed one by one."""
    numpy: Any = importlib.import_module("numpy")
    if not tables:
        return set()
    keys = numpy.concatenate([table.rows["id"] for table in tables])
    moved = numpy.concatenate([table.bytes() for table in tables])
    files, which = numpy.unique(keys, return_inverse=True)
    sums = numpy.bincount(which, weights=moved)
    return set(files[numpy.argsort(-sums, kind="stable")[:files_max]].tolist())


def _names_of(report: Any, keys: set[int]) -> dict[int, str]:
    found = {**_all_names(report).of(sorted(keys)), **_STREAMS}
    return {key: found.get(key, str(key)) for key in keys}


@functools.cache
def _all_names(report: Any) -> Names:
    """The names of the log's files, which are read once."""
    return Names(report)


def _files(tables: dict[str, Table], names: dict[int, str], ranks: int) -> dict[int, Any]:
    """For each file in `names`, its description with the sums of every layer that has it."""
    numpy: Any = importlib.import_module("numpy")
    files: dict[int, Any] = {}
    listed_ids = numpy.array(sorted(names), dtype="u8")
    for table in tables.values():
        chosen = table.rows[among(table.rows["id"], listed_ids)]
        for key, layer in Layers(table, chosen, ranks).found().items():
            files.setdefault(key, file_without_layers(names[key]))["layers"].append(layer)
    return files


def _through_hdf5(report: Any) -> dict[int, dict[str, Any]]:
    """For each file with HDF5 datasets, the bytes that the program moved through the library."""
    if _CHUNKED not in report.modules:
        return {}
    numpy: Any = importlib.import_module("numpy")
    table = Table(report, _CHUNKED)
    files, which = numpy.unique(table.rows["file"], return_inverse=True)
    read, written = (
        numpy.bincount(which, weights=table.column(f"BYTES_{noun}").clip(0)).tolist()
        for noun in ("READ", "WRITTEN")
    )
    return {
        key: {"name": _LIBRARIES[_CHUNKED], "read": int(a), "written": int(b)}
        for key, a, b in zip_of(files.tolist(), read, written, strict=True)
    }


def _libraries(report: Any, ranks: int) -> list[dict[str, Any]]:
    """The sums of HDF5 datasets and PnetCDF variables, over all files."""
    names = [(module, name) for module, name in _LIBRARIES.items() if module in report.modules]
    return [_library(report, Table(report, module), name, ranks) for module, name in names]


def _library(report: Any, table: Table, name: str, ranks: int) -> dict[str, Any]:
    numpy: Any = importlib.import_module("numpy")
    shared = table.rows["rank"] < 0
    grouped = table.rows.copy()
    grouped["id"] = numpy.where(shared, 0, table.rows["rank"] + 1).astype("u8")
    layers = list(Layers(table, grouped, ranks).found().values())
    slowest = table.column("F_SLOWEST_RANK_TIME").clip(0)
    worst = int(numpy.where(shared, slowest, table.seconds()).argmax())
    key = int(table.rows["id"][worst])
    alone = {
        one["rank"]: one["seconds_meta"]
        + sum(one[way].get("seconds", 0.0) for way in ("write", "read"))
        for one in layers  # there is one for each rank
        if one["rank"] is not None
    }
    most = max(alone.values(), default=0.0)
    of_all = float(slowest[shared].sum())
    if most > of_all:
        rank = max(alone, key=lambda one: alone[one])
    else:
        rank = int((table.column("SLOWEST_RANK") if shared[worst] else table.rows["rank"])[worst])
    return {
        "name": name,
        "module": table.module,
        "variables": len(set(table.rows["id"].tolist())),
        "costliest": _names_of(report, {key})[key],
        "slowest_rank": rank,
        "seconds": plain(of_all + most),
        "calls": sum(one[way].get("calls", 0) for one in layers for way in ("write", "read")),
        "bytes": sum(one[way].get("bytes", 0) for one in layers for way in ("write", "read")),
        "collective_sets": sum(one["collective_sets"] for one in layers),
    }


def _layouts(report: Any, files: dict[int, Any]) -> dict[int, dict[str, Any]]:
    """The Lustre layout of each file in `files`. For a composite layout, it is that of the last
    component that has OSTs."""
    if "LUSTRE" not in report.modules:
        return {}
    backend: Any = importlib.import_module("darshan.backend.cffi_backend")
    names = backend.counter_names("LUSTRE_COMP")
    number = report.modules["LUSTRE"]["idx"]
    into = backend.ffi.new("struct darshan_lustre_record **")
    untyped = backend.ffi.cast("void **", into)
    handle, nothing = report.log["handle"], backend.ffi.NULL
    next_record, free = backend.libdutil.darshan_log_get_record, backend.libdutil.darshan_free
    found: dict[int, dict[str, Any]] = {}
    while next_record(handle, number, untyped) > 0:
        one = into[0]
        if one.base_rec.id in files:
            found.update(_layout(backend.ffi, one, names))
        free(one)
        into[0] = nothing
    return found


def _layout(ffi: Any, one: Any, names: list[str]) -> dict[int, dict[str, Any]]:
    found = {}
    begin = 0
    for component in range(one.num_comps):
        counters = dict(
            zip_of(names, ffi.unpack(one.comps[component].counters, len(names)), strict=True)
        )
        count = counters["LUSTRE_COMP_STRIPE_COUNT"]
        targets = ffi.unpack(one.ost_ids + begin, count) if count > 0 else []
        begin += max(0, count)
        targets = [target for target in targets if target >= 0]
        if targets:
            found[one.base_rec.id] = {
                "stripe_count": max(1, count),
                "stripe_bytes": counters["LUSTRE_COMP_STRIPE_SIZE"],
                "targets": targets,
            }
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
