"""Measures a program's gain by the pool: pairs of one load without and with it, in random order.

burst       2 ranks × 10 steps × 64 MiB with time to compute between (--compute MS), and with none:
            time in output beside a memcpy of the same bytes, and the whole until all bytes are on
            the file system
requests    burst without time to compute: until all is written with 1, 2, 4 and 8 requests at a
            time to each target, and with as many as the daemon finds (pool_requests_in_flight)
calls       nanoseconds of a 4 KiB write and read on tmpfs
bystanders  git status, gcc and python, which touch no pool path, with the library preloaded, and
            with an empty one
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
of 1 ms and 100 or 400 MB/s, written through (tests/mpi/slow_fs.c), tmpfs. CephFS is brought up by
tests/cephfs.sh; --ceph names its folder.

examples:
  python -m evaluation.pool burst --on limited50,fuse --pairs 6
  python -m evaluation.pool calls --docs docs/performance/pool-log.md
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from evaluation.pool import collective, costs, journal, nodes, reads, writes
from evaluation.pool.runs import build
from evaluation.report import circumstances, publish
from evaluation.tables import markdown

WAYS = {
    "burst": writes.burst,
    "requests": writes.requests,
    "calls": costs.calls,
    "bystanders": costs.bystanders,
    "transfers": writes.transfers,
    "acknowledged": writes.acknowledged,
    "once": reads.once,
    "collective": collective.collective,
    "collective_reads": collective.collective_reads,
    "nonblocking": collective.nonblocking,
    "windows": collective.windows,
    "daemon": costs.daemon_share,
    "journal": journal.journal,
    "opens": nodes.opens,
    "nodes": nodes.nodes,
    "readers": nodes.readers,
}


def main() -> int:
    """Measures one thing. Returns 0; a failure is an exception."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.pool",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=WAYS)
    parser.add_argument(
        "--on",
        default=["limited50"],
        type=lambda text: text.split(","),
        help="file systems: limited50, limited200, loop, fuse, fuse400, tmpfs, ceph (limited50)",
    )
    parser.add_argument("--pairs", type=int, default=6, help="(6)")
    parser.add_argument("--compute", type=int, default=3000, help="milliseconds of a step (3000)")
    parser.add_argument(
        "--steps",
        type=int,
        default=writes.STEPS,
        help="of burst; `forebay run` takes 0.3 s to start and to end, which counts where a file "
        "system is fast and nothing is computed (10)",
    )
    parser.add_argument("--total", type=int, default=512, help="MiB of transfers (512)")
    parser.add_argument(
        "--loads",
        default=writes.LOADS,
        type=lambda text: text.split(","),
        help=f"of transfers: {', '.join(writes.LOADS)} (all)",
    )
    parser.add_argument(
        "--latency",
        type=float,
        default=3,
        help="of transfers: seconds of latency that a process waits for at most; fewer bytes where "
        "they would be more (3)",
    )
    parser.add_argument("--ceph", type=Path, help="a folder on CephFS")
    parser.add_argument("--docs", type=Path, help="put the table between this file's markers")
    chosen = parser.parse_args()
    before = circumstances("evaluation.pool")
    with tempfile.TemporaryDirectory() as folder:
        table = WAYS[chosen.what](build(Path(folder)), chosen)
    publish("\n\n".join([before, markdown(table)]), f"pool_{chosen.what}", chosen.docs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
