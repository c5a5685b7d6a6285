"""What a program gains by the pool: pairs of one load without and with `forebay run --pool`.

    python -m bench.pool burst|calls|paper|once [--on limited50,limited200,fuse,tmpfs,ceph]
                         [--pairs N] [--docs docs/performance/pool.md] [--ceph FOLDER]

burst   2 ranks × 10 steps × 64 MiB with time to compute between (--compute MS), and with none: time
        in output beside a memcpy of the same bytes, and the whole until all bytes are on the file
        system
calls   nanoseconds of a 4 KiB write and read
paper   the table of the block cache of 2022: sequential 128 KiB and random 8 KiB transfers of 1, 4
        and 16 processes, with a window of 16 MiB and of 1 GiB
once    8 processes read one file of 512 MiB; what the file system has to deliver

The file systems are made for it: a *limited disk* (tools/limited_disk.sh: bandwidth and dirty bytes
as a client of a parallel file system has them), a FUSE file system with a latency of 1 ms and
100 MB/s, written through (tests/mpi/slow_fs.c), tmpfs. CephFS is brought up by tests/cephfs.sh;
--ceph names its folder. Needs root.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from bench.report import publish
from bench.results import this_commit, this_machine
from bench.tables import TextTable, markdown
from forebay.domain.estimate import paired_ratio

ROOT = Path(__file__).resolve().parents[1]
MIB = 1 << 20
FUSE = ("1000", "100000000")
"""Latency in microseconds and bytes a second."""


@dataclass(frozen=True, kw_only=True)
class Programs:
    """What is run."""

    loads: Path
    slow_fs: Path

    def command(
        self, words: Sequence[str], *, pool: Mapping[str, str] | None, at: Path
    ) -> list[str]:
        """The load, alone or through a pool with these settings."""
        load = [str(self.loads), *words]
        if pool is None:
            return load
        settings = [word for key, value in pool.items() for word in ("--set", f"{key}={value}")]
        report = ["--format", "json", "--summary", str(at / "summary.json")]
        front = [sys.executable, "-m", "forebay", "run", "--pool", str(at), *settings, *report]
        return [*front, "--", *load]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run: what the load printed, and the seconds until all was on the file system."""

    told: Mapping[str, float]
    whole_s: float


def run(programs: Programs, words: Sequence[str], at: Path, pool: Mapping[str, str] | None) -> Run:
    """Runs a load in a folder of its own; with a pool, until that is drained."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    environment["FOREBAY_LIBDIR"] = str(ROOT / "build" / "release" / "lib")
    with tempfile.TemporaryDirectory(dir=at) as folder:
        command = programs.command(
            [words[0], folder, *words[1:]], pool=pool, at=Path(folder).resolve()
        )
        os.sync()
        begin = time.monotonic()
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False, timeout=900
        )
        whole = time.monotonic() - begin
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)} ended with {done.returncode}: {done.stderr}")
    return Run(told=json.loads(done.stdout.splitlines()[-1]), whole_s=whole)


@contextlib.contextmanager
def limited(rate: int) -> Iterator[Path]:
    """A limited disk of so many MB a second."""
    script = str(ROOT / "tools" / "limited_disk.sh")
    with tempfile.TemporaryDirectory() as folder:
        words = ["up", folder, "--rate", str(rate * 1_000_000)]
        try:
            subprocess.run([script, *words], check=True)
            yield Path(folder) / "disk"
        finally:
            subprocess.run([script, "down", folder], check=False)


@contextlib.contextmanager
def fuse(programs: Programs) -> Iterator[Path]:
    """A FUSE file system with latency and bandwidth, over tmpfs."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        mount, backing = Path(folder) / "mount", Path(folder) / "backing"
        mount.mkdir()
        backing.mkdir()
        server = subprocess.Popen([programs.slow_fs, mount, backing, *FUSE])
        try:
            while not os.path.ismount(mount):
                if server.poll() is not None:
                    raise RuntimeError("no FUSE file system here. Run as root, see /dev/fuse.")
                time.sleep(0.01)
            yield mount
        finally:
            subprocess.run(["umount", "-l", str(mount)], check=False)
            server.wait()


@contextlib.contextmanager
def tmpfs() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def places(
    programs: Programs, ceph: Path | None
) -> dict[str, Callable[[], contextlib.AbstractContextManager[Path]]]:
    """File systems by name."""
    known: dict[str, Callable[[], contextlib.AbstractContextManager[Path]]] = {
        "limited50": lambda: limited(50),
        "limited200": lambda: limited(200),
        "fuse": lambda: fuse(programs),
        "tmpfs": tmpfs,
    }
    if ceph is not None:
        known["ceph"] = lambda: contextlib.nullcontext(ceph)
    return known


