"""Makes the labelled logs for the tests of `forebay report`: runs troubles.c and libraries.c under
Open MPI (with ROMIO) with recorder.c preloaded, reduces the ranks' records as Darshan does, and
writes logs.

    .venv/bin/python -m tools.darshan_logs.make FOLDER [NAME …]

It needs Open MPI 4 with its HDF5 and PnetCDF, a folder on a disk (in memory, fsync would cost
nothing) and a few minutes. Times differ between machines, so the labels of new logs have to be
reviewed."""

from __future__ import annotations

import importlib
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.darshan_logs.logfile import Item, Run, prefix_of, write_log
from tools.darshan_logs.programs import PROGRAMS, Program

HERE = Path(__file__).parent
MODULES = ("POSIX", "STDIO", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR")
"""In the order of recorder.h."""
COUNTERS_MOST, TIMES_MOST = 120, 20
LAST = (
    *("MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "MODE", "FILE_ALIGNMENT", "MEM_ALIGNMENT"),
    *("DATASPACE_NDIMS", "DATASPACE_NPOINTS", "DATATYPE_SIZE", "CHUNK_SIZE_D1", "CHUNK_SIZE_D2"),
    *("USE_MPIIO", "USE_MPIIO_COLLECTIVE", "NDIMS", "NPOINTS"),
)
"""Counters that are no sums: a shared record has the largest of them."""
FILES_ONLY = ("H5F", "PNETCDF_FILE")
"""Modules of files whose bytes are in another module; they do not compare ranks."""
LAUNCHING = (
    *("--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"),
    *("--mca", "io", "romio321", "--mca", "btl", "self,vader"),
)


def main(words: Sequence[str]) -> int:
    """Writes a log for each program, or for the named ones, into the folder words[0]."""
    into = Path(words[0])
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into.parent) as scratch:
        built = _build(Path(scratch))
        for program in PROGRAMS:
            if len(words) == 1 or program.name in words[1:]:
                run = _recorded(program, built)
                write_log(run, into / f"{program.name}.darshan")
                print(f"{program.name}: {run.ranks} ranks, {run.seconds:.3f} s", flush=True)
    return 0


def names_of(module: str) -> tuple[list[str], list[str]]:
    """The names of a module's counters and times in PyDarshan."""
    backend: Any = importlib.import_module("darshan.backend.cffi_backend")
    return backend.counter_names(module), backend.fcounter_names(module)


def _build(folder: Path) -> Path:
    lines = ["/* Made from PyDarshan's names. */"]
    for module in MODULES:
        for which in names_of(module):
            lines.append(f"enum {{ {', '.join(which)} }};")
    lines += [f"enum {{ COUNTERS_MOST = {COUNTERS_MOST}, TIMES_MOST = {TIMES_MOST} }};", ""]
    (folder / "counters.h").write_text("\n".join(lines))
    asked = ["pkg-config", "--cflags", "--libs", "hdf5-openmpi", "pnetcdf"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True)
    libraries = found.stdout.split()
    recorder = ["recorder.c", "-shared", "-fPIC", "-ldl"]
    _compile(folder, "recorder.so", *recorder)
    _compile(folder, "troubles", "troubles.c")
    _compile(folder, "library_recorder.so", "library_recorder.c", *recorder, *libraries)
    _compile(folder, "libraries", "libraries.c", *libraries)
    return folder


def _compile(folder: Path, name: str, *words: str) -> None:
    files = [str(HERE / one) if one.endswith(".c") else one for one in words]
    made = ["mpicc.openmpi", "-O2", "-w", "-I", str(folder), "-I", str(HERE), *files]
    subprocess.run([*made, "-o", str(folder / name)], check=True)


def _recorded(program: Program, built: Path) -> Run:
    run = built / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir()
    for one in built.glob("raw.*"):
        one.unlink()
    ours = {"RECORD_UNDER": str(run), "RECORD_OUT": str(built / "raw")}
    settings = [f"{key}={value}" for key, value in ours.items()]
    words = [*map(str, program.words)]
    what = [words[0], str(run), *words[1:]]
    recorder = "library_recorder.so" if program.source == "libraries" else "recorder.so"
    preload = f"LD_PRELOAD={built / recorder}"
    started = ["env", *settings, preload, str(built / program.source), *what]
    launcher = ["nice", "mpiexec.openmpi", *LAUNCHING, "-n", str(program.ranks)]
    subprocess.run([*launcher, *started], check=True, timeout=300)
    items, begin, end = [], math.inf, 0.0
    for rank in range(program.ranks):
        for line in (built / f"raw.{rank}").read_text().splitlines():
            parts = line.split()
            if parts[0] == "end":
                begin, end = min(begin, float(parts[2])), max(end, float(parts[3]))
            else:
                items.append(_item(parts, rank, str(run)))
    shutil.rmtree(run, ignore_errors=True)
    if program.partial:
        items = [one for one in items if one.module != "POSIX" or 2 * one.rank < program.ranks]
    return Run(
        command=f"/apps/{program.source} {' '.join(words)}",
        ranks=program.ranks,
        seconds=end - begin,
        items=reduced(items, program.ranks) if program.reduced else items,
        partial=("POSIX",) if program.partial else (),
    )


def _item(parts: Sequence[str], rank: int, run: str) -> Item:
    module = MODULES[int(parts[0])]
    counters, times = names_of(module)
    prefix = prefix_of(module)
    values = [int(one) for one in parts[2 : 2 + COUNTERS_MOST]]
    seconds = [float(one) for one in parts[2 + COUNTERS_MOST :]]
    return Item(
        module=module,
        path=parts[1].replace(run, "/scratch/run"),
        rank=rank,
        counters=_named(counters, values, prefix),
        times=_named(times, seconds, prefix),
    )


def _named(names: Sequence[str], values: Sequence[Any], prefix: str) -> dict[str, Any]:
    pairs = zip(names, values, strict=False)
    return {name.removeprefix(prefix): value for name, value in pairs if value}


def reduced(items: Sequence[Item], ranks: int) -> list[Item]:
    """The records after Darshan's shared reduction: a file that all ranks have becomes one record
    of rank -1."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for one in items:
        groups.setdefault((one.module, one.path), []).append(one)
    found = []
    for same in groups.values():
        found += [_sum(same)] if len(same) == ranks > 1 else same
    return found


def _sum(same: Sequence[Item]) -> Item:
    counters: dict[str, int] = {}
    times: dict[str, float] = {}
    for one in same:
        for name, value in one.counters.items():
            last = name in LAST or "_ACCESS" in name or "_STRIDE" in name
            counters[name] = (
                max(counters.get(name, 0), value) if last else (counters.get(name, 0) + value)
            )
        for name, seconds in one.times.items():
            before = times.get(name)
            if name.endswith("_START_TIMESTAMP"):
                times[name] = seconds if before is None else min(before, seconds)
            elif name.endswith("_END_TIMESTAMP") or name.startswith("F_MAX_"):
                times[name] = max(before or 0.0, seconds)
            else:
                times[name] = (before or 0.0) + seconds
    first = same[0]
    if first.module not in FILES_ONLY:
        _add_ranks(same, counters, times)
    return Item(module=first.module, path=first.path, rank=-1, counters=counters, times=times)


def _add_ranks(same: Sequence[Item], counters: dict[str, int], times: dict[str, float]) -> None:
    """Adds which ranks were the slowest and the fastest, and how far the ranks differed."""
    spent = [
        sum(one.times.get(f"F_{kind}_TIME", 0.0) for kind in ("READ", "WRITE", "META"))
        for one in same
    ]
    moved = [
        one.counters.get("BYTES_READ", 0) + one.counters.get("BYTES_WRITTEN", 0) for one in same
    ]
    slow, fast = spent.index(max(spent)), spent.index(min(spent))
    counters |= {"SLOWEST_RANK": slow, "SLOWEST_RANK_BYTES": moved[slow]}
    counters |= {"FASTEST_RANK": fast, "FASTEST_RANK_BYTES": moved[fast]}
    times |= {"F_SLOWEST_RANK_TIME": spent[slow], "F_FASTEST_RANK_TIME": spent[fast]}
    times |= {"F_VARIANCE_RANK_TIME": _variance(spent), "F_VARIANCE_RANK_BYTES": _variance(moved)}


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((one - mean) ** 2 for one in values) / len(values)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
