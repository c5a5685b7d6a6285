"""What forebay-ior costs beside the system call, in interleaved pairs with a plain loop.

    python3 -m bench.ior_overhead [--pairs N] [--folder DIR] [--program FILE]

One rank, no launcher. Prints the median nanoseconds of a transfer of both, the median of the
differences, and the ratio of bandwidths with the interval that covers its median with 95 %; then
what a transfer costs on DUMMY, and the memory after 10^7 of them.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = ((4096, 65536), (1048576, 512))


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Nanoseconds of a transfer and MiB/s of the phase."""

    ns: float
    mib: float


@dataclass(frozen=True, kw_only=True)
class Bench:
    program: Path
    plain: Path
    folder: Path

    def plain_loop(self, size: int, count: int) -> dict[str, Timing]:
        words = [str(self.plain), str(self.folder / "plain"), str(size), str(count)]
        told = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        return {
            access: Timing(ns=told[f"{access}_ns"], mib=told[f"{access}_mib_s"])
            for access in ("write", "read")
        }

    def ior(self, size: int, count: int, api: str = "POSIX") -> dict[str, Timing]:
        words = f"-a {api} -t {size} -b {size * count} -o tf --no-live -O summaryFormat=JSON"
        done = subprocess.run(
            [str(self.program), *words.split()], check=True, capture_output=True, cwd=self.folder
        )
        results = json.loads(done.stdout)["tests"][0]["Results"]
        return {
            one["access"]: Timing(ns=one["wrRdTime"] * 1e9 / count, mib=one["bwMiB"])
            for one in results
        }


def interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Order statistics that cover the median (the whole range below six values)."""
    ordered = sorted(values)
    count = len(ordered)
    skipped, below = 0, 0.5**count
    while skipped + 1 < (count + 1) // 2:
        more = math.comb(count, skipped + 1) * 0.5**count
        if 1 - 2 * (below + more) < level:
            break
        below += more
        skipped += 1
    return ordered[skipped], ordered[count - 1 - skipped]


def compare(bench: Bench, pairs: int) -> None:
    print("transfer access  plain ns  ior ns  difference ns  bandwidth ior/plain (95 %)")
    for size, count in SIZES:
        bench.plain_loop(size, count)  # the memory of tmpfs is warm for both
        bench.ior(size, count)
        runs = []
        for number in range(pairs):
            if number % 2:
                ours = bench.ior(size, count)
                runs.append((bench.plain_loop(size, count), ours))
            else:
                runs.append((bench.plain_loop(size, count), bench.ior(size, count)))
        for access in ("write", "read"):
            plain = [one[access].ns for one, _ in runs]
            ours_ns = [two[access].ns for _, two in runs]
            ratios = [two[access].mib / one[access].mib for one, two in runs]
            differences = [b - a for a, b in zip(plain, ours_ns, strict=True)]
            low, high = interval(ratios)
            print(
                f"{size:8} {access:6} {statistics.median(plain):9.0f} "
                f"{statistics.median(ours_ns):7.0f} {statistics.median(differences):14.0f}  "
                f"{statistics.median(ratios):.3f} ({low:.3f} … {high:.3f})"
            )


def dummy(bench: Bench) -> None:
    """Processor time: what a transfer costs also where others use the machine."""
    for size in (4096, 1048576):
        for access in ("write", "read"):
            count = 10_000_000
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            words = f"-a DUMMY -t {size} -b {size * count} --{access}File -o tf --no-live"
            subprocess.run([str(bench.program), *words.split()], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"DUMMY {size} {access}: {spent * 1e9 / count:.1f} ns of processor time a transfer "
                f"({count} transfers with start-up; at most {after.ru_maxrss} KiB resident so far)"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    default = ROOT / "build" / "release" / "lib" / "mpich" / "forebay-ior"
    parser.add_argument("--program", type=Path, default=default)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        plain = Path(folder) / "plain_loop"
        source = ROOT / "bench" / "plain_loop.c"
        subprocess.run(["cc", "-O2", "-o", str(plain), str(source)], check=True)
        bench = Bench(program=chosen.program.resolve(), plain=plain, folder=Path(folder))
        dummy(bench)
        compare(bench, chosen.pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
