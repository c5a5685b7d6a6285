"""The cost of forebay-ior beside the system call, in interleaved runs with a plain loop.

    python -m evaluation.ior_overhead [--rounds N] [--folder DIR] [--program FILE] [--docs FILE]

One rank, no launcher. Each round runs evaluation/plain_loop.c, the same loop in an MPI program,
that loop with a clock read after each transfer, and forebay-ior, in another order each time; a
table gives the median nanoseconds of a transfer of all, and the ratios of bandwidth with their 95 %
intervals. A second one has what a transfer costs where nothing is moved (DUMMY, 10^7 transfers):
as the program times it, and in processor time with everything that it does not time.
`--docs docs/bench-ior.md` puts both between that file's markers.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from evaluation.results import file_system_of
from evaluation.table_report import (
    TableReport,
    add_report_options,
    check_document,
    circumstances,
    publish,
)
from evaluation.tables import TextTable
from forebay.common.model.estimate import paired_ratio, spread
from forebay.common.model.frozen import frozen

ROOT = Path(__file__).resolve().parents[1]
SIZES = ((4096, 65536), (1048576, 512))
DUMMY_TRANSFERS = 10_000_000
MARKER = "ior_overhead"


@frozen
class Timing:
    """Nanoseconds per transfer, and MiB/s of the phase."""

    ns: float
    mib: float


@frozen
class Programs:
    """The programs that are compared, and the folder for their files."""

    ior: Path
    loops: tuple[Path, ...]
    """The plain loop; the loop in an MPI program; and that with each transfer timed."""
    folder: Path

    def looped(self, loop: Path, size: int, count: int) -> dict[str, Timing]:
        words = [str(loop), str(self.folder / "plain"), str(size), str(count)]
        told = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        return {
            access: Timing(ns=told[f"{access}_ns"], mib=told[f"{access}_mib_s"])
            for access in ("write", "read")
        }

    def measured(self, words: str, count: int) -> dict[str, Timing]:
        """Runs forebay-ior with `words`."""
        done = subprocess.run(
            [str(self.ior), *words.split(), "-o", "tf", "--no-live", "-O", "summaryFormat=JSON"],
            check=True,
            capture_output=True,
            cwd=self.folder,
        )
        results = json.loads(done.stdout)["tests"][0]["Results"]
        return {
            one["access"]: Timing(ns=one["wrRdTime"] * 1e9 / count, mib=one["bwMiB"])
            for one in results
        }


def compare(programs: Programs, rounds: int) -> TextTable:
    """The same transfers by all programs in turn; the order is rotated from round to round."""
    rows = []
    for size, count in SIZES:
        runners: list[Callable[[], dict[str, Timing]]] = [
            *(partial(programs.looped, loop, size, count) for loop in programs.loops),
            partial(programs.measured, f"-t {size} -b {size * count}", count),
        ]
        for runner in runners:
            runner()  # warms up the memory for all of them
        runs: list[dict[int, dict[str, Timing]]] = []
        for number in range(rounds):
            order = [(number + i) % len(runners) for i in range(len(runners))]
            runs.append({one: runners[one]() for one in order})
        for access in ("write", "read"):
            rows.append(
                _compared(
                    size, access, [[run[i][access] for i in range(len(runners))] for run in runs]
                )
            )
    return TextTable(
        title=f"A transfer on {file_system_of(programs.folder)}, {rounds} rounds",
        header=(
            "transfer", "call", "loop, ns", "in MPI, ns", "timed in MPI, ns", "ior, ns",
            "more than in MPI, ns", "bandwidth by loop's", "by that in MPI", "by the timed one's",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _compared(size: int, access: str, runs: Sequence[Sequence[Timing]]) -> tuple[str, ...]:
    more = spread([ours.ns - in_mpi.ns for _, in_mpi, _, ours in runs])
    ratios = [
        paired_ratio([run[3].mib for run in runs], [run[i].mib for run in runs]) for i in range(3)
    ]
    return (
        f"{size // 1024} KiB",
        access,
        *(f"{median(run[i].ns for run in runs):.0f}" for i in range(4)),
        f"{more.median:.0f} [{more.low:.0f}, {more.high:.0f}]",
        *(
            f"{one.estimate:.3f} [{one.low or one.least:.3f}, {one.high or one.most:.3f}]"
            for one in ratios
        ),
    )


def dummy(programs: Programs) -> TextTable:
    """The overhead that is left if no data are moved."""
    rows = []
    for size, _ in SIZES:
        for access in ("write", "read"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            words = f"-a DUMMY -t {size} -b {size * DUMMY_TRANSFERS} --{access}File"
            timed = programs.measured(words, DUMMY_TRANSFERS)[access].ns
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            processor = f"{spent * 1e9 / DUMMY_TRANSFERS:.1f}"
            rows.append((f"{size // 1024} KiB", access, f"{timed:.1f}", processor))
    resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return TextTable(
        title=f"A transfer on DUMMY, {DUMMY_TRANSFERS:,} of them, "
        f"at most {resident / 1024:.0f} MiB resident",
        header=("transfer", "call", "timed, ns", "processor time, ns"),
        rows=tuple(rows),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    default = ROOT / "build" / "release" / "lib" / "mpich" / "forebay-ior"
    parser.add_argument("--program", type=Path, default=default)
    add_report_options(parser)
    words = sys.argv[1:]
    chosen = parser.parse_args(words)
    check_document(MARKER, chosen.docs)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        loops = tuple(Path(folder) / name for name in ("loop", "loop_in_mpi", "timed_loop"))
        source = str(ROOT / "evaluation" / "plain_loop.c")
        in_mpi = ["mpicc.mpich", "-DWITH_MPI"]
        for compiler, loop in zip((["cc"], in_mpi, [*in_mpi, "-DWITH_CLOCK"]), loops, strict=True):
            subprocess.run([*compiler, "-O2", "-o", str(loop), source], check=True)
        programs = Programs(ior=chosen.program.resolve(), loops=loops, folder=Path(folder))
        folder_is = f"{chosen.folder} is {file_system_of(chosen.folder)}"
        before = circumstances("evaluation.ior_overhead", words, folder_is)
        tables = (compare(programs, chosen.rounds), dummy(programs))
    publish(TableReport(circumstances=before, tables=tables), MARKER, chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
