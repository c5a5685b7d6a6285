"""Daemons and mounts that do not start: nothing of them is left behind. Shell scripts stand for
them."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from forebay.common.model.errors import PoolStartError
from forebay.pool.files import daemon, daemon_start, fleet, mounts
from forebay.pool.model.mounting import MountChoice
from forebay.pool.model.place import PoolPlace

Started = list[subprocess.Popen[bytes]]
START = [daemon_start.start_own, daemon_start.start_detached]
NEVER_READY = "exec sleep 600"
DEAF = "trap '' TERM; while :; do sleep 1; done"
READY = """echo '{"schema": "forebay.pool.ready/1", "node": NODE, "address": "a"}'
"""
TWICE_THE_SAME_NODE = READY.replace("NODE", "0") * 2 + "while read -r line; do :; done"
NEVER_JOINS = (
    READY.replace("NODE", "0") + READY.replace("NODE", "1") + 'read -r line; echo "$line" > peers'
)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """All processes that the pool starts; killed at the end of the test."""
    found: Started = []
    real = subprocess.Popen

    def popen(*words: object, **options: object) -> subprocess.Popen[bytes]:
        found.append(real(*words, **options))  # type: ignore[call-overload]
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    yield found
    for one in found:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
        one.wait()


def place(folder: Path, **changes: object) -> PoolPlace:
    usual = {"socket": folder / "run" / "pool", "environment": dict(os.environ), "folder": folder}
    return PoolPlace(**{**usual, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("start", START)
def test_a_daemon_that_was_not_ready_in_time_ran_on(
    start: Callable[[Path, PoolPlace], object],
    processes: Started,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(daemon_start, "_READY_SECONDS_MAX", 0.0)
    with pytest.raises(PoolStartError, match="not ready after"):
        start(script(tmp_path / "forebayd", NEVER_READY), place(tmp_path))
    assert [one.returncode for one in processes] == [-signal.SIGTERM]


@pytest.mark.parametrize("start", START)
def test_a_daemon_ran_on_where_ctrl_c_came_before_it_was_ready(
    start: Callable[[Path, PoolPlace], object],
    processes: Started,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(daemon_start, "_ready", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start(script(tmp_path / "forebayd", NEVER_READY), place(tmp_path))
    assert [one.returncode for one in processes] == [-signal.SIGTERM]


def test_a_daemon_that_cannot_end_yet_is_not_waited_for_for_ever(
    processes: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_start, "_END_SECONDS_MAX", 0.0)
    text = f"trap '' TERM; echo; {DEAF}"  # the line is no ready line, and comes behind the trap
    with pytest.raises(PoolStartError):
        daemon_start.start_detached(script(tmp_path / "forebayd", text), place(tmp_path))
    assert [one.poll() for one in processes] == [None]


def launched(folder: Path, daemon_text: str) -> tuple[Path, PoolPlace]:
    """A daemon's program, and a place with two nodes, of which a launcher starts one task."""
    shared = folder / "shared"
    shared.mkdir()
    where = place(folder, nodes=2, starter=("env", "PMI_RANK=1"), shared=shared)
    return script(folder / "forebayd", daemon_text), where


def test_tasks_of_daemons_that_did_not_meet_ran_on(processes: Started, tmp_path: Path) -> None:
    program, where = launched(tmp_path, TWICE_THE_SAME_NODE)
    with pytest.raises(PoolStartError, match="1 different ones of 2"):
        fleet.start_fleet(program, where)
    assert all(one.returncode is not None for one in processes)
    assert list((tmp_path / "shared").iterdir()) == []


def test_the_secret_of_daemons_that_did_not_join_stayed_in_the_shared_folder(
    processes: Started, tmp_path: Path
) -> None:
    program, where = launched(tmp_path, NEVER_JOINS)
    with pytest.raises(PoolStartError, match="ended with status 0"):
        fleet.start_fleet(program, where)
    assert '"secret"' in (tmp_path / "peers").read_text()
    assert all(one.returncode is not None for one in processes)
    assert list((tmp_path / "shared").iterdir()) == []


def test_a_mailbox_folder_stayed_where_the_log_could_not_be_written(tmp_path: Path) -> None:
    program, where = launched(tmp_path, NEVER_JOINS)
    where.socket.parent.mkdir(mode=0o700)
    daemon_start.log_of(where.socket).mkdir()
    with pytest.raises(PoolStartError, match="cannot write the messages"):
        fleet.start_fleet(program, where)
    assert list((tmp_path / "shared").iterdir()) == []


def test_a_mount_that_failed_left_the_others_as_zombies(processes: Started, tmp_path: Path) -> None:
    text = 'case "$*" in */good) echo; exec sleep 600 ;; esac; exit 1'
    program = script(tmp_path / "forebay-mount", text)
    paths = [tmp_path / "good", tmp_path / "bad"]
    with pytest.raises(PoolStartError, match=r"cannot mount over .*bad"):
        mounts.mount_detached(program, paths, tmp_path / "pool", MountChoice())
    assert [one.returncode for one in processes] == [-signal.SIGTERM, 1]


def test_a_mount_that_failed_left_its_reason_in_a_log_that_goes_with_the_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "mount.log").write_text("forebay-mount: of an earlier one\n")
    text = 'echo "forebay-mount: cannot mount over /x (why). Do that." >&2; echo more >&2; exit 1'
    program = script(tmp_path / "forebay-mount", text)
    with pytest.raises(PoolStartError, match=r"^cannot mount over /x \(why\)\. Do that\.$"):
        mounts.mount_detached(program, [tmp_path], tmp_path / "pool", MountChoice())
    silent = script(tmp_path / "silent", "exit 1")
    with pytest.raises(PoolStartError, match="did not begin"):
        mounts.mount_detached(silent, [tmp_path], tmp_path / "pool", MountChoice())


def test_a_number_that_is_no_signal_ended_the_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's sigtimedwait() returns rubbish where the seconds pass while we are stopped."""
    real, calls = signal.sigtimedwait, count()

    def sometimes_rubbish(watched: set[signal.Signals], seconds: float) -> object:
        if next(calls) == 0:
            return signal.struct_siginfo((0, 0, 0, 0, 0, 0, 0))
        return real(watched, seconds)

    monkeypatch.setattr(signal, "sigtimedwait", sometimes_rubbish)
    with daemon.signals_held() as arrived:
        assert arrived(0.0) is None
        # Not SIGINT, which is ignored where the tests run in the background of a shell. A child of
        # an earlier test may end first.
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        assert (arrived(60.0) or arrived(60.0)) is signal.SIGTERM


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (-9, "SIGKILL ended it"),
        (-35, "signal 35 ended it"),
        (3, "it ended with status 3"),
        (None, "it ended with status None"),
    ],
)
def test_a_daemon_that_a_real_time_signal_ended_was_no_report(code: int | None, why: str) -> None:
    assert daemon_start.death_of(code) == why
