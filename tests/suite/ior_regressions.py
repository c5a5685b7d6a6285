"""What forebay-ior once got wrong, each named after it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from suite import mpi as m
from suite.ior import INPUT_OUTPUT, Ior
from suite.runner import Test, ensure

PATIENCE = 30


def one_open_fails_under_wear_out(mpi: m.Mpi, folder: Path) -> None:
    """The rank that could not open agreed on errors while the others agreed on their goal."""
    (folder / "there").mkdir()
    run = Ior(mpi=mpi, folder=folder, seconds_max=PATIENCE)
    line = "-F -D 2 -O stoneWallingWearOut=1 -t 4k -b 64k -w"
    text = run(f"{line} -o there/f@missing/f", status=INPUT_OUTPUT)
    ensure("rank 1: cannot open missing/f" in text, text[-800:])
    run.ensure_clean("there")


def least_time_is_longer_than_the_wall(mpi: m.Mpi, folder: Path) -> None:
    """Repeating what the wall had stopped stood still for ever."""
    run = Ior(mpi=mpi, folder=folder, seconds_max=PATIENCE)
    for words in ("", "-O stoneWallingWearOut=1", "-a MPIIO -c"):
        run(f"-w -D 1 -O minTimeDuration=100 -t 64k -b 64m -s 4 -Y {words} -o tf")
    run.ensure_clean()


def fsync_per_write_is_collective(mpi: m.Mpi, folder: Path) -> None:
    """MPI_File_sync of a shared file needs all ranks, which the wall stops at different writes."""
    run = Ior(mpi=mpi, folder=folder, ranks=3, seconds_max=PATIENCE)
    for api in ("MPIIO", "HDF5", *["NCMPI"] * mpi.is_open_mpi):
        run(f"-a {api} -w -Y -D 1 -t 4k -b 1m -s 64 -o tf")
    run.ensure_clean()


def a_delay_is_no_latency(mpi: m.Mpi, folder: Path) -> None:
    """interIODelay belongs to the phase and to no transfer."""
    run = Ior(mpi=mpi, folder=folder)
    run("-a DUMMY -w -t 1k -b 20k -O interIODelay=20000 -o tf --json a.json")
    result = json.loads((folder / "a.json").read_text())["tests"][0]["Results"][0]
    ensure(result["latency_of_transfers"]["p50_ns"] < 10_000_000, f"{result}")
    ensure(result["wrRdTime"] > 0.39, f"{result}")


REGRESSIONS: Sequence[Callable[[m.Mpi, Path], None]] = (
    one_open_fails_under_wear_out,
    least_time_is_longer_than_the_wall,
    fsync_per_write_is_collective,
    a_delay_is_no_latency,
)


def tests() -> Iterator[Test]:
    for mpi in m.DEBIAN:
        for function in REGRESSIONS:
            yield Test(
                name=f"ior-{function.__name__}-{mpi.name}", run=functools.partial(function, mpi)
            )
