"""Writes Darshan logs with Darshan's own library (PyDarshan brings it). Records are values, whose
counters are given by name."""

from __future__ import annotations

import functools
import hashlib
import importlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WRITING = """
struct forebay_name_link {
    struct darshan_name_record *record;
    void *table; void *previous; void *next; void *before; void *behind; void *key;
    unsigned length; unsigned hash;
};
void *darshan_log_create(const char *, int, int);
int darshan_log_put_job(void *, struct darshan_job *);
int darshan_log_put_exe(void *, char *);
int darshan_log_put_mounts(void *, struct darshan_mnt_info *, int);
int darshan_log_put_namehash(void *, void *);
int darshan_log_put_mod(void *, int, void *, int, int);
"""
VERSIONS = {"POSIX": 4, "MPI-IO": 3, "STDIO": 2, "LUSTRE": 2, "DFS": 1, "H5F": 3, "H5D": 2}
VERSIONS |= {"PNETCDF_FILE": 3, "PNETCDF_VAR": 1, "HEATMAP": 1}
STARTED = 1_767_225_600
"""2026-01-01, a constant, so that logs do not depend on when they were made."""
HEAT = "heatmap:POSIX"
"""The name of the module POSIX's heat map."""
_OF_DATASET = ("H5D", "PNETCDF_VAR")
_UUIDS = ("DFS", "DAOS")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A record: what one rank (or all, -1) did to a file in one module. Names of counters and times
    are without the module's prefix."""

    module: str
    path: str
    rank: int
    counters: Mapping[str, int] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run and its records. `striping` maps files on Lustre to their targets (OSTs). `partial`
    names the modules of which the log shall say that their records are not all there. `heat` is
    what rank 0 wrote in each second, in bytes, for the module HEATMAP. Unless it
    `is_named`, the log has no paths."""

    command: str
    ranks: int
    seconds: float
    items: Sequence[Item]
    file_system: str = "ext4"
    striping: Mapping[str, Sequence[int]] = field(default_factory=dict)
    stripe_bytes: int = 1 << 20
    partial: Sequence[str] = ()
    heat: Sequence[int] = ()
    is_named: bool = True


def prefix_of(module: str) -> str:
    """The prefix of the module's counters."""
    return "MPIIO_" if module == "MPI-IO" else f"{module}_"


def key_of(path: str) -> int:
    """The id of a file. Darshan uses a hash of the path, too, if another one."""
    return int.from_bytes(hashlib.blake2b(path.encode(), digest_size=8).digest(), "little")


def write_log(run: Run, path: Path) -> None:
    """Writes the log. Raises OSError if that fails."""
    backend: Any = importlib.import_module("darshan.backend.cffi_backend")
    ffi, library = backend.ffi, backend.libdutil
    _declare(ffi)
    path.unlink(missing_ok=True)
    partial = sum(1 << backend._mod_names.index(one) for one in run.partial)
    log = library.darshan_log_create(str(path).encode(), 0, partial)
    if log == ffi.NULL:
        raise OSError(f"cannot write {path}")
    job = ffi.new("struct darshan_job *")
    job.uid, job.nprocs, job.jobid = 1000, run.ranks, 1
    job.start_time_sec, job.end_time_sec = STARTED, STARTED + int(run.seconds)
    job.end_time_nsec = int(run.seconds % 1 * 1e9)
    job.metadata = b"lib_ver=3.4.4\n"
    library.darshan_log_put_job(log, job)
    library.darshan_log_put_exe(log, ffi.new("char[]", run.command.encode()))
    mounts = ffi.new("struct darshan_mnt_info[2]")
    mounts[0].mnt_type, mounts[0].mnt_path = run.file_system.encode(), b"/scratch"
    mounts[1].mnt_type, mounts[1].mnt_path = b"ext4", b"/"
    library.darshan_log_put_mounts(log, mounts, 2)
    paths = sorted({one.path for one in run.items} | ({HEAT} if run.heat else set()))
    kept = _put_names(ffi, library, log, paths if run.is_named else [])
    modules = {one.module for one in run.items} | ({"LUSTRE"} if run.striping else set())
    modules |= {"HEATMAP"} if run.heat else set()
    for module in sorted(modules, key=backend._mod_names.index):  # the library takes no other order
        if module == "LUSTRE":
            rows = [_lustre(run, name, run.striping[name]) for name in sorted(run.striping)]
        elif module == "HEATMAP":
            rows = [_heatmap(run.heat)]
        else:
            rows = [_packed(backend, one) for one in run.items if one.module == module]
        _put(backend, library, log, module, b"".join(rows))
    library.darshan_log_close(log)
    path.chmod(0o644)
    del kept


@functools.cache
def _declare(ffi: Any) -> None:
    """Declares the functions, only once per process: cffi refuses a second declaration."""
    ffi.cdef(WRITING, override=True)


def _put(backend: Any, library: Any, log: Any, module: str, rows: bytes) -> None:
    number = backend._mod_names.index(module)
    if library.darshan_log_put_mod(log, number, rows, len(rows), VERSIONS[module]) != 0:
        raise OSError(f"cannot write the records of {module}")


def _put_names(ffi: Any, library: Any, log: Any, names: Sequence[str]) -> list[Any]:
    """Writes the names as a linked list in place of the library's hash table (uthash), of which it
    follows only `next`. Returns the objects that have to stay alive."""
    kept: list[Any] = []
    behind = ffi.NULL
    for name in reversed(names):
        record = ffi.new("char[]", struct.pack("<Q", key_of(name)) + name.encode())
        link = ffi.new("struct forebay_name_link *")
        link.record, link.next = ffi.cast("struct darshan_name_record *", record), behind
        behind = ffi.cast("void *", link)
        kept += [record, link]
    library.darshan_log_put_namehash(log, behind)
    return kept


def _packed(backend: Any, item: Item) -> bytes:
    prefix = prefix_of(item.module)
    names, times = backend.counter_names(item.module), backend.fcounter_names(item.module)
    unknown = {f"{prefix}{one}" for one in (*item.counters, *item.times)} - {*names, *times}
    if unknown:
        raise KeyError(f"{item.module} has no {sorted(unknown)}")
    counters = [int(item.counters.get(one.removeprefix(prefix), 0)) for one in names]
    seconds = [float(item.times.get(one.removeprefix(prefix), 0.0)) for one in times]
    head = struct.pack("<Qq", key_of(item.path), item.rank)
    if item.module in _OF_DATASET:
        head += struct.pack("<Q", key_of(item.path.partition(":")[0]))
    tail = bytes(32) if item.module in _UUIDS else b""
    return head + struct.pack(f"<{len(counters)}q{len(seconds)}d", *counters, *seconds) + tail


def _lustre(run: Run, name: str, targets: Sequence[int]) -> bytes:
    """A LUSTRE record with one component, whose fields are stripe size, stripe count, pattern,
    flags, extent and mirror."""
    head = struct.pack("<QqqqQQ", key_of(name), -1, 1, len(targets), 0, 0)
    component = struct.pack("<7q", run.stripe_bytes, len(targets), 0, 0, 0, -1, 0) + bytes(16)
    return head[:32] + component + struct.pack(f"<{len(targets)}q", *targets)


def _heatmap(written: Sequence[int]) -> bytes:
    """A HEATMAP record of rank 0: the width of a bin in seconds, the number of bins, two pointers
    that only have a meaning in memory, and the bytes written and read in each bin."""
    head = struct.pack("<QqdqQQ", key_of(HEAT), 0, 1.0, len(written), 0, 0)
    return head + struct.pack(f"<{2 * len(written)}q", *written, *([0] * len(written)))
