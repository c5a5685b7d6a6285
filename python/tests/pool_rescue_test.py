"""Rescue files: what they finish, and what they leave alone."""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from forebay.common.model.errors import RescueError
from forebay.pool.files.rescue_files import RescueFiles
from forebay.pool.model.rescue import RUN_HEADER, RescueOutcome
from forebay.pool.use_case.rescue import RescueRequest, rescue

RUNS = ((3, b"abc"), (1 << 20, b"far away"))


def kept(folder: Path, target: Path, *, damage: bool = False, **changes: Any) -> Path:
    """A rescue file as schema/rescue.md has it."""
    found = target.stat()
    head = {
        "path": str(target), "device": found.st_dev, "inode": found.st_ino, "error": 28,
        "runs": len(RUNS), "bytes": sum(len(data) for _, data in RUNS),
        "kept_ns": found.st_mtime_ns + 1, **changes,
    }  # fmt: skip
    text = b"forebay.rescue/1\n" + json.dumps(head).encode() + b"\n"
    for number, (offset, data) in enumerate(RUNS):
        checksum = zlib.crc32(data) ^ int(damage and number == 0)
        text += RUN_HEADER.pack(offset, len(data), checksum, 0) + data
    made = folder / "forebay-rescue-1-1"
    made.mkdir()
    path = made / "1-out"
    path.write_bytes(text)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.write_bytes(b"012345")
    return path


def finish(path: Path, **more: Any) -> RescueOutcome:
    (one,) = rescue(RescueRequest(paths=(path,), **more), RescueFiles())
    return one


def test_rescued_bytes_are_written_and_removed(tmp_path: Path, target: Path) -> None:
    path = kept(tmp_path, target)
    assert finish(path, dry_run=True).written == 11
    assert target.read_bytes() == b"012345"
    done = finish(tmp_path / "forebay-rescue-1-1")
    assert (done.written, done.problem, done.is_removed) == (11, None, True)
    data = target.read_bytes()
    assert data[:6] == b"012abc"
    assert data[1 << 20 :] == b"far away"
    assert not path.parent.exists()


def test_another_file_and_a_changed_one_are_left_alone(tmp_path: Path, target: Path) -> None:
    path = kept(tmp_path, target, kept_ns=target.stat().st_mtime_ns - 1)
    assert "changed after" in str(finish(path).problem)
    target.rename(tmp_path / "old")
    target.write_bytes(b"new")
    assert "another file" in str(finish(path).problem)
    target.unlink()
    assert "not there any more" in str(finish(path).problem)
    assert not target.exists()
    assert path.exists()
    assert finish(path, force=True).is_removed
    assert target.read_bytes()[3:6] == b"abc"


def test_damaged_runs_are_kept_and_only_force_writes_the_others(
    tmp_path: Path, target: Path
) -> None:
    path = kept(tmp_path, target, damage=True)
    done = finish(path)
    assert "1 of 2 runs" in str(done.problem)
    assert done.written == 0
    assert target.read_bytes() == b"012345"
    done = finish(path, force=True)
    assert (done.written, done.is_removed) == (8, False)
    assert target.read_bytes()[:6] == b"012345"
    assert path.exists()


def test_a_rescue_file_that_ends_early_is_damaged(tmp_path: Path, target: Path) -> None:
    path = kept(tmp_path, target)
    path.write_bytes(path.read_bytes()[:-1])
    assert "1 of 2 runs" in str(finish(path).problem)
    path.write_bytes(path.read_bytes()[:-30])
    assert "1 of 2 runs" in str(finish(path).problem)


def test_a_cut_name_needs_into(tmp_path: Path, target: Path) -> None:
    path = kept(tmp_path, target, path="end/of/it")
    assert "--into" in str(finish(path).problem)
    other = tmp_path / "other"
    assert finish(path, into=other).is_removed
    assert other.read_bytes()[3:6] == b"abc"


def test_what_is_no_rescue_file_is_told(tmp_path: Path, target: Path) -> None:
    with pytest.raises(RescueError, match="is no rescue file") as told:
        finish(target)
    assert "kept" not in str(told.value)
    with pytest.raises(RescueError, match="no such file"):
        finish(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RescueError, match="no rescue file is in"):
        finish(tmp_path / "empty")
    damaged = tmp_path / "damaged"
    damaged.write_bytes(b"forebay.rescue/1\n{}\n")
    assert "second line is damaged" in str(finish(damaged).problem)
