"""What darshan_log starts: prints a log as one line of JSON. Status 3: PyDarshan is missing.

Logs may have records of a hundred thousand files. They are read by the library below PyDarshan,
each into a row of an array: PyDarshan's own ways make an object of each, which takes as long as
everything else together. Files beyond so many with most bytes are put together by rank."""

import datetime
import gc
import importlib
import json
import math
import sys
import types
from typing import Any

MISSING = 3
_ROWS = 4096
_MODULES = ("POSIX", "STDIO", "MPI-IO")
_SMALL = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M")


def main(path: str, files_max: int) -> int:
    """Reads and prints."""
    gc.disable()  # it makes many objects and no garbage
    load_late("pandas")
    try:
        darshan: Any = importlib.import_module("darshan")
    except ImportError:
        return MISSING
    report = darshan.DarshanReport(path, read_all=False)
    job = report.metadata["job"]
    ranks = int(job["nprocs"])
    tables = {name: _Table(report, name) for name in _MODULES if name in report.modules}
    kept = _most_bytes([table for name, table in tables.items() if name != "MPI-IO"], files_max)
    names = _names_of(report, kept)
    files: dict[int, dict[str, Any]] = {}
    gaps = []
    if "POSIX" not in tables:
        gaps.append("the log has no POSIX module: only what STDIO and MPI-IO saw is known")
    for table in tables.values():
        _take(table, files, names, ranks)
    layouts = _layouts(report, files)
    for key, one in files.items():
        one.update(layouts.get(key, {}))
    rest = [
        one
        for name, table in tables.items()
        if name != "MPI-IO"
        for one in _rest(report, table, names, ranks)
    ]
    document = {
        "command": str(report.metadata.get("exe", "")),
        "ranks": ranks,
        "nodes": None,
        "seconds": float(job.get("run_time", 0.0)),
        "started": _time(job),
        "files": [*files.values(), *rest],
        "gaps": gaps,
        "targets_known": bool(layouts),
    }
    print(json.dumps(document))
    return 0


def load_late(name: str) -> None:
    """PyDarshan imports it for tables that nobody asks for here: it is loaded when it is used."""

    def load(attribute: str) -> Any:
        if sys.modules.get(name) is late:
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)

    late: Any = types.ModuleType(name)
    late.__getattr__ = load
    sys.modules[name] = late


def _time(job: Any) -> str:
    seconds = job.get("start_time_sec", job.get("start_time", 0))
    return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).isoformat()


