"""Measures a program's gain by the pool: pairs of one load without and with it, in random order.

burst       2 ranks × 10 steps × 64 MiB with time to compute between (--compute MS), and with none:
            time in output beside a memcpy of the same bytes, and the whole until all bytes are on
            the file system
requests    burst without time to compute: until all is written with 1, 2, 4 and 8 requests at a
            time to each target, and with as many as the daemon finds (pool_requests_in_flight)
calls       nanoseconds of a 4 KiB write and read on tmpfs
bystanders  true, git status, gcc and python, which touch no pool path, with the library preloaded,
            and with an empty one
transfers   the loads of the block cache of 2022: sequential 128 KiB and random 8 KiB transfers of
            1, 4 and 16 processes, plain and with windows of 16 MiB and 1 GiB, in the pool's way
            and in that of the paper (pool_consistency)
acknowledged
            the writes of transfers with the window of 1 GiB, which holds them all, beside the same
            bytes copied into new memory
once        8 processes read one file of 512 MiB on a limited disk: what the disk delivers, and time
            beside plain reads by O_DIRECT and through the page cache
collective  collective writes of 256 B and 1 KiB pieces, blocking and not: when they return, and
            when all is written, beside those of the MPIs
collective_reads
            the same for collective reads of a file that is on the file system, with dropped caches
nonblocking
            collective writes into the pool again and again: calls that do not block, beside such
            that do
windows     a collective write again and again: windows in the pool's memory (pool_lends_windows),
            beside windows that are copied into it
opens       microseconds to make and open a file: plain, and with 1, 2 and 4 daemons of a job
nodes       burst with 1, 2 and 4 daemons of a job, which stand for nodes
readers     one file of 256 MiB that a program on each of four nodes reads: plain, by each node for
            itself, and by one and two of them for all (pool_readers)
journal     128 KiB writes with pool_durability=node, 1, 4 and 16 writers, beside plain writes to
            the device of the journal with fdatasync each 8 MiB and each 128 KiB, and beside writes
            that are durable one by one over bytes that are there (O_DIRECT, O_DSYNC)
daemon      the daemon's share of a core, idle and busy, and its memory at the cap

The file systems are made for it and need root: a *limited disk* (tools/limited_disk.sh: bandwidth
and dirty bytes as a client of a parallel file system has them), a FUSE file system with a latency
of 1 ms and 100 or 400 MB/s, written through (tests/mpi/slow_fs.c), tmpfs, and `disk`: a folder of
--disk on the machine's own disk. CephFS is brought up by tests/cephfs.sh; --ceph names its folder.

examples:
  python -m evaluation.pool burst --on limited50,fuse --pairs 6
  python -m evaluation.pool calls --docs docs/performance/pool-log.md
"""

from __future__ import annotations

import argparse
import sys

from evaluation.benchmark import Benchmark, Part, run_benchmark
from evaluation.pool import collective, costs, journal, nodes, reads, writes
from evaluation.pool.runs import Programs, build

LIMITED = ("limited50",)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--compute", type=int, default=3000, help="milliseconds of a step (3000)")
    add("--steps", type=int, default=writes.STEPS, help="steps of burst; `forebay run` takes 0.3 s "
        "to start and to end, which counts where a file system is fast and nothing is computed "
        f"({writes.STEPS})")  # fmt: skip
    add("--total", type=int, default=512, help="MiB of transfers, acknowledged, journal (512)")
    add("--loads", default=writes.LOADS, type=lambda text: text.split(","),
        help=f"kinds of transfers: {', '.join(writes.LOADS)} (all)")  # fmt: skip
    add("--latency", type=float, default=3, help="transfers: seconds of latency that a process "
        "waits for at most; fewer bytes where they would be more (3)")  # fmt: skip


BENCHMARK = Benchmark[Programs](
    name="pool",
    description=__doc__ or "",
    prepare=build,
    parts={
        "burst": Part(measure=writes.burst, on=LIMITED),
        "requests": Part(measure=writes.requests, on=LIMITED),
        "calls": Part(measure=costs.calls),
        "bystanders": Part(measure=costs.bystanders),
        "transfers": Part(measure=writes.transfers, on=LIMITED),
        "acknowledged": Part(measure=writes.acknowledged, on=LIMITED),
        "once": Part(measure=reads.once, on=LIMITED),
        "collective": Part(measure=collective.collective, on=LIMITED),
        "collective_reads": Part(measure=collective.collective_reads, on=LIMITED),
        "nonblocking": Part(measure=collective.nonblocking, on=LIMITED),
        "windows": Part(measure=collective.windows, on=LIMITED),
        "daemon": Part(measure=costs.daemon_share),
        "journal": Part(measure=journal.journal, on=LIMITED),
        "opens": Part(measure=nodes.opens),
        "nodes": Part(measure=nodes.nodes, on=LIMITED),
        "readers": Part(measure=nodes.readers, on=LIMITED),
    },
    add_options=_add_options,
    quick={"compute": 50, "steps": 2, "total": 128, "latency": 0.2},
)

if __name__ == "__main__":
    sys.exit(run_benchmark(BENCHMARK))
