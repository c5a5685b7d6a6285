"""What darshan_log starts: prints a log as one line of JSON. Status 3: PyDarshan is missing."""

import datetime
import importlib
import json
import math
import sys
from collections.abc import Iterator
from typing import Any

MISSING = 3
_MODULES = ("POSIX", "STDIO", "MPI-IO")
_SMALL = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M")


def main(path: str) -> int:
    """Reads and prints."""
    try:
        darshan: Any = importlib.import_module("darshan")
    except ImportError:
        return MISSING
    report = darshan.DarshanReport(path, read_all=False)
    job = report.metadata["job"]
    ranks = int(job["nprocs"])
    files: dict[int, dict[str, Any]] = {}
    gaps = []
    report.read_name_records()
    names = report.name_records
    if "POSIX" not in report.modules:
        gaps.append("the log has no POSIX module: only what STDIO and MPI-IO saw is known")
    for module in _MODULES:
        if module in report.modules:
            _take(report, module, files, names, ranks)
    layouts = _layouts(report)
    for key, one in files.items():
        one.update(layouts.get(key, {}))
    document = {
        "command": str(report.metadata.get("exe", "")),
        "ranks": ranks,
        "nodes": None,
        "seconds": float(job.get("run_time", 0.0)),
        "started": _time(job),
        "files": list(files.values()),
        "gaps": gaps,
        "targets_known": bool(layouts),
    }
    print(json.dumps(document))
    return 0


def _time(job: Any) -> str:
    seconds = job.get("start_time_sec", job.get("start_time", 0))
    return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).isoformat()


def _take(
    report: Any, module: str, files: dict[int, dict[str, Any]], names: Any, ranks: int
) -> None:
    for counter, time in _records(report, module):
        key = int(counter["id"])
        path = str(names.get(key, key))
        if path.startswith("<") or (module == "STDIO" and not path.startswith("/")):
            continue  # <STDIN>, <STDOUT>, <STDERR>
        if module == "MPI-IO":
            if key in files:
                _add_mpi(files[key], counter)
            continue
        one = _file(path, module, counter, time, ranks)
        files[key] = one if key not in files else _merged(files[key], one)


def _records(report: Any, module: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Counters and times of each. PyDarshan's own way to them, by way of tables, takes as long as
    everything else here together."""
    report.mod_read_all_records(module, dtype="numpy")
    if not len(report.records[module]):
        raise ValueError(f"it ends before the records of {module}")
    names = report.counters[module]
    for one in report.records[module]:
        counters = dict(zip(names["counters"], one["counters"].tolist(), strict=True))
        times = dict(zip(names["fcounters"], one["fcounters"].tolist(), strict=True))
        yield {**counters, "id": one["id"], "rank": one["rank"]}, times


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


def _layouts(report: Any) -> dict[int, dict[str, Any]]:
    """How files lie: of a composite layout, the last component that has targets."""
    if "LUSTRE" not in report.modules:
        return {}
    report.mod_read_all_lustre_records(dtype="numpy")
    names = report.counters["LUSTRE"]["counters"]
    found: dict[int, dict[str, Any]] = {}
    for one in report.records["LUSTRE"]:
        for component in one["components"]:
            counters = dict(zip(names, component["counters"].tolist(), strict=True))
            targets = [target for target in component["ost_ids"].tolist() if target >= 0]
            if targets:
                found[int(one["id"])] = {
                    "stripe_count": max(1, counters["LUSTRE_COMP_STRIPE_COUNT"]),
                    "stripe_bytes": counters["LUSTRE_COMP_STRIPE_SIZE"],
                    "targets": targets,
                }
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
