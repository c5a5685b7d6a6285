"""A fast place with very many replicas: how long a start takes, what a question costs, and how much
memory it takes."""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from evaluation.pool.places import Place, chosen_places
from evaluation.pool.runs import Programs
from evaluation.tables import TextTable, number
from evaluation.tier.tiers import Tier, tier
from forebay.common.model.frozen import frozen

REPLICAS = 1_000_000
FILES_A_FOLDER = 1000
LOOKUPS = 2000
CONTENT = b"x"
MAGIC, VERSION, KIND_REPLICA, STATE_CLEAN = 0x72746266, 1, 1, 2
"""As in src/tier/catalogue/tier_record.cpp."""
SUM_BYTES = 16


@frozen
class Identity:
    """The identity of a fast place: its number, and the key of its records."""

    owner: int
    key: bytes

    @staticmethod
    def of(place: Path) -> Identity:
        content = (place / "identity").read_bytes()
        return Identity(owner=int.from_bytes(content[:8], "little"), key=content[8:])


def record(identity: Identity, file_system: int, path: Path, found: os.stat_result) -> bytes:
    """The record of a clean replica of the file."""
    numbers = (
        *(identity.owner, 0, 0, 0, 0, 0, file_system, found.st_ino, found.st_size),
        *(found.st_mtime_ns, found.st_ctime_ns, 0, 0),
        # A minute later, so that the file does not count as changed just then.
        found.st_ctime_ns + 60_000_000_000,
    )
    name = os.fsencode(path)
    head = struct.pack("<IHBB", MAGIC, VERSION, KIND_REPLICA, STATE_CLEAN)
    body = head + struct.pack("<14qQ", *(_signed(one) for one in numbers), len(name)) + name
    return body + hashlib.blake2b(body, digest_size=SUM_BYTES, key=identity.key).digest()


def _signed(number_: int) -> int:
    return number_ - (1 << 64) if number_ >= 1 << 63 else number_


def catalogue(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Files and replicas are made by hand, as a tier would have left them. A row each of the time
    until the mount is there, and until it has looked at all replicas, of one question, and of
    memory."""
    count = chosen.replicas
    known, rows = chosen_places(programs.slow_fs, chosen), []
    for name in chosen.on:
        with known[name]() as place, tempfile.TemporaryDirectory(dir=chosen.fast) as fast:
            rows += [(name, *row) for row in _measured(place, Path(fast, "place"), count)]
            for row in rows[-5:]:
                print(" | ".join(row), file=sys.stderr)
    return TextTable(
        title=f"{count} replicas",
        header=("file system", "what", "found", "asked"),
        rows=tuple(rows),
    )


def _measured(place: Place, fast: Path, count: int) -> Iterator[tuple[str, str, str]]:
    with tempfile.TemporaryDirectory(dir=place.folder) as made:
        folder = Path(made).resolve()
        files = make(folder, fast, count)
        with tier(folder, fast, "write") as mounted:
            yield "start", f"{mounted.started_s:.2f} s", "≤ 5 s"
            yield "until all are found", f"{seconds_until_found(mounted, count):.2f} s", ""
            yield "lookup and its request", f"{1e6 * lookup_seconds(files):.1f} µs", "≤ 20 µs"
            begin = time.monotonic()
            mounted.status(files[0].parent)
            yield "status of a folder", f"{time.monotonic() - begin:.3f} s", "≤ 0.2 s"
            yield "memory", f"{number(mounted.resident_bytes() / 1e6)} MB", "≤ 200 MB"


def seconds_until_found(mounted: Tier, count: int) -> float:
    """From the start; programs use files meanwhile. Raises RuntimeError if others are found."""
    begin = time.monotonic()
    while mounted.status()["unfound"] > 0:
        time.sleep(0.01)
    if mounted.status()["replicas"] != count:
        raise RuntimeError(f"the tier knows {mounted.status()} of {count} replicas")
    return mounted.started_s + time.monotonic() - begin


def make(folder: Path, fast: Path, count: int) -> list[Path]:
    """So many files, and a fast place with a clean replica of each."""
    with tier(folder, fast, "write") as mounted:
        (mounted.folder / "first").write_bytes(CONTENT)
    (first,) = Path(fast, "replicas").iterdir()
    file_system = int(first.name.partition("-")[0], 16)
    first.unlink()
    (folder / "first").unlink()
    identity = Identity.of(fast)
    files = []
    for one in range(count):
        path = folder / str(one // FILES_A_FOLDER) / f"file.{one}"
        if one % FILES_A_FOLDER == 0:
            path.parent.mkdir()
        path.write_bytes(CONTENT)
        found = path.stat()
        replica = fast / "replicas" / f"{file_system:x}-{found.st_ino:x}"
        replica.write_bytes(CONTENT)
        replica.chmod(0o600)
        os.setxattr(replica, "user.forebay.replica", record(identity, file_system, path, found))
        files.append(path)
    return files


def lookup_seconds(files: list[Path]) -> float:
    """The median of a question about a replica through the mount: a bound of what a lookup takes,
    since a request of FUSE is in it."""
    chosen = random.Random(1).choices(files, k=LOOKUPS)
    for path in chosen:
        path.stat()  # the kernel knows the name
    return median(_seconds_of(path) for path in chosen)


def _seconds_of(path: Path) -> float:
    begin = time.perf_counter()
    os.getxattr(path, "user.forebay.state")
    return time.perf_counter() - begin
