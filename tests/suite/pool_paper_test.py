"""`pool_consistency = paper`: the same bytes as plain, and the summary says what it left out."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from suite.command import forebay
from suite.pool_run_test import run_json, told_once
from suite.verdict import ensure

MIB = 1 << 20
PAPER = ("--set", "pool_consistency=paper", "--set", "pool_window=2MiB")
REASON = "read and written (pool_consistency=paper)"

# Files that are only written, only read, one after the other, and both at a time. Prints what it
# has read.
PROGRAM = """
import hashlib, os, random
dice = random.Random(7)
MIB = 1 << 20
digest = hashlib.sha256()

def opened(name, flags):
    return os.open(name, flags | os.O_CREAT, 0o644)

file = opened("written", os.O_WRONLY)
for number in range(64):
    os.write(file, dice.randbytes(128 << 10))
for number in range(400):
    os.pwrite(file, dice.randbytes(8 << 10), dice.randrange(8 * MIB))
os.fsync(file)
os.ftruncate(file, 8 * MIB - 5)
os.close(file)

file = opened("written", os.O_RDONLY)
while some := os.read(file, 128 << 10):
    digest.update(some)
for number in range(100):
    digest.update(os.pread(file, 8 << 10, number % 8 * MIB + number * 4096))
os.close(file)

file = opened("both", os.O_RDWR)
for number in range(40):
    os.pwrite(file, dice.randbytes(100_000), number * 100_000)
    digest.update(os.pread(file, 50_000, dice.randrange(number * 100_000 + 1)))
os.close(file)

writer, reader = opened("shared", os.O_WRONLY), opened("shared", os.O_RDONLY)
for number in range(40):
    os.pwrite(writer, dice.randbytes(100_000), number * 100_000)
    digest.update(os.pread(reader, 100_000, number * 100_000))
os.close(reader)
os.close(writer)
print(digest.hexdigest())
"""
NAMES = ("written", "both", "shared")


def digests(folder: Path) -> list[str]:
    return [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in NAMES]


def test_a_program_leaves_the_bytes_and_reads_the_bytes_that_it_does_plain(folder: Path) -> None:
    plain, pooled = folder / "plain", folder / "pooled"
    plain.mkdir()
    pooled.mkdir()
    words = (sys.executable, "-c", PROGRAM)
    alone = forebay("run", "--", *words, cwd=plain)
    status, told, summary = run_json(pooled, *PAPER, "--pool", ".", "--", *words)
    ensure(alone.returncode == status == 0, alone.stderr)
    ensure(told == alone.stdout, "it has read other bytes")
    ensure(digests(pooled) == digests(plain), "it has left other bytes")
    files = {Path(file["path"]).name: file for file in summary["pool"]["files"]}
    reasons = {name: files[name]["past_the_pool"] for name in NAMES}
    ensure(reasons == {"written": None, "both": REASON, "shared": REASON}, f"{reasons}")
    ensure(files["written"]["taken"] >= 11 * MIB, files["written"])


def test_the_summary_says_which_file_was_read_and_written(folder: Path) -> None:
    words = ("--pool", ".", "--", sys.executable, "-c", PROGRAM)
    done = forebay("run", *PAPER, *words, cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    ensure(done.stderr.count(REASON) == 2, f"two files have left:\n{done.stderr}")
    told_once(f"{folder / 'written'}", done.stderr)
    done = forebay("run", *words, cwd=folder)
    ensure(REASON not in done.stderr, f"the pool's own way is another:\n{done.stderr}")
