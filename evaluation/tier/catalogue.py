"""A fast place with very many replicas: how long a start takes, what a question costs, and how much
memory it takes, of a tier that is mounted, whose list is in memory, and of `forebay-tier`, whose
list is in SQLite."""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from evaluation.mount.served import PROGRAM
from evaluation.pool.places import Place, chosen_places
from evaluation.pool.runs import OWN_BUILD, Programs
from evaluation.program_run import run_program
from evaluation.tables import TextTable, number
from evaluation.tier.tiers import Tier, tier
from forebay.common.model.frozen import frozen

REPLICAS = (100_000, 1_000_000)
FILES_A_FOLDER = 1000
FOREBAY = (sys.executable, "-m", "forebay")
LOOKUPS = 2000
TOOL_LOOKUPS = 500
TOOL = PROGRAM.with_name("forebay-tier")
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


_Row = tuple[str, str, str]
"""A quantity, the value that was found, and the one that was promised, if any was."""


def catalogue(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Files and replicas are made by hand, as a tier would have left them."""
    known, rows = chosen_places(programs.slow_fs, chosen), []
    for name in chosen.on:
        for count in chosen.replicas:
            with known[name]() as place, tempfile.TemporaryDirectory(dir=chosen.fast) as fast:
                for row in _measured(place, Path(fast, "place"), count):
                    rows.append((name, str(count), *row))
                    print(" | ".join(rows[-1]), file=sys.stderr)
    return TextTable(
        title="Replicas of files of one byte, a thousand in a folder",
        header=("file system", "replicas", "what", "found", "asked"),
        rows=tuple(rows),
    )


def _measured(place: Place, fast: Path, count: int) -> Iterator[_Row]:
    with tempfile.TemporaryDirectory(dir=place.folder) as made:
        folder = Path(made).resolve()
        files = make(folder, fast, count)
        yield from _of_a_mount(folder, fast, files)
        yield from _of_the_tool(folder, fast, files)


def _of_a_mount(folder: Path, fast: Path, files: list[Path]) -> Iterator[_Row]:
    with tier(folder, fast, "write") as mounted:
        yield "start of a tier", f"{mounted.started_s:.2f} s", "≤ 5 s"
        found_s = seconds_until_found(mounted, len(files))
        yield "… until all are found", f"{found_s:.2f} s", ""
        lookup_s = lookup_seconds(files)
        yield "a lookup, and the request for it", _microseconds(lookup_s), "≤ 20 µs"
        for below in (files[0].parent, folder):
            begin = time.monotonic()
            mounted.status(below)
            what = "status of a folder" if below != folder else "… of all folders"
            yield what, f"{time.monotonic() - begin:.4f} s", "≤ 0.2 s"
        for words in (("status", folder), ("stat", files[0])):
            name = f"`forebay tier {words[0]}`"
            ran = run_program(name, (*FOREBAY, "tier", *words), more=OWN_BUILD)
            yield name, f"{ran.seconds:.2f} s", ""
        nothing = run_program("forebay", (*FOREBAY, "--version"), more=OWN_BUILD)
        yield "… and a command that asks nothing", f"{nothing.seconds:.2f} s", ""
        yield "memory of a tier", _megabytes(mounted.resident_bytes()), "≤ 200 MB"


def _of_the_tool(folder: Path, fast: Path, files: list[Path]) -> Iterator[_Row]:
    """A mount removes the list of `forebay-tier`, which its next command makes again."""
    places = (str(fast), str(folder))
    made = run_tool("status", *places)
    yield "`forebay-tier status` without a list", f"{made.seconds:.2f} s", ""
    yield "… its memory", _megabytes(made.resident_bytes), "≤ 200 MB"
    known = run_tool("status", *places)
    yield "`forebay-tier status`, with its start", f"{known.seconds:.2f} s", "≤ 0.2 s"
    yield "… its memory", _megabytes(known.resident_bytes), "≤ 200 MB"
    chosen = [str(one) for one in random.Random(2).choices(files, k=TOOL_LOOKUPS)]
    few, many = (run_tool("stat", *places, *some) for some in (chosen[:1], chosen))
    each_s = (many.seconds - few.seconds) / (TOOL_LOOKUPS - 1)
    yield "`forebay-tier stat`, each file more", _microseconds(each_s), ""


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} µs"


def _megabytes(bytes_: int) -> str:
    return f"{number(bytes_ / 1e6)} MB"


@frozen
class ToolRun:
    """A run of `forebay-tier`; `resident_bytes` is the most memory that it had."""

    seconds: float
    resident_bytes: int


_WATCHER = """
import resource, subprocess, sys, time
begin = time.monotonic()
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def run_tool(*words: str) -> ToolRun:
    """Raises RuntimeError if it fails. It is started by a small process, since a process counts as
    its own what the one that started it had."""
    watched = (sys.executable, "-S", "-c", _WATCHER, str(TOOL), *words)
    done = subprocess.run(watched, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"forebay-tier {words[0]} ended with {done.returncode}: {done.stderr}")
    seconds, kibibytes = done.stdout.split()
    return ToolRun(seconds=float(seconds), resident_bytes=int(kibibytes) * 1024)


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
