"""A journal of the least size goes round; one that is damaged is told and writes nothing; and where
durability ends before the program does, that is said."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from suite import mpi as m
from suite.command import FOREBAY
from suite.conversation import opened
from suite.file_systems import fuse_file_system, until
from suite.pool import pool
from suite.pool_journal_test import files_of, journaled, notes, start, told, writes
from suite.verdict import ensure

GROUP_MAGIC = b"fbyjrnl2"


def segments_of(folder: Path) -> list[Path]:
    """Those that something was written to, the newest last."""
    found = sorted((folder / "journal").glob("segment-*"))
    return [one for one in found if one.open("rb").read(8) == GROUP_MAGIC]


def flip(path: Path, at: int, mask: int = 1) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ mask]))


def left_by_a_killed_daemon(folder: Path, count: int = 100) -> tuple[Path, Mapping[str, str]]:
    """A journal with so many acknowledged writes of which none is in the file."""
    files, settings = files_of(folder), journaled(folder)
    with pool(files, settings) as one, told(one) as program:
        fd = opened(program, files / "file")
        for part in range(count):
            writes(program, fd, part, part * 1000)
        head, newest = folder / "journal" / "head", segments_of(folder)[-1]
        ensure(
            until(lambda: head.stat().st_mtime_ns > newest.stat().st_mtime_ns, 180),
            "its head does not know the last group",
        )
        one.kill()
    ensure((files / "file").stat().st_size == 0, "it was drained")
    return files, settings


def test_a_journal_of_the_least_size_goes_round(folder: Path) -> None:
    """It ended after its first segment: ENOSPC, and nothing was durable any more."""
    files = files_of(folder)
    settings = journaled(folder, pool_journal_size="64MiB")
    with pool(files, settings) as one, told(one) as program:
        fd = opened(program, files / "file")
        for part in range(100):
            writes(program, fd, part, part % 10 * 1_000_000, 1_000_000)
            ensure(not one.status().durability_ended, f"at write {part}: {notes(one)}")
        ensure(len(list((folder / "journal").glob("segment-*"))) == 2, "it has grown")
        one.kill()
    with pool(files, settings):
        expected = b"".join(bytes([part]) * 1_000_000 for part in range(90, 100))
        ensure((files / "file").read_bytes() == expected, "other bytes")


def first_group(path: Path) -> None:
    flip(path, 150)


def first_header(path: Path) -> None:
    flip(path, 24)


def last_group(path: Path) -> None:
    """The head knows it by then."""
    data = path.read_bytes()
    flip(path, data.rfind(GROUP_MAGIC) + 150)


def gone(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))


@pytest.mark.parametrize("damage", [first_group, first_header, last_group, gone, empty])
def test_damage_to_the_newest_segment_is_told(damage: Callable[[Path], None], folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder)
    damage(segments_of(folder)[-1])
    said = start(files, settings)
    ensure("cannot replay the journal" in said and "it is damaged" in said, said)
    ensure((files / "file").stat().st_size == 0, "something was written all the same")


def test_a_head_that_is_gone_is_told(folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder)
    (folder / "journal" / "head").unlink()
    ensure("its head is damaged, gone" in start(files, settings), "nothing is said")


def test_one_wrong_bit_in_the_head_loses_nothing(folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder)
    flip(folder / "journal" / "head", 40)
    with pool(files, settings) as one:
        ensure((files / "file").stat().st_size == 100_000, notes(one))
        ensure("one of the two heads" in notes(one), notes(one))


def test_a_journal_of_the_format_before_is_told(folder: Path) -> None:
    files, settings = files_of(folder), journaled(folder)
    (folder / "journal").mkdir(mode=0o700)
    old = folder / "journal" / "segment-000000"
    old.touch(mode=0o600)
    old.write_bytes(b"fbyjrnl1" + bytes(8184))
    ensure("an older version of Forebay" in start(files, settings), "nothing is said")
    ensure(old.read_bytes().startswith(b"fbyjrnl1"), "it was written over")


def test_where_durability_ends_before_the_program_it_is_said(folder: Path) -> None:
    files = files_of(folder)
    (folder / "fails").mkdir()
    fails, report = folder / "it-fails", folder / "summary.txt"
    code = (
        "import os, sys, pathlib\n"
        "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
        "os.pwrite(fd, b'1' * 1000, 0)\n"
        "pathlib.Path(sys.argv[2]).touch()\n"
        "os.pwrite(fd, b'2' * 1000, 1000)\n"
    )
    with fuse_file_system(folder / "fails", "failing_fs.c", "0", fails) as mount:
        words = ["--set", "pool_durability=node", "--set", f"pool_journal={mount}/journal", "--"]
        program = [sys.executable, "-c", code, str(files / "file"), str(fails)]
        done = subprocess.run(
            [*FOREBAY, "run", "--pool", files, "--summary", report, *words, *program],
            capture_output=True,
            text=True,
            check=False,
            env={**m.clean_environment(), "PATH": os.environ["PATH"]},
            timeout=100,
        )
        fails.unlink()
    ensure(done.returncode == 75, f"status {done.returncode}: {done.stderr}")
    said = report.read_text()
    ensure("DURABILITY ENDED BEFORE THE PROGRAM DID" in said, said)
    ensure((files / "file").read_bytes() == b"1" * 1000 + b"2" * 1000, "other bytes")
    ensure("cannot write the journal" in said, said)
