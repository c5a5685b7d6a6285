"""Measures the mount of a pool: what it costs, what is fast by it, what a start takes.

costs       microseconds of an open and close, untar, cp -r, git clone, venv, make, sqlite, git
            commit, pgbench (where PostgreSQL is), and 1 MiB calls of a program that is not
            captured: plain, through the mount, and plain in the page cache
fast        time in output of what job scripts and legacy programs do, with computing between:
            `prog > file`, `prog >> file`, dd, cp, programs that append (C, static, Fortran, Go,
            Rust, Java NIO), numpy memmap
start       processor seconds of `forebay run -- /bin/true`, alone, with a pool, with the mount

File systems are those of `python -m evaluation.pool --help`, and `disk`: a folder of --disk on the
machine's own disk. All needs root. The daemon and the mount are started before a program and ended
after it, outside of its time; in `start` they are what is measured.

examples:
  python -m evaluation.mount costs --docs docs/performance/mount.md
  python -m evaluation.mount fast --on limited50 --only dd --pairs 3
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from evaluation.mount.costs import costs
from evaluation.mount.fast import fast
from evaluation.mount.start import start
from evaluation.pool.runs import build
from evaluation.report import circumstances, publish
from evaluation.tables import markdown

WAYS = {"costs": costs, "fast": fast, "start": start}
ON = {"costs": "tmpfs,disk", "fast": "limited50,fuse", "start": "disk"}


def main() -> int:
    """Measures one thing. Returns 0; a failure is an exception."""
    chosen = _parser().parse_args()
    chosen.on = (chosen.on or ON[chosen.what]).split(",")
    chosen.pairs = 1 if chosen.quick else chosen.pairs
    before = circumstances("evaluation.mount")
    with tempfile.TemporaryDirectory() as folder:
        table = WAYS[chosen.what](build(Path(folder)), chosen)
    publish("\n\n".join([before, markdown(table)]), f"mount_{chosen.what}", chosen.docs)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.mount",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=WAYS)
    words = "; ".join(f"{what}: {on}" for what, on in ON.items() if what != "start")
    parser.add_argument("--on", default="", help=f"file systems ({words})")
    parser.add_argument("--pairs", type=int, default=6, help="(6)")
    parser.add_argument("--only", default="", metavar="WORD", help="rows with it in their name")
    parser.add_argument("--steps", type=int, default=4, help="of fast: outputs of a program (4)")
    parser.add_argument("--mebibytes", type=int, default=64, help="of fast: of an output (64)")
    parser.add_argument(
        "--compute", type=int, default=2000, help="of fast: milliseconds between outputs (2000)"
    )
    parser.add_argument("--runs", type=int, default=20, help="of start (20)")
    parser.add_argument(
        "--quick", action="store_true", help="one pair of the smallest sizes, to see that it works"
    )
    parser.add_argument(
        "--disk", type=Path, default=Path("/var/tmp"), help="a folder on the disk (/var/tmp)"
    )
    parser.add_argument("--ceph", type=Path, help="a folder on CephFS")
    parser.add_argument("--docs", type=Path, help="put the table between this file's markers")
    return parser


if __name__ == "__main__":
    sys.exit(main())
