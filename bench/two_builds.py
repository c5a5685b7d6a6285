"""Two builds of Forebay in interleaved pairs: whether a change made anything slower.

    python -m bench.two_builds OLD NEW [--pairs N]

OLD and NEW are the folders with libforebay_mpi.so (build/release/lib of two work trees). Runs
bench/patterns.c, which `python -m bench prepare` builds, on Open MPI 4.1.4; prints the ratio of
speeds, above 1 where NEW is the faster, with its 95 % interval from six pairs on.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.tables import TextTable, markdown
from forebay.domain.estimate import paired_ratio

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build" / "bench" / "patterns-ompi414"
LAUNCHER = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe")


@dataclass(frozen=True, kw_only=True)
class Access:
    """What is measured, on tmpfs or on the disk of the work tree."""

    name: str
    ranks: int
    words: str
    on_disk: bool = False

    def seconds(self, library: Path, folder: Path) -> float:
        """Of a call, or of open and close; the median of a launch's repetitions."""
        words = [*LAUNCHER, "-n", str(self.ranks), "-x", f"LD_PRELOAD={library}", str(PROGRAM)]
        words += [*self.words.split(), "--path", str(folder / "file")]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        runs = [one for one in lines if "call_seconds" in one and not one.get("warm_up")]
        opens = "--op create" in self.words
        times: list[float] = [
            one["open_seconds"] + one["close_seconds"] if opens else one["call_seconds"]
            for one in runs
        ]
        return median(times)


_DEALT = "--total 128m --view vector --repetitions 3 --warm-up 1"
_SEGMENTS = "--region 1m --total 256m --memory contiguous --view none --repetitions 3 --warm-up 1"
ACCESSES = (
    Access(
        name="1 KiB c, write",
        ranks=4,
        words=f"--op write --region 1k --memory contiguous {_DEALT}",
    ),
    Access(name="1 KiB nc, read", ranks=4, words=f"--op read --region 1k --memory pieces {_DEALT}"),
    Access(
        name="256 B nc, write", ranks=8, words=f"--op write --region 256 --memory pieces {_DEALT}"
    ),
    Access(
        name="4 KiB c, write",
        ranks=4,
        words=f"--op write --region 4k --memory contiguous {_DEALT}",
        on_disk=True,
    ),
    Access(
        name="4 KiB c, read",
        ranks=8,
        words=f"--op read --region 4k --memory contiguous {_DEALT}",
        on_disk=True,
    ),
    Access(name="1 MiB segments, write", ranks=4, words=f"--op write {_SEGMENTS}"),
    Access(name="1 MiB segments, read", ranks=4, words=f"--op read {_SEGMENTS}"),
    Access(
        name="1 MiB a rank, one call, write",
        ranks=4,
        words="--op write --region 1m --total 4m --memory contiguous --view none "
        "--repetitions 9 --warm-up 2",
    ),
    Access(
        name="open + close",
        ranks=4,
        words="--op create --region 1m --total 4m --repetitions 20 --warm-up 2",
    ),
)


def row(access: Access, libraries: Sequence[Path], pairs: int, folder: Path) -> tuple[str, ...]:
    """Both builds in random order within each pair."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(pairs):
        for which in random.sample((0, 1), 2):
            times[which].append(access.seconds(libraries[which], folder))
    ratio = paired_ratio(*times)
    interval = f"{ratio.low or ratio.least:.3f}-{ratio.high or ratio.most:.3f}"
    return (
        access.name,
        "disk" if access.on_disk else "tmpfs",
        str(access.ranks),
        *(f"{median(one) * 1e3:.2f}" for one in times),
        f"{ratio.estimate:.3f}",
        interval,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--pairs", type=int, default=6)
    chosen = parser.parse_args()
    libraries = [one.resolve() / "libforebay_mpi.so" for one in (chosen.old, chosen.new)]
    for file in (PROGRAM, *libraries):
        if not file.exists():
            parser.error(f"there is no {file}. Build it (a program: python -m bench prepare).")
    rows = []
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as memory,
        tempfile.TemporaryDirectory(dir=ROOT / "build") as disk,
    ):
        for access in ACCESSES:
            folder = Path(disk if access.on_disk else memory)
            rows.append(row(access, libraries, chosen.pairs, folder))
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    print(
        markdown(
            TextTable(
                title=f"Two builds, {chosen.pairs} pairs",
                header=("access", "on", "ranks", "old, ms", "new, ms", "speed new/old", "interval"),
                rows=tuple(rows),
            )
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
