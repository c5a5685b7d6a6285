"""Attacks by a second user of the machine (docs/internals/files.md): none may succeed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay.pool.files.fleet import task_text
from suite import mpi as m
from suite.command import FOREBAY, environment, forebay
from suite.file_systems import NOBODY, full_when_asked, mounted_tmpfs, until
from suite.pool import CAPTURE, Daemon, introduce
from suite.pooled import KEPT
from suite.verdict import ensure

STRANGERS = 300
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")

# Another user's: takes what comes, prints it, and how many descriptors came with it.
LISTENER = """
import os, socket, sys
os.setgid({nobody}); os.setuid({nobody})
door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
door.bind(sys.argv[1]); door.listen(8)
print("listens", flush=True)
while True:
    one, _ = door.accept()
    data, descriptors, _, _ = socket.recv_fds(one, 4096, 8)
    print("heard", len(data), len(descriptors), flush=True)
    one.close()
"""
WRITER = "import sys; open(sys.argv[1], 'wb').write(b'x' * 1000)"


@pytest.fixture
def place() -> Iterator[Path]:
    """Below /tmp, where a socket's name is short and other users may come near."""
    with tempfile.TemporaryDirectory(prefix="forebay-test-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def of_a_stranger(path: Path) -> Path:
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return path


def new_file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def new_link(path: Path, to: Path) -> Path:
    path.symlink_to(to)
    return path


@contextlib.contextmanager
def another_users_listener(path: Path) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", LISTENER.format(nobody=NOBODY), str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as listener:
        try:
            told = listener.stdout.readline() if listener.stdout else ""
            ensure(told == "listens\n", f"it does not listen: {told}")
            yield listener
        finally:
            listener.kill()


def written_with(path: Path, pool: Path) -> subprocess.CompletedProcess[str]:
    variables = {
        "LD_PRELOAD": ":".join([*m.PRELOAD_FIRST, str(CAPTURE)]),
        "FOREBAY_POOL_SOCKET": str(path),
        "FOREBAY_POOL_PATHS": str(pool),
    }
    return subprocess.run(
        [sys.executable, "-c", WRITER, str(pool / "out")],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@needs_root
@pytest.mark.parametrize("mode", [0o700, 0o777])
def test_programs_hand_no_descriptor_to_another_users_listener(
    mode: int, place: Path, folder: Path
) -> None:
    """In a folder of his own, or in one of ours that he may write to."""
    theirs = place / "s"
    theirs.mkdir()
    theirs.chmod(mode)
    if mode == 0o700:
        of_a_stranger(theirs)
    with another_users_listener(theirs / "pool") as listener:
        done = written_with(theirs / "pool", folder)
        listener.kill()
        heard = listener.stdout.read() if listener.stdout else ""
    ensure(heard == "", f"it was told something: {heard}")
    ensure((folder / "out").stat().st_size == 1000, "the file is not written")
    ensure("Nothing was told to it" in done.stderr, done.stderr)


@needs_root
def test_the_command_says_nothing_to_another_users_listener(place: Path) -> None:
    theirs = place / "s"
    theirs.mkdir(mode=0o700)
    of_a_stranger(theirs)
    with another_users_listener(theirs / "pool") as listener:
        for what in ("status", "drain", "stop"):
            done = forebay("pool", what, "--socket", theirs / "pool", cwd=place)
            ensure(done.returncode == 1 and "Nothing was told" in done.stderr, done.stderr)
        listener.kill()
        heard = listener.stdout.read() if listener.stdout else ""
    ensure(heard == "", f"it was told something: {heard}")


def test_programs_of_a_run_talk_to_its_daemon_only(place: Path, folder: Path) -> None:
    """Another process of the same user has taken the daemon's place."""
    script = (
        "import os, signal, socket, subprocess, sys\n"
        "path = os.environ['FOREBAY_POOL_SOCKET']\n"
        "os.rename(path, path + '.old')\n"
        "door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "door.bind(path); door.listen(8)\n"
        f"done = subprocess.run([sys.executable, '-c', {WRITER!r}, sys.argv[1]],\n"
        "                       capture_output=True, text=True)\n"
        "door.setblocking(False)\n"
        "one, _ = door.accept()\n"
        "print(len(one.recv(4096)))\n"
        "print(done.stderr)\n"
        "os.rename(path + '.old', path)\n"
    )
    words = ("run", "--pool", folder, "--", sys.executable, "-c", script, folder / "out")
    done = forebay(*words, cwd=place)
    ensure(done.stdout.startswith("0\n"), f"it was told something: {done.stdout}{done.stderr}")
    ensure("another process listens there" in done.stdout, done.stdout + done.stderr)
    ensure((folder / "out").stat().st_size == 1000, "the file is not written")


@needs_root
def test_pool_start_writes_to_nothing_that_another_user_planted(place: Path) -> None:
    victim = place / "victim"
    victim.write_text("")
    theirs = place / "s"
    theirs.mkdir(mode=0o700)
    of_a_stranger(theirs)
    (theirs / "pool.log").symlink_to(victim)
    done = forebay("pool", "start", "--socket", theirs / "pool", place, cwd=place)
    ensure(done.returncode == 125 and "another user" in done.stderr, f"{done}")
    ensure(victim.read_text() == "", "the link was followed")


@needs_root
def test_a_planted_rescue_file_writes_nothing(place: Path) -> None:
    victim = place / "victim"
    victim.write_text("mine")
    found = victim.stat()
    head = {
        "path": str(victim), "device": found.st_dev, "inode": found.st_ino, "error": 28,
        "runs": 0, "bytes": 0, "kept_ns": found.st_mtime_ns + 10**12,
    }  # fmt: skip
    kept = place / "forebay-rescue-1-1"
    kept.mkdir()
    planted = kept / "1-victim"
    planted.write_text(f"forebay.rescue/1\n{json.dumps(head)}\n")
    of_a_stranger(planted)
    for words in ((planted,), (kept,), (planted, "--force")):
        done = forebay("pool", "rescue", *words, cwd=place)
        ensure(done.returncode in (1, 74) and "another user's" in done.stderr, f"{done}")
    ensure(victim.stat().st_mtime_ns == found.st_mtime_ns and planted.exists(), "it was believed")


@needs_root
def test_what_a_run_writes_goes_to_no_file_that_another_user_planted(place: Path) -> None:
    shared = place / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    victim = place / "victim"
    victim.write_text("mine")
    for option in ("--record", "--summary"):
        link = shared / option.strip("-")
        link.symlink_to(victim)
        of_a_stranger(link)
        done = forebay("run", option, link, "--", "true", cwd=place)
        ensure(done.returncode == 2 and "another user's" in done.stderr, f"{option}: {done}")
    ensure(victim.read_text() == "mine", "a link was followed")


@needs_root
def test_settings_that_another_user_planted_are_not_used(place: Path) -> None:
    shared = place / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    file = shared / "site.toml"
    file.write_text(f'pool_starter = ["touch", "{place}/victim"]\npool_nodes = 2\n')
    of_a_stranger(file)
    done = forebay("run", "--settings", file, "--pool", place, "--", "true", cwd=place)
    ensure(done.returncode == 2 and "another user's" in done.stderr, f"{done}")
    daemon = subprocess.run(
        [m.LIBRARIES / "forebayd", "--socket", place / "s/pool"],
        env=environment(FOREBAY_SETTINGS=str(file)),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    ensure(daemon.returncode == 2 and "cannot trust" in daemon.stderr, f"{daemon}")
    ensure(not (place / "victim").exists(), "it was done")


@needs_root
def test_what_another_user_advises_is_not_done(place: Path) -> None:
    """His advice would be carried out, his portrait and his rules believed."""
    shared = place / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    file = of_a_stranger(new_file(shared / "planted", '{"schema": "forebay.advice/1"}'))
    link = of_a_stranger(new_link(shared / "link", new_file(place / "mine", "")))
    job = ("--ranks", "4", "--nodes", "1", "--bytes", "1g")
    for one in (file, link):
        for words in (
            ("apply", one, "--", "touch", place / "victim"),
            ("advise", "--portrait", one, *job),
            ("advise", "--rules", one, *job),
        ):
            done = forebay(*words, cwd=place)
            ensure(done.returncode in (1, 2) and "another user's" in done.stderr, f"{done}")
    ensure(not (place / "victim").exists(), "it was done")


@needs_root
def test_advice_and_pages_go_to_no_file_that_another_user_planted(place: Path) -> None:
    shared = place / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    victim = new_file(place / "victim", "mine")
    for option in ("-o", "--html"):
        link = of_a_stranger(new_link(shared / f"link{option}", victim))
        words = ("advise", "--ranks", "4", "--nodes", "1", "--bytes", "1g", option, link)
        done = forebay(*words, cwd=place)
        ensure(done.returncode in (1, 2) and "another user's" in done.stderr, f"{option}: {done}")
    ensure(victim.read_text() == "mine", "a link was followed")


@needs_root
def test_a_planted_journal_of_a_probing_removes_nothing(place: Path) -> None:
    """It names the folder that `forebay probe --clean` removes."""
    shared, victim = place / "shared", place / "forebay-probe-1"
    shared.mkdir()
    shared.chmod(0o1777)
    victim.mkdir()
    begun = {"kind": "place", "directory": str(place), "folder": victim.name, "results": []}
    text = json.dumps(begun) + "\n"
    mine = new_file(place / "mine", text)
    journal = shared / "scratch.toml.journal"
    words = ("probe", "--clean", "-o", shared / "scratch.toml")
    for is_link in (False, True):
        of_a_stranger(new_link(journal, mine) if is_link else new_file(journal, text))
        done = forebay(*words, cwd=place)
        ensure(done.returncode == 1 and "another user's" in done.stderr, f"{done}")
        ensure(victim.is_dir(), "it was removed")
        journal.unlink()
    new_file(journal, text)
    done = forebay(*words, cwd=place)
    ensure(done.returncode == 0 and not victim.exists(), f"one's own is not obeyed: {done}")


# --- several nodes


@needs_root
def test_on_each_node_the_daemon_is_started_in_a_folder_of_the_users_own_only(place: Path) -> None:
    """Somebody has made the socket's folder there before: the job's secret goes through it."""
    own, begun = place / "own", place / "begun"
    own.mkdir(mode=0o700)
    theirs, everybodys = place / "theirs", place / "everybodys"
    theirs.mkdir(mode=0o700)
    of_a_stranger(theirs)
    everybodys.mkdir()
    everybodys.chmod(0o1777)
    link = of_a_stranger(new_link(place / "link", own))
    daemon = new_file(place / "daemon", f"#!/bin/sh\ntouch {begun}\n")
    daemon.chmod(0o755)

    def started_in(folder: Path) -> subprocess.CompletedProcess[str]:
        words = ["/bin/sh", "-c", task_text(), str(daemon), str(folder / "pool"), "2", "0"]
        return subprocess.run(
            words, env=environment(SLURM_PROCID="1"), capture_output=True, text=True, check=False
        )

    for folder in (theirs, everybodys, link):
        done = started_in(folder)
        ensure(done.returncode == 1 and "you alone can enter" in done.stderr, f"{done}")
        ensure(not begun.exists(), f"it was started in {folder}")
    for folder in (own, place / "new"):
        ensure(started_in(folder).returncode == 0 and begun.exists(), f"not in {folder}")
        begun.unlink()


def strangers_at(address: str) -> list[socket.socket]:
    host, _, port = address.rpartition(":")
    return [socket.create_connection((host, int(port)), 10) for _ in range(STRANGERS)]


def test_strangers_do_not_keep_the_daemons_of_a_job_from_meeting(folder: Path) -> None:
    """They connect before the daemons meet, and say nothing."""
    with contextlib.ExitStack() as stack:
        daemons = [stack.enter_context(Daemon.started(KEPT, node=n, nodes=2)) for n in (0, 1)]
        strangers = [one for daemon in daemons for one in strangers_at(daemon.address)]
        introduce(daemons)
        for one in strangers:
            one.settimeout(30)
            with contextlib.suppress(ConnectionResetError):
                while one.recv(4096):
                    pass
            one.close()
        for daemon in daemons:
            with pytest.raises(ConnectionRefusedError):
                strangers_at(daemon.address)


def listening_addresses(port: int) -> set[str]:
    """As the kernel writes them."""
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            address, _, number = line.split()[1].rpartition(":")
            if int(number, 16) == port and line.split()[3] == "0A":
                found.add(address)
    return found


def test_a_daemon_listens_at_one_address(folder: Path) -> None:
    for host in ("127.0.0.2", socket.gethostname()):
        with Daemon.started(KEPT, node=0, nodes=2, host=host) as daemon:
            told, _, port = daemon.address.rpartition(":")
            found = listening_addresses(int(port))
            ensure(len(found) == 1, f"{host}: {found}")
            everywhere = {"0" * 8, "0" * 32}
            ensure(not found & everywhere, f"{host}: {daemon.address} is everywhere: {found}")
            socket.create_connection((told, int(port)), 10).close()


# --- names that steer a terminal


STEERS = "a\x1b[31mb\nc \x7f"


@needs_root
def test_no_message_has_a_name_that_steers_the_terminal(folder: Path) -> None:
    mark = folder / "written"
    with mounted_tmpfs(folder / "small", "64m") as small, full_when_asked(small, mark):
        path = small / STEERS
        script = (
            "import os, sys\n"
            "file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
            "for _ in range(96): os.write(file, b'x' * 65536)\n"
        )
        wait = f"touch {mark}; while test -e {mark}; do sleep 0.01; done"
        words = ["sh", "-c", f'"$@"; {wait}', "sh", sys.executable, "-c", script, path]
        kept = ("--set", "pool_quiet=60000", "--set", "pool_window=1GiB")
        done = forebay("run", *kept, "--pool", small, "--", *words, cwd=folder)
    ensure(done.returncode == 74, f"all arrived: {done.stderr}")
    ensure("a\\033[31mb\\nc\\ \\177" in done.stderr, done.stderr)
    ensure(all(line.isprintable() for line in done.stderr.splitlines()), repr(done.stderr))


# --- what a killed run leaves


def test_the_next_run_removes_the_folders_of_a_killed_one(place: Path, folder: Path) -> None:
    for name in ("runtime", "temporary"):
        (place / name).mkdir(mode=0o700)
    more = {"XDG_RUNTIME_DIR": str(place / "runtime"), "TMPDIR": str(place / "temporary")}
    program = "import time, sys; print('runs', flush=True); sys.stdin.read()"
    words = [*FOREBAY, "run", "--pool", str(folder), "--", sys.executable, "-c", program]
    run = subprocess.Popen(
        words,
        env=environment(**more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    told = run.stdout.readline() if run.stdout else ""
    ensure(told == "runs\n", "it does not run")
    run.send_signal(signal.SIGKILL)
    run.wait()
    if run.stdin:
        run.stdin.close()

    def left() -> list[Path]:
        return [one for name in ("runtime", "temporary") for one in (place / name).iterdir()]

    ensure(len(left()) == 2, f"it left {left()}")

    def removed() -> bool:
        """The daemon may still be about to end."""
        done = forebay("run", "--pool", folder, "--", "true", cwd=folder, more=more)
        ensure(done.returncode == 0, done.stderr)
        return left() == []

    ensure(until(removed, 180), f"there are still {left()}")


def test_a_run_that_lives_keeps_its_folders(place: Path, folder: Path) -> None:
    more = {"XDG_RUNTIME_DIR": str(place), "TMPDIR": str(place)}
    inner = f"{sys.executable} {FOREBAY[1]} run --pool {folder} -- true"
    script = f'{inner} && ls "$(dirname "$FOREBAY_POOL_SOCKET")"'
    done = forebay("run", "--pool", folder, "--", "sh", "-c", script, cwd=folder, more=more)
    ensure(done.returncode == 0 and "pool.lock" in done.stdout, f"{done}")