class _Table:
    """All records of a module: an array of structures, with the names of what is in them."""

    def __init__(self, report: Any, module: str) -> None:
        backend: Any = importlib.import_module("darshan.backend.cffi_backend")
        numpy: Any = importlib.import_module("numpy")
        structure = backend._structdefs[module].removesuffix(" **")
        self.module = module
        self.counters: list[str] = backend.counter_names(module)
        self.times: list[str] = backend.fcounter_names(module)
        prefix = self.counters[0].partition("_")[0]
        self.prefix = f"{prefix}_"
        kinds = [("id", "u8"), ("rank", "i8"), ("counters", "i8", (len(self.counters),))]
        kind = numpy.dtype([*kinds, ("times", "f8", (len(self.times),))])
        if kind.itemsize != backend.ffi.sizeof(structure):
            raise ValueError(f"records of {module} have another size than this PyDarshan says")
        parts = []
        into = backend.ffi.new("void **")
        number = report.modules[module]["idx"]
        more = True
        while more:
            rows = numpy.zeros(_ROWS, kind)
            first = backend.ffi.cast("char *", rows.ctypes.data)
            count = 0
            while count < _ROWS and more:
                into[0] = first + count * kind.itemsize
                more = (
                    backend.libdutil.darshan_log_get_record(report.log["handle"], number, into) > 0
                )
                count += more
            parts.append(rows[:count])
        self.rows = numpy.concatenate(parts)
        if not len(self.rows):
            raise ValueError(f"it ends before the records of {module}")

    def column(self, name: str) -> Any:
        """Of all records, whatever kind it is."""
        if name in self.counters:
            return self.rows["counters"][:, self.counters.index(name)]
        return self.rows["times"][:, self.times.index(name)]

    def bytes(self) -> Any:
        """Both ways."""
        return sum(
            self.column(f"{self.prefix}BYTES_{noun}").clip(0) for noun in ("READ", "WRITTEN")
        )

    def record(self, row: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Counters and times."""
        counters = dict(zip(self.counters, row["counters"].tolist(), strict=True))
        times = dict(zip(self.times, row["times"].tolist(), strict=True))
        return {**counters, "id": int(row["id"]), "rank": int(row["rank"])}, times


def _most_bytes(tables: list[_Table], files_max: int) -> set[int]:
    """The files that are told one by one."""
    numpy: Any = importlib.import_module("numpy")
    if not tables:
        return set()
    keys = numpy.concatenate([table.rows["id"] for table in tables])
    moved = numpy.concatenate([table.bytes() for table in tables])
    files, which = numpy.unique(keys, return_inverse=True)
    sums = numpy.bincount(which, weights=moved)
    return set(files[numpy.argsort(-sums, kind="stable")[:files_max]].tolist())


def _names_of(report: Any, keys: set[int]) -> dict[int, str]:
    backend: Any = importlib.import_module("darshan.backend.cffi_backend")
    found: dict[int, str] = (
        backend.log_lookup_name_records(report.log, sorted(keys)) if keys else {}
    )
    return {key: found.get(key, str(key)) for key in keys}


def _take(
    table: _Table, files: dict[int, dict[str, Any]], names: dict[int, str], ranks: int
) -> None:
    numpy: Any = importlib.import_module("numpy")
    chosen = numpy.isin(table.rows["id"], numpy.array(sorted(names), dtype="u8"))
    for row in table.rows[chosen]:
        counter, time = table.record(row)
        key = counter["id"]
        path = names[key]
        if _is_no_file(path, table.module):
            continue
        if table.module == "MPI-IO":
            if key in files:
                _add_mpi(files[key], counter)
            continue
        one = _file(path, table.module, counter, time, ranks)
        files[key] = one if key not in files else _merged(files[key], one)


def _is_no_file(path: str, module: str) -> bool:
    """<STDIN>, <STDOUT>, <STDERR>."""
    return path.startswith("<") or (module == "STDIO" and not path.startswith("/"))


def _rest(report: Any, table: _Table, names: dict[int, str], ranks: int) -> list[dict[str, Any]]:
    """All other files of a module, put together by rank; those of several ranks are one."""
    numpy: Any = importlib.import_module("numpy")
    told = set(names)
    if table.module == "STDIO":
        untold = set(table.rows["id"].tolist()) - told
        found_names = _names_of(report, untold)
        told |= {key for key in untold if _is_no_file(found_names[key], "STDIO")}
    others = numpy.isin(table.rows["id"], numpy.array(sorted(told), dtype="u8"), invert=True)
    (which,) = numpy.nonzero(others)
    if not len(which):
        return []
    which = which[numpy.argsort(table.rows["rank"][which], kind="stable")]
    left = table.rows[which]
    of_rank, begins, counts = numpy.unique(left["rank"], return_index=True, return_counts=True)
    sums = numpy.add.reduceat(left["counters"].clip(0), begins)
    times = left["times"].clip(0)
    seconds = numpy.add.reduceat(times, begins)
    last = numpy.maximum.reduceat(times, begins)
    first = numpy.minimum.reduceat(numpy.where(times > 0, times, numpy.inf), begins)
    for at, name in enumerate(table.times):
        if name.endswith("_TIMESTAMP"):
            seconds[:, at] = (last if "_END_" in name else first)[:, at]
    found = []
    for at, (rank, count) in enumerate(zip(of_rank.tolist(), counts.tolist(), strict=True)):
        counter = dict(zip(table.counters, sums[at].tolist(), strict=True))
        time = dict(zip(table.times, seconds[at].tolist(), strict=True))
        counter[f"{table.prefix}ACCESS1_COUNT"] = 0  # sizes of different files
        whose = "several ranks" if rank < 0 else f"rank {rank}"
        path = f"({count} files of {whose} with fewer bytes)"
        one = _file(path, table.module, {**counter, "rank": rank}, time, ranks)
        found.append({**one, "files": count})
    return found


def _file(path: str, module: str, counter: Any, time: Any, ranks: int) -> dict[str, Any]:
    prefix = f"{module}_"
    rank = int(counter["rank"])
    slowest = float(time.get(f"{prefix}F_SLOWEST_RANK_TIME", 0.0))
    total = sum(float(time[f"{prefix}F_{kind}_TIME"]) for kind in ("READ", "WRITE", "META"))
    ends = [int(counter.get(f"{prefix}MAX_BYTE_{kind}", -1)) + 1 for kind in ("READ", "WRITTEN")]
    return {
        "path": path,
        "ranks": ranks if rank < 0 else 1,
        "rank": None if rank < 0 else rank,
        "write": _passing(prefix, "WRITE", "WRITTEN", counter, time),
        "read": _passing(prefix, "READ", "READ", counter, time),
        "opens": max(0, int(counter[f"{prefix}OPENS"])),
        "seconds_meta": _plain(time[f"{prefix}F_META_TIME"]),
        "extent": max(0, *ends),
        "slowest_seconds": slowest if rank < 0 else total,
        "fastest_seconds": _plain(time.get(f"{prefix}F_FASTEST_RANK_TIME", 0.0)),
        "collective": False,
        "by_mpi": False,
        "stripe_count": None,
        "stripe_bytes": None,
        "targets": [],
    }


def _passing(prefix: str, kind: str, noun: str, counter: Any, time: Any) -> dict[str, Any]:
    small = sum(max(0, int(counter.get(f"{prefix}SIZE_{kind}_{one}", 0))) for one in _SMALL)
    calls = max(0, int(counter[f"{prefix}{kind}S"]))
    moved = max(0, int(counter[f"{prefix}BYTES_{noun}"]))
    return {
        "bytes": moved,
        "calls": calls,
        "small_calls": small,
        "seconds": _plain(time[f"{prefix}F_{kind}_TIME"]),
        "usual_transfer": _usual(prefix, counter, moved, calls),
        "begin": _plain(time[f"{prefix}F_{kind}_START_TIMESTAMP"]),
        "end": _plain(time[f"{prefix}F_{kind}_END_TIMESTAMP"]),
    }


def _usual(prefix: str, counter: Any, moved: int, calls: int) -> int:
    """The commonest size of a call, if it is of most of them."""
    size = int(counter.get(f"{prefix}ACCESS1_ACCESS", 0))
    count = int(counter.get(f"{prefix}ACCESS1_COUNT", 0))
    if size > 0 and count * 2 >= calls and size <= moved:
        return size
    return moved // calls if calls else 0


def _plain(value: Any) -> float:
    number = float(value)
    return number if math.isfinite(number) and number > 0 else 0.0


def _merged(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """Records of one file: of several ranks, or of POSIX and STDIO."""
    same = a["rank"] is not None and a["rank"] == b["rank"]
    merged = {
        **a,
        "ranks": max(a["ranks"], b["ranks"]) if same or a["rank"] is None else a["ranks"] + 1,
        "rank": a["rank"] if same else None,
        "opens": a["opens"] + b["opens"],
        "seconds_meta": a["seconds_meta"] + b["seconds_meta"],
        "extent": max(a["extent"], b["extent"]),
        "slowest_seconds": max(a["slowest_seconds"], b["slowest_seconds"]),
        "fastest_seconds": min(a["fastest_seconds"], b["fastest_seconds"]),
    }
    for way in ("write", "read"):
        one, other = a[way], b[way]
        busier = one if one["calls"] >= other["calls"] else other
        begins = [each["begin"] for each in (one, other) if each["calls"]]
        merged[way] = {
            "bytes": one["bytes"] + other["bytes"],
            "calls": one["calls"] + other["calls"],
            "small_calls": one["small_calls"] + other["small_calls"],
            "seconds": one["seconds"] + other["seconds"],
            "usual_transfer": busier["usual_transfer"],
            "begin": min(begins, default=0.0),
            "end": max(one["end"], other["end"]),
        }
    return merged


def _add_mpi(one: dict[str, Any], counter: Any) -> None:
    one["by_mpi"] = True
    together = sum(max(0, int(counter[f"MPIIO_COLL_{kind}"])) for kind in ("READS", "WRITES"))
    alone = sum(max(0, int(counter[f"MPIIO_INDEP_{kind}"])) for kind in ("READS", "WRITES"))
    one["collective"] = together > alone
    for way, kind, noun in (("write", "WRITE", "WRITTEN"), ("read", "READ", "READ")):
        _add_collective(one[way], counter, kind, int(counter[f"MPIIO_BYTES_{noun}"]))


def _add_collective(passing: dict[str, Any], counter: Any, kind: str, moved: int) -> None:
    """A log has only the bytes of all MPI-IO calls together: where most calls are collective, each
    is taken to have moved as many as any other; else nothing is known of one."""
    kinds = ("INDEP", "COLL", "SPLIT", "NB")
    calls = {one: max(0, int(counter[f"MPIIO_{one}_{kind}S"])) for one in kinds}
    if 2 * calls["COLL"] > sum(calls.values()):
        share = max(0, moved) * calls["COLL"] // sum(calls.values())
        passing["collective_calls"] = passing.get("collective_calls", 0) + calls["COLL"]
        passing["collective_bytes"] = passing.get("collective_bytes", 0) + share


def _layouts(report: Any, files: dict[int, Any]) -> dict[int, dict[str, Any]]:
    """How files lie: of a composite layout, the last component that has targets."""
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
            zip(names, ffi.unpack(one.comps[component].counters, len(names)), strict=True)
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
