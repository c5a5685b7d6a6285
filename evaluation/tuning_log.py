"""The time that `forebay advise` takes with a large Darshan log, which Darshan's own library makes
from copies of the records of `sample-badost`, a log that comes with PyDarshan."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import random
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

RUNS, COPIES = 5, 14
MEGABYTE = 1_000_000
CHANGED = 0.1
"""Numbers of a copied record are increased by up to this share: equal records would compress to
nothing."""
COUNTERS, TIMES = 69, 17
"""The numbers of counters and times in a POSIX record."""
MODULES = {"POSIX": 4, "LUSTRE": 2, "STDIO": 2}
"""The versions of the modules' records."""
WRITING = """
void *darshan_log_create(const char *, int, int);
int darshan_log_put_job(void *, struct darshan_job *);
int darshan_log_put_exe(void *, char *);
int darshan_log_put_mounts(void *, struct darshan_mnt_info *, int);
int darshan_log_put_namehash(void *, struct darshan_name_record_ref *);
int darshan_log_put_mod(void *, int, void *, int, int);
"""


def log(chosen: argparse.Namespace) -> None:
    """Prints the seconds of `forebay advise` from start to end."""
    portrait = ["--portrait", str(chosen.portrait)] if chosen.portrait else []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.darshan"
        copies = files = 0
        while copies == 0 or path.stat().st_size < chosen.megabytes * MEGABYTE:
            copies += COPIES
            files = _long_log(path, copies)
        words = ["advise", *portrait, "--darshan", str(path), "--format", "json"]
        command = [sys.executable, "-m", "forebay", *words]
        took = []
        for _ in range(RUNS):
            begin = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            took.append(time.monotonic() - begin)
        size = path.stat().st_size / MEGABYTE
    print(
        f"forebay advise from a Darshan log of {size:.1f} MB, {files} files: "
        f"{median(took):.2f} s (median of {RUNS}), {max(took):.2f} s at most"
    )


def _long_log(path: Path, copies: int) -> int:
    """Makes a log with `copies` copies of each record; returns the number of its files."""
    backend: Any = importlib.import_module("darshan.backend.cffi_backend")
    ffi, library = backend.ffi, backend.libdutil
    ffi.cdef(WRITING, override=True)
    folder = Path(importlib.import_module("darshan").__file__ or "").parent
    source = next(folder.rglob("sample-badost.darshan"))
    path.unlink(missing_ok=True)
    old = library.darshan_log_open(str(source).encode())
    new = library.darshan_log_create(str(path).encode(), 0, 0)
    job, exe = ffi.new("struct darshan_job *"), ffi.new("char[]", 4096)
    mounts, count = ffi.new("struct darshan_mnt_info **"), ffi.new("int *")
    names = ffi.new("struct darshan_name_record_ref **")
    library.darshan_log_get_job(old, job)
    library.darshan_log_put_job(new, job)
    library.darshan_log_get_exe(old, exe)
    library.darshan_log_put_exe(new, exe)
    library.darshan_log_get_mounts(old, mounts, count)
    library.darshan_log_put_mounts(new, mounts[0], count[0])
    library.darshan_log_get_namehash(old, names)
    library.darshan_log_put_namehash(new, names[0])
    files = 0
    for module, version in MODULES.items():
        records = list(_records(ffi, library, old, module, backend._mod_names.index(module)))
        many = b"".join(_copied(one, module, copy) for one in records for copy in range(copies))
        files += len(records) * copies if module == "POSIX" else 0
        number = backend._mod_names.index(module)
        if library.darshan_log_put_mod(new, number, many, len(many), version) != 0:
            raise RuntimeError(f"cannot write the records of {module}. Is the disk full?")
    library.darshan_log_close(new)
    library.darshan_log_close(old)
    path.chmod(0o600)
    return files


def _records(ffi: Any, library: Any, log: Any, module: str, number: int) -> Iterator[bytes]:
    into = ffi.new("void **")
    while library.darshan_log_get_record(log, number, into) > 0:
        if module == "LUSTRE":
            one = ffi.cast("struct darshan_lustre_record *", into[0])
            parts = ((one, 32), (one.comps, one.num_comps * 72), (one.ost_ids, one.num_stripes * 8))
            yield b"".join(bytes(ffi.buffer(ffi.cast("char *", at), size)) for at, size in parts)
        else:
            structure = f"struct darshan_{module.lower()}_file"
            yield bytes(ffi.buffer(ffi.cast("char *", into[0]), ffi.sizeof(structure)))
        library.darshan_free(into[0])
        into[0] = ffi.NULL


def _copied(record: bytes, module: str, copy: int) -> bytes:
    """The record of another file for each copy but the first; POSIX counters are changed."""
    if copy == 0:
        return record
    key = hashlib.blake2b(record[:8] + copy.to_bytes(4, "little"), digest_size=8).digest()
    if module != "POSIX":
        return key + record[8:]
    counters = struct.unpack_from(f"{COUNTERS}q", record, 16)
    times = struct.unpack_from(f"{TIMES}d", record, 16 + 8 * COUNTERS)
    grown = (
        one + int(one * random.random() * CHANGED) if 1000 < one < 1 << 60 else one
        for one in counters
    )
    later = (one * (1 + random.random() * CHANGED) for one in times)
    return (
        key + record[8:16] + struct.pack(f"{COUNTERS}q", *grown) + struct.pack(f"{TIMES}d", *later)
    )
