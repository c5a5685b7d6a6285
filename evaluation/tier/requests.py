"""The paper's table: sequential, random and shared requests of 1, 4 and 16 processes, by fio; on
the parallel file system, through a tier, and in fast storage itself."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from evaluation.pool.places import chosen_places, drop_caches
from evaluation.pool.runs import Programs, blocks_of, ratio_of
from evaluation.program_run import run_program
from evaluation.tables import TextTable, number
from evaluation.tier.tiers import tier
from forebay.common.model.frozen import frozen

MIB = 1 << 20
PROCESSES, QUICK_PROCESSES = (1, 4, 16), (1, 2)


@frozen
class Requests:
    """An order to fio. `asked` is the speed-up that was promised."""

    name: str
    rw: str
    size: str
    asked: float
    shared: bool = False

    @property
    def reads(self) -> bool:
        """Whether files are there before, and are only read."""
        return self.rw.endswith("read")


TABLE = (
    Requests(name="128 KiB sequential write", rw="write", size="128k", asked=2.41),
    Requests(name="128 KiB sequential read", rw="read", size="128k", asked=1.55),
    Requests(name="8 KiB random write", rw="randwrite", size="8k", asked=3.09),
    Requests(name="8 KiB random read", rw="randread", size="8k", asked=2.63),
    Requests(name="N-1 write, 128 KiB", rw="write", size="128k", asked=3.6, shared=True),
    Requests(name="N-1 read, 128 KiB", rw="read", size="128k", asked=1.3, shared=True),
)


@frozen
class Timed:
    """Seconds until the program had ended, and until all was on the parallel file system."""

    done_s: float
    safe_s: float


@frozen
class Amount:
    """How many processes, and MiB of all of them together."""

    processes: int
    mebibytes: int


def table(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """A row for each kind, number of processes and file system. Writers sync at the end, which for
    a tier means fast storage; `safe` is the time until everything is on the file system below.
    Before reads nothing is cached, and the tier has been given its files by `preload`."""
    processes = QUICK_PROCESSES if chosen.quick else PROCESSES
    known, rows = chosen_places(programs.slow_fs, chosen), []
    for name in chosen.on:
        with known[name]() as place, tempfile.TemporaryDirectory(dir=chosen.fast) as fast:
            for one in TABLE:
                if chosen.only not in one.name:
                    continue
                for count in processes:
                    amount = Amount(processes=count, mebibytes=chosen.mebibytes)
                    ways = _ways(one, amount, place.folder, Path(fast))
                    rows.append((name, *_row(one, amount, blocks_of(ways, chosen.pairs))))
                    print(" | ".join(rows[-1]), file=sys.stderr)
    return TextTable(
        title=f"{chosen.mebibytes} MiB of all processes, fast storage in {chosen.fast}, "
        f"{chosen.pairs} blocks of three runs",
        header=(
            "slow", "requests", "processes", "slow, MB/s", "tier, MB/s", "fast, MB/s",
            "tier by slow", "asked", "tier by fast", "safe: slow, s", "safe: tier, s",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _ways(one: Requests, amount: Amount, slow: Path, fast: Path) -> Sequence[Callable[[], Timed]]:
    return (
        partial(_plain, one, amount, slow),
        partial(_tiered, one, amount, slow, fast),
        partial(_plain, one, amount, fast),
    )


def _row(one: Requests, amount: Amount, blocks: Sequence[Sequence[Timed]]) -> tuple[str, ...]:
    slow, tiered, fast = ([block[way].done_s for block in blocks] for way in range(3))
    megabytes = amount.mebibytes * MIB / 1e6
    return (
        one.name,
        str(amount.processes),
        *(number(megabytes / median(times)) for times in (slow, tiered, fast)),
        ratio_of(slow, tiered),
        f"≥ {one.asked}",
        ratio_of(fast, tiered),
        *(number(median(block[way].safe_s for block in blocks)) for way in (0, 1)),
    )


def _plain(one: Requests, amount: Amount, at: Path) -> Timed:
    with tempfile.TemporaryDirectory(dir=at) as folder:
        if one.reads:
            make_files(one, amount, Path(folder))
        begin = time.monotonic()
        done = fio(one, amount, Path(folder))
        os.sync()
        return Timed(done_s=done, safe_s=time.monotonic() - begin)


def _tiered(one: Requests, amount: Amount, slow: Path, fast: Path) -> Timed:
    with (
        tempfile.TemporaryDirectory(dir=slow) as folder,
        tempfile.TemporaryDirectory(dir=fast) as place,
        contextlib.ExitStack() as stack,
    ):
        at = Path(folder).resolve()
        if one.reads:
            make_files(one, amount, at)
        mounted = stack.enter_context(tier(at, Path(place, "place"), "write preload"))
        if one.reads:
            for file in sorted(at.iterdir()):
                mounted.order(file, "fill")
            drop_caches()
        begin = time.monotonic()
        done = fio(one, amount, at)
        mounted.order(at, "move")
        os.sync()
        return Timed(done_s=done, safe_s=time.monotonic() - begin)


def make_files(one: Requests, amount: Amount, folder: Path) -> None:
    """The files that fio reads later, none of them in the page cache."""
    count = 1 if one.shared else amount.processes
    bytes_each = amount.mebibytes * MIB // count
    for number_ in range(count):
        (folder / f"file.{number_}").write_bytes(os.urandom(MIB) * (bytes_each // MIB))
    os.sync()
    drop_caches()


def fio(one: Requests, amount: Amount, folder: Path) -> float:
    """The seconds that a process took, their mean, from its open to its close."""
    each = amount.mebibytes * MIB // amount.processes
    files = (
        ("--filename=file.0", f"--offset_increment={each}")
        if one.shared
        else ("--filename_format=file.$jobnum",)
    )
    words = (
        *("fio", "--name=tier", f"--directory={folder}", f"--rw={one.rw}", f"--bs={one.size}"),
        *(f"--size={each}", f"--numjobs={amount.processes}", "--ioengine=psync", *files),
        *("--fallocate=none", "--create_on_open=1", "--invalidate=0", "--randrepeat=0"),
        *(("--end_fsync=1",) if not one.reads else ()),
        *("--group_reporting", "--output-format=json"),
    )
    told = run_program("fio", words, at=folder).output
    (job,) = json.loads(told[told.index("{") :])["jobs"]
    side = job["read" if one.reads else "write"]
    if side["io_bytes"] != each * amount.processes:
        raise RuntimeError(f"fio moved {side['io_bytes']} bytes of {each * amount.processes}")
    return max(float(job["job_runtime"]) / 1000 / amount.processes, 1e-3)
