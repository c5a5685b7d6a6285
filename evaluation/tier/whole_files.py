"""Files that are copied to fast storage: by `preload`, and more of them than fit."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

from evaluation.pool.places import chosen_places, drop_caches
from evaluation.pool.runs import Programs, blocks_of, ratio_of
from evaluation.tables import TextTable, number
from evaluation.tier.tiers import tier
from forebay.common.model.frozen import frozen

MIB = 1 << 20
READERS = 4


@frozen
class Files:
    """So many files of so many MiB."""

    count: int
    mebibytes: int

    @property
    def name(self) -> str:
        return f"{self.count} of {self.mebibytes} MiB"

    def make(self, folder: Path) -> list[Path]:
        """Makes them; none is in the page cache afterwards."""
        paths = [folder / f"file.{one}" for one in range(self.count)]
        block = os.urandom(MIB)
        for path in paths:
            with path.open("wb") as file:
                for _ in range(self.mebibytes):
                    file.write(block)
        os.sync()
        drop_caches()
        return paths


def preload(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Preloading beside reading the same files from the file system below, which is the limit."""
    kinds = (
        (Files(count=10, mebibytes=1), Files(count=1, mebibytes=16))
        if chosen.quick
        else (Files(count=1000, mebibytes=1), Files(count=1, mebibytes=4096))
    )
    known, rows = chosen_places(programs.slow_fs, chosen), []
    for name in chosen.on:
        with known[name]() as place, tempfile.TemporaryDirectory(dir=chosen.fast) as fast:
            for files in kinds:
                ways = (
                    partial(_read_all, files, place.folder),
                    partial(_preload_all, files, place.folder, Path(fast)),
                )
                read, loaded = zip(*blocks_of(ways, chosen.pairs), strict=True)
                megabytes = files.count * files.mebibytes * MIB / 1e6
                speeds = (number(megabytes / median(times)) for times in (read, loaded))
                rows.append((name, files.name, *speeds, ratio_of(read, loaded), "≥ 0.90"))
                print(" | ".join(rows[-1]), file=sys.stderr)
    return TextTable(
        title=f"Preloading, {chosen.pairs} pairs",
        header=("slow", "files", "read, MB/s", "preloaded, MB/s", "preload by read", "asked"),
        rows=tuple(rows),
    )


def _read_all(files: Files, at: Path) -> float:
    with tempfile.TemporaryDirectory(dir=at) as folder:
        paths = files.make(Path(folder))
        begin = time.monotonic()
        for path in paths:
            _read(path)
        return time.monotonic() - begin


def _read(path: Path) -> None:
    memory = memoryview(bytearray(4 * MIB))
    with path.open("rb", buffering=0) as file:
        while file.readinto(memory):
            pass


def _preload_all(files: Files, at: Path, fast: Path) -> float:
    with (
        tempfile.TemporaryDirectory(dir=at) as folder,
        tempfile.TemporaryDirectory(dir=fast) as place,
    ):
        paths = files.make(Path(folder))
        with tier(Path(folder).resolve(), Path(place, "place"), "preload") as mounted:
            begin = time.monotonic()
            for path in paths:
                mounted.order(path.resolve(), "fill")
            return time.monotonic() - begin


def eviction(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Four processes read a working set of twice the fast storage in a loop, with and without the
    tier: it should cost nothing where it cannot help."""
    mebibytes, loops = chosen.mebibytes, 2 if chosen.quick else 3
    files = Files(count=16, mebibytes=max(mebibytes // 8, 1))
    known, rows = chosen_places(programs.slow_fs, chosen), []
    for name in chosen.on:
        with known[name]() as place:
            ways = (
                partial(_read_in_loop, files, place.folder, loops, room=0),
                partial(_read_in_loop, files, place.folder, loops, room=mebibytes),
            )
            plain, tiered = zip(*blocks_of(ways, chosen.pairs), strict=True)
            times = (number(median(one)) for one in (plain, tiered))
            rows.append((name, files.name, *times, ratio_of(tiered, plain), "≤ 1.05"))
            print(" | ".join(rows[-1]), file=sys.stderr)
    return TextTable(
        title=f"{READERS} processes read {loops} times, {mebibytes} MiB of fast storage, "
        f"{chosen.pairs} pairs",
        header=("slow", "files", "without, s", "tier, s", "tier by without, time", "asked"),
        rows=tuple(rows),
    )


def _read_in_loop(files: Files, at: Path, loops: int, *, room: int) -> float:
    with tempfile.TemporaryDirectory(dir=at) as made, contextlib.ExitStack() as stack:
        folder = Path(made).resolve()
        names = [path.name for path in files.make(folder)]
        if room:
            fast = stack.enter_context(_small_storage(room))
            stack.enter_context(tier(folder, fast, "preload"))
        begin = time.monotonic()
        with ThreadPoolExecutor(READERS) as readers:
            for reader in range(READERS):
                own = [str(folder / name) for name in names[reader::READERS]]
                readers.submit(_read_by_process, own, loops)
        return time.monotonic() - begin


def _read_by_process(paths: list[str], loops: int) -> None:
    words = ("sh", "-c", 'n=$1; shift; for i in $(seq "$n"); do cat -- "$@"; done', "sh")
    subprocess.run(
        [*words, str(loops), *paths], check=True, stdout=subprocess.DEVNULL, timeout=3600
    )


@contextlib.contextmanager
def _small_storage(mebibytes: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        options = f"size={mebibytes}m,mode=0700"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "fast", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
