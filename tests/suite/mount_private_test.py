"""Mounts in a namespace of their own: for one program, without root and without fusermount3."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite.file_systems import until
from suite.ordinary_user import IS_ROOT, OrdinaryUser, ordinary_user
from suite.verdict import ensure

OBSERVER = m.ROOT / "tests" / "posix" / "mount_observer.py"
IS_MOUNTED = 'grep -q " $PWD .* fuse.forebay " /proc/self/mountinfo'


@pytest.fixture
def user() -> Iterator[OrdinaryUser]:
    """Without fusermount3, where the tests are root's."""
    with ordinary_user() as one:
        if IS_ROOT:
            one.run("mount", "--bind", "/bin/false", "/usr/bin/fusermount3", as_root=True)
        made = one.run("unshare", "--user", "--mount", "true", check=False)
        if made.returncode != 0:
            pytest.skip(f"users may make no namespaces here ({made.stderr.strip()})")
        yield one


def _run(
    user: OrdinaryUser, folder: Path, *words: str | Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    return user.run(*user.forebay, "run", "--private", *words, within=folder, check=check)


def test_a_program_runs_through_the_pool_by_a_mount_that_nobody_else_sees(
    user: OrdinaryUser,
) -> None:
    below = user.new_folder("below")
    script = f"{IS_MOUNTED} && seq 300000 > out && seq 5 >> out; pwd"
    done = _run(user, below, "--pool", ".", "--", "sh", "-c", script)
    ensure(done.stdout == f"{below}\n", "it has another working folder")
    ensure("1 file" in done.stderr, f"nothing went through the pool:\n{done.stderr}")
    numbers = [*range(1, 300001), *range(1, 6)]
    ensure((below / "out").read_text().split() == [str(one) for one in numbers], "not all is there")
    ensure((below / "out").owner() == (below).owner(), "it is another user's")


def test_the_program_is_captured_in_a_private_mount_if_it_is_told_to(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    words = ("--set", "pool_mount_captured=true", "--", user.python, "-c", mo.CAPTURED)
    _run(user, below, "--pool", ".", *words)
    ensure((below / "out").read_bytes() == b"x" * (1 << 20), "not all is there")


def test_the_program_sees_what_it_would_see_below_in_such_a_namespace(user: OrdinaryUser) -> None:
    plain, below = user.new_folder("plain"), user.new_folder("below")
    namespace = ("unshare", "--user", "--mount", "--map-current-user")
    found = json.loads(user.run(*namespace, user.python, OBSERVER, within=plain).stdout)
    through = json.loads(_run(user, below, "--pool", ".", "--", user.python, OBSERVER).stdout)
    wrong = {
        name: (one, through[name])
        for name, one in found.items()
        if through[name] != one and through[name] != mo.DIFFERENT.get(name)
    }
    ensure(not wrong, f"below and through the mount: {wrong}")


def test_the_program_has_no_privileges_and_its_writes_clear_set_id_bits(
    user: OrdinaryUser,
) -> None:
    below = user.new_folder("below")
    script = "grep CapEff /proc/self/status; echo text > f; chmod 6755 f; echo more >> f; ls -l f"
    done = _run(user, below, "--pool", ".", "--", "sh", "-c", script)
    ensure(done.stdout.split()[:3] == ["CapEff:", "0000000000000000", "-rwxr-xr-x"], done.stdout)


def test_several_folders_are_mounted_in_one_namespace(user: OrdinaryUser) -> None:
    one, two = user.new_folder("one"), user.new_folder("two")
    count = 'test $(grep -c " $PWD/.* fuse.forebay " /proc/self/mountinfo) = 2'
    script = f"{count}; seq 200000 > one/f; cp one/f two"
    _run(user, user.folder, "--pool", one, "--pool", two, "--", "sh", "-ec", script)
    text = "".join(f"{number}\n" for number in range(1, 200001))
    ensure((one / "f").read_text() == text == (two / "f").read_text(), "not all is there")


def test_a_program_that_cannot_be_started_has_a_shells_status(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    (below / "text").write_text("text")
    missing = _run(user, below, "--pool", ".", "--", "./missing", check=False)
    ensure(missing.returncode == 127 and "./missing" in missing.stderr, missing.stderr)
    refused = _run(user, below, "--pool", ".", "--", "./text", check=False)
    ensure(refused.returncode == 126, refused.stderr)


def test_two_namespaces_over_one_folder_are_refused(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    with user.start(mo.PROGRAM, "--private", below) as first:
        try:
            ensure(first.stdout is not None and bool(first.stdout.readline()), "no mount")
            second = user.run(mo.PROGRAM, "--private", below, check=False)
            ensure(second.returncode == 1, second.stdout)
            ensure("in another namespace" in second.stderr, second.stderr)
        finally:
            first.terminate()
        ensure(first.wait(mo.SECONDS_MAX) == 0, "it does not end")


def test_a_private_server_that_is_killed_gives_the_folder_back(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    script = "echo text > file; echo written; read line; cd /; until cat $1/file; do :; done"
    run_privately = (*user.forebay, "run", "--private", "--pool", ".", "--")
    words: tuple[str | Path, ...] = (*run_privately, "sh", "-c", script, "sh", below)
    with user.start(*words, within=below) as run:
        ensure(run.stdout is not None and run.stdout.readline() == "written\n", "not begun")
        server = next(one for one in _servers(below) if _name(one) == mo.PROGRAM.name)
        os.kill(server, signal.SIGKILL)
        said, _ = run.communicate("go on\n", timeout=mo.SECONDS_MAX)
        ensure(said == "text\n", said)


def test_a_run_that_is_killed_leaves_no_private_mount(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    words = (
        *user.forebay,
        "run",
        "--private",
        "--pool",
        ".",
        "--",
        "sh",
        "-c",
        "echo >f; sleep 100",
    )
    with user.start(*words, within=below) as run:
        ensure(until(lambda: _servers(below) != [], mo.SECONDS_MAX), "it does not mount")
        os.killpg(run.pid, signal.SIGKILL)
        run.wait(mo.SECONDS_MAX)
    ensure(until(lambda: _servers(below) == [], mo.SECONDS_MAX), "a server goes on")


def _servers(folder: Path) -> list[int]:
    """The processes that serve mounts over the folder, wherever they are seen."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if words[0].endswith(b"forebay-mount") and str(folder).encode() in words[1:]:
            found.append(int(process.name))
    return found


def _name(process: int) -> str:
    return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()


@pytest.mark.skipif(not IS_ROOT, reason="only root needs no user namespace")
def test_root_may_mount_privately_too(user: OrdinaryUser) -> None:
    below = user.new_folder("below")
    words = (*user.forebay, "run", "--private", "--pool", ".", "--")
    script = f"{IS_MOUNTED} && echo text > file"
    user.run(*words, "sh", "-c", script, within=below, as_root=True)
    ensure((below / "file").read_text() == "text\n", "it is not below")
