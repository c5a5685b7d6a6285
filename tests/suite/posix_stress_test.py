"""fio, which verifies what it wrote, and stress-ng, which judges what calls return."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

FIO: Mapping[str, Sequence[str]] = {
    "random": ["--ioengine=psync", "--rw=randwrite"],
    "sequential": ["--ioengine=sync", "--rw=write", "--bs=1k-200k", "--bs_unaligned"],
    "mixed": ["--ioengine=sync", "--rw=randrw", "--bsrange=512-64k"],
    "vectors": ["--ioengine=vsync", "--rw=randwrite", "--iodepth=8"],
    "pvsync": ["--ioengine=pvsync", "--rw=randrw", "--fsync=16"],
    "pvsync2": ["--ioengine=pvsync2", "--rw=write", "--fdatasync=10"],
    "mmap": ["--ioengine=mmap", "--rw=randwrite"],
    "libaio": ["--ioengine=libaio", "--rw=randwrite", "--iodepth=16"],
    "posixaio": ["--ioengine=posixaio", "--rw=randwrite", "--iodepth=8"],
    "io_uring": ["--ioengine=io_uring", "--rw=randwrite", "--iodepth=16"],
    "threads": ["--ioengine=psync", "--rw=randwrite", "--numjobs=4", "--thread"],
    "jobs": ["--ioengine=psync", "--rw=randwrite", "--numjobs=4", "--end_fsync=1"],
    "sparse": ["--ioengine=psync", "--rw=randwrite", "--fallocate=none", "--norandommap"],
    "append": ["--ioengine=psync", "--rw=write", "--file_append=1"],
}
FIO_WORDS: Sequence[str] = (
    "fio",
    "--name=verified",
    "--size=8M",
    "--bs=4k",
    "--verify=crc32c",
    "--group_reporting",
    "--do_verify=1",
    "--verify_fatal=1",
    "--randrepeat=1",
    "--output-format=terse",
)
LEAVES = ("mmap", "libaio", "posixaio", "io_uring")
KEPT_AND_EAGER = pytest.mark.parametrize(
    "settings",
    [pytest.param(pooled.KEPT, id="kept", marks=FULL), pytest.param(pooled.EAGER, id="eager")],
)


@pytest.mark.parametrize(
    "mode", [pytest.param(m, marks=() if m == "random" else FULL) for m in FIO]
)
@KEPT_AND_EAGER
def test_fio(mode: str, settings: Mapping[str, str], folder: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("there is no fio. Install it.")
    with pooled.pool(folder, settings) as served:
        said = pooled.run([*FIO_WORDS, *FIO[mode]], served.folder, served.environment())
        ensure("verify:" not in said and "error=" not in said, said[-1500:])
        ensure(mode in LEAVES or served.taken() > 0, "nothing was deposited")
        # And once more by another process, of what is still in the pool or was drained.
        if mode not in ("append", "mixed", "pvsync", "sparse"):
            again = pooled.run(
                [*FIO_WORDS, *FIO[mode], "--verify_only"], served.folder, served.environment()
            )
            ensure("verify:" not in again, again[-1500:])


def _verdicts(said: str) -> set[tuple[str, str]]:
    """stress-ng's verdicts on stressors that are not as they should be, and on the whole run."""
    found = {(name, "failed") for name in re.findall(r"fail: +\[\d+\] ([\w-]+):", said)}
    found |= {(name, "skipped") for name in re.findall(r"\] ([\w-]+):.*skipping", said)}
    found |= {(name, "aborted") for name in re.findall(r"\(([\w-]+)\) aborted", said)}
    return found | {("run", verdict) for verdict in re.findall(r"((?:un)?successful) run", said)}


def stressors_as_plain(
    folder: Path,
    there: Path,
    environment: Mapping[str, str],
    *,
    skipped: frozenset[str] = frozenset(),
) -> None:
    """stress-ng judges the calls of programs in the folder `there`, with that environment, as those
    in a plain one, which is made in `folder`. The stressors `skipped` may be impossible there."""
    if shutil.which("stress-ng") is None:
        pytest.skip("there is no stress-ng. Install it.")
    command = ["stress-ng", "--class", "filesystem", "--seq", "1", "--timeout", "1", "--verify"]
    command += ["--temp-path", ".", "--no-rand-seed", "--metrics-brief"]
    # It waits for an end of what happens in the whole file system, whoever does it.
    command += ["--exclude", "fanotify"]
    plain = folder / "plain"
    plain.mkdir()
    expected = _verdicts(pooled.run(command, plain, {}, seconds_max=900, status=None))
    ensure(any(name == "run" for name, _ in expected), "stress-ng does not come to its end")
    said = pooled.run(command, there, environment, seconds_max=1800, status=None)
    other = sorted((_verdicts(said) ^ expected) - {(name, "skipped") for name in skipped})
    ensure(not other, f"not as plain: {other}\n{said[-3000:]}")


@FULL
def test_stress_ng(folder: Path) -> None:
    with pooled.pool(folder, pooled.EAGER) as served:
        stressors_as_plain(folder, served.folder, served.environment())
        ensure(served.taken() > 0, "nothing was deposited")
