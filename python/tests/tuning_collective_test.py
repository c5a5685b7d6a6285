"""Advice for collective calls: MPI may gather them already, and no collective buffer holds more
than one call brings."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forebay.adapters.darshan_log import read_log
from forebay.domain.record import FileRecord, Record, Traffic
from forebay.domain.tuning.evidence import from_command
from forebay.domain.tuning.from_record import program_of
from forebay.domain.tuning.program_io import FileIo, Passing, ProgramIo, workloads_of
from forebay.domain.units import MIB

KIB = 1024


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mpirun -np 4 forebay-ior -a MPIIO -c -t1m -b8m -wk", 4 * MIB),
        ("mpirun -np 9 ior -a MPIIO -c -N 4 -t 64k -b 1m -w", 256 * KIB),
        ("mpirun -np 4 ior -a MPIIO -t 1m -b 8m -w", None),
        ("mpirun -np 4 ior -a POSIX -c -t 1m -b 8m -w", None),
        ("mpiexec -n 4 hpio -m 01 -c 1024 -s 1k -d /x", 4 * MIB),
        ("mpiexec -n 4 hpio -m 10 -c 1024 -s 1k -d /x", None),
    ],
)
def test_what_a_collective_call_of_a_benchmark_moves(line: str, expected: int | None) -> None:
    assert from_command(line, ranks=None, nodes=None)[0].call_bytes == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 64 * MIB),
        ({"collective": False}, None),
        ({"write": Passing(bytes=256 * MIB, calls=16)}, None),
    ],
)
def test_what_a_collective_call_of_a_log_moves(
    changes: dict[str, Any], expected: int | None
) -> None:
    """16 ranks make four calls of 4 MiB each."""
    passing = Passing(bytes=256 * MIB, calls=16, collective_calls=64, collective_bytes=256 * MIB)
    usual = FileIo(path="/scratch/f", ranks=16, write=passing, collective=True, by_mpi=True)
    program = ProgramIo(
        source="a log",
        command="",
        ranks=16,
        nodes=2,
        seconds=1.0,
        started="",
        files=(replace(usual, **changes),),
    )
    (workload,) = workloads_of(program, nodes=None)
    assert workload.call_bytes == expected


def test_what_a_collective_call_of_a_real_log_moved() -> None:
    """2048 ranks, 128 MiB each; the log has the bytes of a few small independent calls among
    them."""
    darshan = pytest.importorskip("darshan")
    path = next(Path(darshan.__file__).parent.rglob("example.darshan"))
    (workload,) = workloads_of(read_log(path), nodes=64)
    assert workload.call_bytes == pytest.approx(2048 * 128 * MIB, rel=0.002)


def test_what_a_collective_call_of_a_record_moved() -> None:
    """A record counts a call once for all ranks."""
    found = FileRecord(
        path="/out/f",
        ranks=16,
        nodes=2,
        aggregators=(0, 8),
        targets=1,
        stripe_bytes=MIB,
        seconds_open=2.0,
        write=Traffic(calls=4, bytes=64 * MIB, seconds=1.0),
        closed=True,
        settings={},
    )
    (workload,) = workloads_of(program_of(Record(files=(found,)), source="a record"), nodes=None)
    assert workload.call_bytes == 16 * MIB
    assert workload.transfer_bytes == MIB
