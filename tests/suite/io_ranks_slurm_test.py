"""I/O ranks by srun, on the Slurm of two nodes that tests/slurm.sh brought up: one on each node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forebay.common.files.record_file import append_run
from forebay.common.model.record import PoolFileRecord, PoolRecord, RunRecord
from suite import mpi as m
from suite.command import FOREBAY
from suite.io_ranks import same_files
from suite.pool_job_test import ATTEMPTS, CRASH, SLURM, STEPS, Batch
from suite.verdict import ensure

MIB = 1 << 20
WRITTEN = PoolFileRecord(
    path="/scratch/out",
    taken=MIB,
    drained=MIB,
    waited_seconds=0.0,
    storage_seconds=1.0,
    storage_bytes=MIB,
    requests=1,
    times=1,
    past_the_pool=None,
)
POOL = PoolRecord(
    paths=("/scratch",),
    arrived=True,
    drain_seconds=0.0,
    taken=MIB,
    cap=64 * MIB,
    high=MIB,
    read_ahead=0,
    files=(WRITTEN,),
    files_dropped=0,
)
EARLIER = RunRecord(forebay="0.1.0", command="srun ./model", seconds=9.0, status=0, pool=POOL)


@SLURM
@pytest.mark.parametrize("asked", ["2", "auto"])
def test_each_node_has_its_io_rank(asked: str, folder: Path) -> None:
    """`auto` reads the ranks of the job from Slurm, and that there are two nodes."""
    method, needs = STEPS[m.OPEN_MPI]
    program = m.build(m.OPEN_MPI, "io_ranks_unformatted.f90")
    (folder / "plain").mkdir()
    m.run(m.OPEN_MPI, 2, [program, folder / "plain"]).ensure_success()
    record, summary = folder / "record.jsonl", folder / "summary"
    if asked == "auto":
        append_run(record, EARLIER)
    spread = "--spread 2" if asked == "2" else ""
    count = "-n 4 --ntasks-per-node=2" if asked == "2" else ""
    for _ in range(ATTEMPTS):
        work = folder / "cut"
        work.mkdir(exist_ok=True)
        batch = Batch(folder)
        out = batch.submit(
            f"cd {work}\n"
            f"export TMPDIR=/tmp {needs}\n"
            f"{' '.join(FOREBAY)} run --pool . --io-ranks {asked} {spread} --record {record} "
            f"--format json --summary {summary} -- srun --mpi={method} {count} {program} {work}",
            *("-n", "4", "--ntasks-per-node=2"),
        )
        text = batch.ended(out, seconds=120)
        ensure(summary.exists(), text)
        report = json.loads(summary.read_text())
        out.unlink()
        if CRASH not in text:
            break
    ensure(report["status"] == 0 and report["pool"]["arrived"], text)
    ensure(report["io_ranks"] == [{"ranks": 4, "io_ranks": 2}], f"{report['io_ranks']}\n{text}")
    ensure("saw 2" in text, text)
    same_files(folder / "plain", work, count=3)