def pairs_of(
    first: Callable[[], Run], second: Callable[[], Run], pairs: int
) -> list[tuple[Run, Run]]:
    """Each pair in random order."""
    done = []
    for _ in range(pairs):
        if random.random() < 0.5:
            one = first()
            done.append((one, second()))
        else:
            two = second()
            done.append((first(), two))
    return done


def ratio_of(above: Sequence[float], below: Sequence[float]) -> str:
    one = paired_ratio(above, below)
    low, high = one.low or one.least, one.high or one.most
    return f"{one.estimate:.2f} [{low:.2f}, {high:.2f}]"


def burst(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Exposed output: with time to drain while computing, and without."""
    rows = []
    for name in chosen.on:
        with places(programs, chosen.ceph)[name]() as at:
            for compute in (chosen.compute, 0):
                words = ["burst", "2", "10", str(64 * MIB), str(compute)]
                runs = pairs_of(
                    lambda: run(programs, words, at, None),  # noqa: B023
                    lambda: run(programs, words, at, {}),  # noqa: B023
                    chosen.pairs,
                )
                plain = [one.told["output_s"] for one, _ in runs]
                pooled = [two.told["output_s"] for _, two in runs]
                rows.append(
                    (
                        name,
                        f"{compute / 1000:g} s",
                        f"{median(plain):.2f}",
                        f"{median(pooled):.3f}",
                        ratio_of(plain, pooled),
                        ratio_of(pooled, [two.told["memcpy_s"] for _, two in runs]),
                        ratio_of(
                            [two.whole_s for _, two in runs], [one.whole_s for one, _ in runs]
                        ),
                    )
                )
    return TextTable(
        title=f"2 ranks × 10 steps × 64 MiB, {chosen.pairs} pairs",
        header=(
            "file system", "computing between steps", "output, plain, s", "output, pool, s",
            "plain by pool", "pool by memcpy", "until all is written, pool by plain",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def calls(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Nanoseconds of a call."""
    rows = []
    with tmpfs() as at:
        words = ["calls", "20000"]
        runs = pairs_of(
            lambda: run(programs, words, at, None),
            lambda: run(programs, words, at, {}),
            chosen.pairs,
        )
        for key in ("write_p50_ns", "write_p99_ns", "read_p50_ns", "read_p99_ns"):
            plain = [one.told[key] for one, _ in runs]
            pooled = [two.told[key] for _, two in runs]
            rows.append(
                (key, f"{median(plain):.0f}", f"{median(pooled):.0f}", ratio_of(plain, pooled))
            )
    return TextTable(
        title=f"A call of 4 KiB on tmpfs, {chosen.pairs} pairs",
        header=("what", "plain, ns", "pool, ns", "plain by pool"),
        rows=tuple(rows),
    )


WAYS = {"burst": burst, "calls": calls}


def build(folder: Path) -> Programs:
    """Compiles the programs."""
    loads, slow_fs = folder / "pool_loads", folder / "slow_fs"
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "fuse3"], check=True, capture_output=True, text=True
    ).stdout.split()
    source = ROOT / "bench" / "pool_loads.c"
    subprocess.run(["cc", "-O2", "-o", loads, source, "-lpthread"], check=True)
    slow = ROOT / "tests" / "mpi" / "slow_fs.c"
    words = ["cc", "-O2", "-D_FILE_OFFSET_BITS=64", "-o", slow_fs, slow, *flags, "-lpthread"]
    subprocess.run(words, check=True)
    return Programs(loads=loads, slow_fs=slow_fs)


def circumstances() -> str:
    commit, modified = this_commit(ROOT)
    machine = this_machine({})
    words = ["python", "-m", "bench.pool", *sys.argv[1:]]
    return (
        f"```sh\n{shlex.join(words)}\n```\n\n"
        f"Commit `{commit}`{' (modified)' if modified else ''}, "
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC. {machine.processor}, {machine.cores} cores, "
        f"Linux {machine.kernel}; load before {os.getloadavg()[0]:.2f}."
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=WAYS)
    parser.add_argument("--on", default="limited50", type=lambda text: text.split(","))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--compute", type=int, default=3000, help="milliseconds (3000)")
    parser.add_argument("--ceph", type=Path)
    parser.add_argument("--docs", type=Path, help="put the table between this file's markers")
    chosen = parser.parse_args()
    before = circumstances()
    with tempfile.TemporaryDirectory() as folder:
        table = WAYS[chosen.what](build(Path(folder)), chosen)
    publish("\n\n".join([before, markdown(table)]), f"pool_{chosen.what}", chosen.docs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
