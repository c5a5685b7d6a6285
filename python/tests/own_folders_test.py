"""The next run removes the folders of a run that was killed, and nothing else."""

import dataclasses
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forebay.common.files.own_folders import make_folder, remove_stale
from forebay.common.files.records import RecordFiles
from forebay.machine_ports import World
from forebay.pool.files.pools import LocalPools
from forebay.pool.model.pool import Rescued

MakeWorld = Callable[..., World]
PREFIX = "forebay-run-"
OTHER = """
import sys
from pathlib import Path
from forebay.common.files.own_folders import make_folder
print(make_folder(sys.argv[1], Path(sys.argv[2])), flush=True)
sys.stdin.read()
"""


@contextmanager
def other_run(parent: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    words = [sys.executable, "-c", OTHER, PREFIX, str(parent)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as other:
        assert other.stdout is not None
        try:
            yield other, Path(other.stdout.readline().strip())
        finally:
            other.kill()


def killed_run(parent: Path) -> Path:
    with other_run(parent) as (other, folder):
        (folder / "record").write_text("what it had written")
        other.send_signal(signal.SIGKILL)
        other.wait()
    return folder


def test_a_folder_of_a_killed_run_is_removed(tmp_path: Path) -> None:
    folder = killed_run(tmp_path)
    assert folder.is_dir()
    remove_stale(PREFIX, tmp_path)
    assert not folder.exists()


def test_a_folder_of_a_run_that_lives_stays(tmp_path: Path) -> None:
    own = make_folder(PREFIX, tmp_path)
    with other_run(tmp_path) as (_, folder):
        remove_stale(PREFIX, tmp_path)
        assert folder.is_dir()
    assert own.is_dir()


def test_a_folder_whose_daemon_drains_stays(tmp_path: Path) -> None:
    folder = killed_run(tmp_path)
    with (folder / "pool.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_stale(PREFIX, tmp_path)
        assert folder.is_dir()
    remove_stale(PREFIX, tmp_path)
    assert not folder.exists()


def test_what_is_not_a_runs_own_stays(tmp_path: Path) -> None:
    unmarked = tmp_path / f"{PREFIX}unmarked"
    unmarked.mkdir(mode=0o700)
    open_to_others = killed_run(tmp_path)
    open_to_others.chmod(0o755)
    of_another_node = killed_run(tmp_path)
    (of_another_node / "in-use").write_text("elsewhere")
    target = killed_run(tmp_path).rename(tmp_path / "target")
    link = tmp_path / f"{PREFIX}link"
    link.symlink_to(target)
    kept = [unmarked, open_to_others, of_another_node, target, link]
    if os.geteuid() == 0:
        foreign = killed_run(tmp_path)
        os.chown(foreign, 65534, 65534)
        kept.append(foreign)
    remove_stale(PREFIX, tmp_path)
    assert all(one.is_dir() for one in kept)


def test_a_mark_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = killed_run(tmp_path)
    (folder / "in-use").rename(tmp_path / "mark")
    (folder / "in-use").symlink_to(tmp_path / "mark")
    remove_stale(PREFIX, tmp_path)
    assert folder.is_dir()


def test_the_next_run_removes_the_record_of_a_killed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = killed_run(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    record = RecordFiles().temporary(shared=False)
    assert record.parent.is_dir()
    assert not folder.exists()


def report(rescued: Rescued) -> str:
    body = {
        "process": 77, "uptime_seconds": 3.0, "ended": True, "closing": True, "cap": 1 << 30,
        "leased": 0, "high": 0, "read_ahead_held": 0, "read_ahead": 0, "lag": 0,
        "oldest_seconds": 0.0, "clients": [], "files": [], "files_dropped": 0,
        "read_from_nodes": 0, "passed_to_nodes": 0, "written_by_nodes": 0, "written_for_nodes": 0,
        "wait_bounds_seconds": [], "waits": [],
        "notes": [], "host": "n0", "memory": 0,
        "memory_limit_file": "", "durability_ended": "", "storage_seconds": 0.0, "clients_high": 0,
        "rescued": [dataclasses.asdict(rescued)],
    }  # fmt: skip
    return json.dumps({"schema": "forebay.pool/1", **body})


def test_the_next_run_tells_what_a_killed_one_has_left(
    tmp_path: Path, make_world: MakeWorld
) -> None:
    pools = LocalPools(make_world().libraries, environment={"XDG_RUNTIME_DIR": str(tmp_path)})
    folder = killed_run(tmp_path).rename(tmp_path / "forebay-pool-x")
    lost = Rescued(
        path="/a b", error=28, error_text="No space left", bytes=6, file="/r/1-b", problem=""
    )
    (folder / "pool.report").write_text(report(lost))
    told = [one for one in pools.left_behind() if "/r/1-b" in one]
    assert told == [
        "a run before this one was killed, and 6 B of /a\\ b did not arrive (No space left). "
        "Write them by: forebay pool rescue /r/1-b"
    ]
    assert not folder.exists()


def test_the_next_run_tells_that_the_daemon_of_a_killed_one_was_killed(
    tmp_path: Path, make_world: MakeWorld
) -> None:
    pools = LocalPools(make_world().libraries, environment={"XDG_RUNTIME_DIR": str(tmp_path)})
    folder = killed_run(tmp_path).rename(tmp_path / "forebay-pool-x")
    (folder / "pool.lock").write_text("4711")
    assert [one for one in pools.left_behind() if "so was its pool's daemon" in one]
    assert not folder.exists()
