"""Mounts by an ordinary user: fusermount3 makes and removes them, and says what it refuses."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite.ordinary_user import IS_ROOT, OrdinaryUser, ordinary_user, served
from suite.verdict import ensure

needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root has what this user may not do")
OBSERVER = m.ROOT / "tests" / "posix" / "mount_observer.py"


@pytest.fixture
def user() -> Iterator[OrdinaryUser]:
    with ordinary_user() as one:
        yield one


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + mo.SECONDS_MAX
    while not holds():
        ensure(time.monotonic() < deadline, what)
        time.sleep(0.01)


def refusal(user: OrdinaryUser, *words: str | Path, path: str = "/usr/bin") -> str:
    """The message of forebay-mount, with this PATH; it must not have mounted."""
    done = user.run("env", f"PATH={path}", mo.PROGRAM, *words, check=False)
    ensure(done.returncode == 1 and not done.stdout, f"it mounts:\n{done.stdout}{done.stderr}")
    folder = Path(str(words[-1]))
    ensure(done.stderr.startswith(f"forebay-mount: cannot mount over {folder} ("), done.stderr)
    listed = user.run("cat", "/proc/self/mountinfo").stdout.splitlines()
    over = [line for line in listed if line.split()[4] == str(folder)]
    ensure(not any("fuse.forebay" in line for line in over), "it is mounted")
    return done.stderr


def test_every_call_gives_a_user_what_it_gives_below(user: OrdinaryUser) -> None:
    plain, below = user.new_folder("plain"), user.new_folder("below")
    found = json.loads(user.run(user.python, OBSERVER, within=plain).stdout)
    with served(user, below):
        through = json.loads(user.run(user.python, OBSERVER, within=below).stdout)
    wrong = {
        name: (one, through[name])
        for name, one in found.items()
        if through[name] != one and through[name] != mo.DIFFERENT.get(name)
    }
    ensure(not wrong, f"below and through the mount: {wrong}")


def test_a_user_runs_a_program_through_the_pool_by_a_mount(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    listed = 'grep -q " $PWD .* fuse.forebay " /proc/self/mountinfo'
    script = f"{listed} && seq 300000 > out && seq 5 >> out"
    words = (*user.forebay, "run", "--pool", ".", "--set", "pool_mount=require", "--")
    done = user.run(*words, "sh", "-c", script, within=below)
    ensure("1 file" in done.stderr, f"nothing went through the pool:\n{done.stderr}")
    ensure(not user.is_mounted(below), "it is still mounted")
    numbers = [*range(1, 300001), *range(1, 6)]
    ensure((below / "out").read_text().split() == [str(one) for one in numbers], "not all is there")


def test_a_user_has_programs_captured_in_the_mount(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    settings = ("--set", "pool_mount=require", "--set", "pool_mount_captured=true")
    words = (*user.forebay, "run", "--pool", ".", *settings, "--", user.python, "-c", mo.CAPTURED)
    user.run(*words, within=below)
    ensure((below / "out").read_bytes() == b"x" * (1 << 20), "not all is there")


@needs_root
def test_another_user_is_refused_and_root_too(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    with served(user, below):
        user.run("sh", "-c", "echo text > file", within=below)
        with pytest.raises(PermissionError):
            (user.seen(below) / "file").read_text()
    ensure((below / "file").read_text() == "text\n", "it is not below")


@needs_root
def test_root_is_let_in_where_the_machine_and_the_user_allow_others() -> None:
    with ordinary_user(configuration="user_allow_other") as user:
        below = user.new_folder("below")
        with served(user, below, "--allow-other"):
            user.run("sh", "-c", "echo text > file", within=below)
            ensure((user.seen(below) / "file").read_text() == "text\n", "it is not served")


def test_a_users_path_is_back_when_the_server_is_killed(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    script = "open('used', 'wb')\nwith open('f', 'wb', buffering=0) as f:\n while 1: f.write(b'x')"
    with served(user, below) as server:
        user.run("sh", "-c", "echo text > file", within=below)
        with user.start(user.python, "-c", script, within=below) as busy:
            user_file = below / "used"
            until(
                lambda: user.run("test", "-e", user_file, check=False).returncode == 0, "not begun"
            )
            server.kill()
            ensure(busy.wait(mo.SECONDS_MAX) == 1, "the program was not told")
        until(lambda: not user.is_mounted(below), "it is still mounted")
        ensure(user.run("cat", "file", within=below).stdout == "text\n", "it is not back")


def test_a_users_path_is_back_when_the_daemon_is_killed(user: OrdinaryUser) -> None:
    below, at = user.new_folder("below"), user.new_folder("socket")
    at.chmod(0o700)
    words = ("pool", "start", "--socket", at / "pool", "--set", "pool_mount=require", below)
    done = user.run(*user.forebay, *words)
    ensure(user.is_mounted(below) and "root" in done.stderr, done.stderr)
    user.run("sh", "-c", "seq 300000 > out", within=below)
    listed = user.run("sh", "-c", f"cat {at}/pool.lock").stdout.split()
    os.kill(int(listed[0]), signal.SIGKILL)
    until(lambda: not user.is_mounted(below), "it is still mounted")
    user.run("ls", within=below)


def test_sigterm_unmounts_what_a_user_mounted(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    with served(user, below) as server:
        server.terminate()
        ensure(server.wait(mo.SECONDS_MAX) == 0, "it does not end well")
        ensure(not user.is_mounted(below), "it is still mounted")


def test_fusermount3_by_the_user_ends_a_mount_that_is_not_used(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    script = (
        "import sys\nwith open('f', 'w') as f:\n  print(1, flush=True); input(); f.write('all')"
    )
    with served(user, below) as server:
        with user.start(user.python, "-c", script, within=below) as program:
            ensure(program.stdout is not None and program.stdout.readline() == "1\n", "not begun")
            busy = user.run("fusermount3", "-u", below, check=False)
            ensure(busy.returncode != 0 and user.is_mounted(below), "it was unmounted")
            user.run("sh", "-c", "echo text > g", within=below)
            user.run("fusermount3", "-u", "-z", below)
            ensure(not user.is_mounted(below), "it is still mounted")
            ensure(server.poll() is None, "the server has left an open file")
            ensure(program.communicate("\n", timeout=mo.SECONDS_MAX)[0] == "", "it said more")
            ensure(program.returncode == 0, "the program failed")
        ensure(server.wait(mo.SECONDS_MAX) == 0, "it does not end")
    ensure((below / "f").read_text() == "all", "it is not below")


def test_a_user_is_told_why_a_directory_cannot_be_mounted_over(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    below.chmod(0o500)
    ensure("they may write" in refusal(user, below), "another reason")
    missing = user.folder / "missing"
    ensure("No such file" in refusal(user, missing), "another reason")
    below.chmod(0o700)
    nowhere = refusal(user, below, path="/nonexistent")
    ensure("there is no fusermount3" in nowhere and "--private" in nowhere, nowhere)


@needs_root
def test_a_run_that_fusermount3_refuses_was_not_started_by_auto(user: OrdinaryUser) -> None:
    sticky = user.new_folder("sticky")
    os.chown(sticky, 0, 0)
    sticky.chmod(0o1777)
    summary = user.folder / "summary.json"
    words: list[str | Path] = [*user.forebay, "run", "--pool", sticky, "--summary", summary]
    words += ["--set", "pool_mount=auto", "--format", "json", "--"]
    done = user.run(*words, user.python, "-c", mo.CAPTURED, within=sticky)
    told = json.loads(summary.read_text())
    refused = [one for one in told["warnings"] if "sticky bit" in one and "captured" in one]
    ensure(len(refused) == 1 and refused[0] in done.stderr, done.stderr)
    ensure(told["pool"]["taken"] == 1 << 20 and told["pool"]["arrived"], told["pool"])
    ensure((sticky / "out").read_bytes() == b"x" * (1 << 20), "not all is there")


@needs_root
def test_a_user_is_told_what_fusermount3_refuses(user: OrdinaryUser) -> None:
    sticky = user.new_folder("sticky")
    os.chown(sticky, 0, 0)
    sticky.chmod(0o1777)
    ensure("sticky bit" in refusal(user, sticky), "another reason")
    unlisted = user.new_folder("unlisted")
    user.run("mount", "-t", "ramfs", "-o", "mode=777", "ramfs", unlisted, as_root=True)
    ensure("on its list" in refusal(user, unlisted), "another reason")
    below = user.new_folder("below")
    ensure("user_allow_other" in refusal(user, "--allow-other", below), "another reason")
    with ordinary_user(mode="600") as other:
        ensure("open /dev/fuse" in refusal(other, other.new_folder("below")), "another reason")


def test_a_second_mount_of_a_users_over_a_path_is_refused(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    with served(user, below):
        done = user.run(mo.PROGRAM, below, check=False)
        ensure(done.returncode == 1 and "already" in done.stderr, done.stderr)
        user.run("sh", "-c", "echo text > file", within=below)


def test_a_dead_mount_of_a_users_is_removed_by_the_next(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    with served(user, below) as first:
        children = Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text(encoding="ascii")
        for process in (*map(int, children.split()), first.pid):
            os.kill(process, signal.SIGKILL)
        first.wait(mo.SECONDS_MAX)
        ensure(user.is_mounted(below), "somebody has unmounted it")
        with served(user, below):
            user.run("sh", "-c", "echo text > file", within=below)
    ensure((below / "file").read_text() == "text\n", "it is not below")


def test_a_users_server_that_is_stopped_for_too_long_is_ended(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    script = "with open('f', 'wb', buffering=0) as f:\n while 1: f.write(b'x')"
    with (
        served(user, below, "--timeout", "1") as server,
        user.start(user.python, "-c", script, within=below) as program,
    ):
        until(lambda: user.run("test", "-s", below / "f", check=False).returncode == 0, "not begun")
        server.send_signal(signal.SIGSTOP)
        ensure(program.wait(mo.SECONDS_MAX) == 1, "the program was not told")
        ensure(server.wait(mo.SECONDS_MAX) == -signal.SIGKILL, "the server goes on")
        until(lambda: not user.is_mounted(below), "it is still mounted")


@needs_root
def test_the_mount_of_one_user_is_no_place_for_the_server_of_another(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    with served(user, below):
        done = user.run(mo.PROGRAM, below, as_root=True, check=False)
        ensure(done.returncode == 1 and "already" in done.stderr, done.stderr)


def test_doctor_tries_which_way_to_mount_works(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    said = user.run(*user.forebay, "doctor", "--format", "json", below, check=False).stdout
    found = {
        one["subject"]: (one["status"], one["detail"])
        for one in json.loads(said)["findings"]
        if one["topic"].startswith("Mount")
    }
    ensure(found["fusermount3"] == ("good", f"works (tried in {below})"), f"{found}")
    ensure(IS_ROOT is False or found["root"] == ("note", "you are not root"), f"{found}")
    ensure("private namespace" in found and list(below.iterdir()) == [], f"{found}")
