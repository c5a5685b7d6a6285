"""The setting pool_mount: programs that nobody can capture run in a mount that is gone behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from suite import mounted as mo
from suite import mpi as m
from suite.verdict import ensure

pytestmark = mo.needs_mount


def _environment() -> dict[str, str]:
    return {
        **m.clean_environment(),
        "PYTHONPATH": str(m.ROOT / "python"),
        "FOREBAY_LIBDIR": str(m.LIBRARIES),
    }


def _words(*words: str) -> list[str]:
    return [sys.executable, "-m", "forebay", *words]


def _forebay(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _words(*words),
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=mo.SECONDS_MAX,
        check=False,
    )


def test_a_run_mounts_and_unmounts(below: Path) -> None:
    script = "grep -q fuse.forebay /proc/self/mountinfo && seq 300000 > out && seq 5 >> out"
    done = _forebay(
        below, "run", "--pool", ".", "--set", "pool_mount=require", "--", "sh", "-c", script
    )
    ensure(done.returncode == 0, done.stderr)
    ensure("1 file" in done.stderr, f"nothing went through the pool:\n{done.stderr}")
    ensure(not mo.is_mounted(below), "it is still mounted")
    numbers = [*range(1, 300001), *range(1, 6)]
    ensure((below / "out").read_text().split() == [str(one) for one in numbers], "not all is there")


def test_a_run_captures_programs_in_the_mount_if_it_is_told_to(below: Path) -> None:
    settings = ("--set", "pool_mount=require", "--set", "pool_mount_captured=true")
    words = (sys.executable, "-c", mo.CAPTURED)
    done = _forebay(below, "run", "--pool", ".", *settings, "--", *words)
    ensure(done.returncode == 0, done.stderr)
    ensure((below / "out").read_bytes() == b"x" * (1 << 20), "not all is there")


def test_a_run_that_is_killed_leaves_no_mount(below: Path) -> None:
    words = _words("run", "--pool", ".", "--set", "pool_mount=require", "--", "sleep", "100")
    with subprocess.Popen(
        words,
        cwd=below,
        env=_environment(),
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        try:
            _wait(lambda: mo.is_mounted(below))
            (below / "seen").write_text("text")
        finally:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait(mo.SECONDS_MAX)
    _wait(lambda: not mo.is_mounted(below))
    ensure((below / "seen").read_text() == "text", "the directory below is not back")


def test_a_pool_that_stays_is_mounted_until_it_is_stopped(below: Path) -> None:
    socket = below.with_name("s")
    socket.mkdir(mode=0o700)
    at = ("--socket", str(socket / "pool"))
    done = _forebay(below, "pool", "start", *at, "--set", "pool_mount=require", str(below))
    ensure(done.returncode == 0 and "cd ." in done.stderr, done.stderr)
    ensure("libforebay_posix" not in done.stdout, "programs are captured, too")
    ensure(mo.is_mounted(below), "nothing is mounted")
    mo.run_in(below, "sh", "-c", "seq 300000 > out")
    ended = _forebay(below, "pool", "stop", *at)
    ensure(ended.returncode == 0, ended.stderr)
    _wait(lambda: not mo.is_mounted(below))
    ensure(len((below / "out").read_text().split()) == 300000, "not all is there")


def test_a_dead_mount_is_removed_by_the_next(below: Path) -> None:
    words = [str(mo.PROGRAM), str(below)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as first:
        if first.stdout:
            first.stdout.readline()
        watcher = _children(first.pid)
        for process in (*watcher, first.pid):
            os.kill(process, signal.SIGKILL)
        first.wait(mo.SECONDS_MAX)
    ensure(mo.is_mounted(below), "somebody has unmounted it")
    with subprocess.Popen(words, stdout=subprocess.PIPE) as second:
        try:
            said = second.stdout.readline() if second.stdout else b""
            ensure(b"ready" in said, "it does not mount")
            (below / "file").write_text("text")
        finally:
            mo.unmount(below)
            second.wait(mo.SECONDS_MAX)
    ensure((below / "file").read_text() == "text", "it is not below")


def _children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


def _wait(holds: object) -> None:
    assert callable(holds)
    deadline = time.monotonic() + mo.SECONDS_MAX
    while not holds():
        ensure(time.monotonic() < deadline, "it does not come")
        time.sleep(0.02)


def test_a_run_tells_that_its_mount_was_killed(below: Path) -> None:
    script = "echo text > file; echo; read line; cd /; until cat $1/file; do :; done"
    words = _words("run", "--pool", ".", "--set", "pool_mount=require", "--", "sh", "-c", script)
    with subprocess.Popen(
        [*words, "sh", str(below)],
        cwd=below,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        ensure(run.stdout is not None and run.stdout.readline() == "\n", "not begun")
        os.kill(_server_of(run.pid), signal.SIGKILL)
        said, errors = run.communicate("go on\n", timeout=mo.SECONDS_MAX)
    ensure(said == "text\n" and run.returncode == 0, said)
    ensure("ended while the program ran (forebay-mount: SIGKILL ended it)" in errors, errors)


def _server_of(process: int) -> int:
    """The forebay-mount that this process has started."""
    names = {
        one: Path(f"/proc/{one}/comm").read_text(encoding="utf-8") for one in _children(process)
    }
    return next(one for one, name in names.items() if name.strip() == mo.PROGRAM.name)
