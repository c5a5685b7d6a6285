"""Measures a tier of fast storage.

requests    128 KiB sequential, 8 KiB random and N-1 requests of 1, 4 and 16 processes (fio): on the
            parallel file system, through a tier over it, and in fast storage itself, with the time
            until everything is on the parallel file system
preload     copying 1000 files of 1 MiB and one of 4 GiB to fast storage, beside reading them
eviction    a working set of twice the fast storage, read in a loop, with and without a tier
catalogue   10^6 replicas: start, lookup, status, memory

File systems are those of `python -m evaluation.pool --help`, and `disk`: a folder of --disk on the
machine's own disk. All needs root. A block has one run of each way, in random order.

examples:
  python -m evaluation.tier requests --on limited50,fuse --docs docs/performance/tier.md
  python -m evaluation.tier catalogue --on disk --fast /var/tmp
  python -m evaluation.tier preload --quick --on tmpfs
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from evaluation.pool.runs import build
from evaluation.report import circumstances, publish
from evaluation.tables import markdown
from evaluation.tier import requests, whole_files
from evaluation.tier.catalogue import REPLICAS, catalogue

WAYS = {
    "requests": requests.table,
    "preload": whole_files.preload,
    "eviction": whole_files.eviction,
    "catalogue": catalogue,
}
ON = {
    "requests": "limited50,limited200,fuse",
    "preload": "limited200",
    "eviction": "limited200",
    "catalogue": "disk",
}


def main() -> int:
    """Measures one thing. Returns 0; a failure is an exception."""
    chosen = _parser().parse_args()
    chosen.on = (chosen.on or ON[chosen.what]).split(",")
    chosen.pairs = 1 if chosen.quick else chosen.pairs
    before = circumstances("evaluation.tier")
    with tempfile.TemporaryDirectory() as folder:
        table = WAYS[chosen.what](build(Path(folder)), chosen)
    publish("\n\n".join([before, markdown(table)]), f"tier_{chosen.what}", chosen.docs)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.tier",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=WAYS)
    words = "; ".join(f"{what}: {on}" for what, on in ON.items())
    parser.add_argument("--on", default="", help=f"file systems ({words})")
    parser.add_argument("--fast", type=Path, default=Path("/dev/shm"), help="(/dev/shm)")
    parser.add_argument("--pairs", type=int, default=6, help="blocks of runs (6)")
    parser.add_argument("--only", default="", metavar="WORD", help="rows with it in their name")
    parser.add_argument(
        "--mebibytes", type=int, default=1024, help="of all processes; of fast storage (1024)"
    )
    parser.add_argument("--replicas", type=int, default=REPLICAS, help=f"({REPLICAS})")
    parser.add_argument(
        "--quick", action="store_true", help="one block of the smallest sizes, to see that it works"
    )
    parser.add_argument(
        "--disk", type=Path, default=Path("/var/tmp"), help="a folder on the disk (/var/tmp)"
    )
    parser.add_argument("--ceph", type=Path, help="a folder on CephFS")
    parser.add_argument("--docs", type=Path, help="put the table between this file's markers")
    return parser


if __name__ == "__main__":
    sys.exit(main())
