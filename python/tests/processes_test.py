"""Real processes: statuses as shells say them, and signals that arrive where they should."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from forebay.common.files.processes import ForegroundProcesses
from forebay.common.model.errors import LaunchError
from forebay.ports import Captured

TRAP = "import signal, sys\n" + (
    "signal.signal(signal.{name}, lambda *_: sys.exit(5))\n"
    "print('up', flush=True)\n"
    "signal.pause()\n"
)
RUN = (
    "import os, sys; from forebay.common.files.processes import ForegroundProcesses as P; "
    "sys.exit(P().run(sys.argv[1:], environment=os.environ).status)"
)


def run(*words: str) -> int:
    return ForegroundProcesses().run(words, environment=os.environ).status


def test_statuses() -> None:
    assert run("true") == 0
    assert run("sh", "-c", "exit 7") == 7
    assert run("sh", "-c", "kill -KILL $$") == 128 + 9
    assert run("sh", "-c", "kill -TERM $$") == 128 + 15


def test_it_is_told_when_the_program_runs_and_not_when_it_has_ended(tmp_path: Path) -> None:
    """A program that waits for a file, which is made when it is said to run."""
    mark = tmp_path / "mark"
    line = f"until test -e {mark}; do sleep 0.01; done; exit 3"
    done = ForegroundProcesses().run(("sh", "-c", line), environment=os.environ, started=mark.touch)
    assert done.status == 3


def test_nothing_is_said_to_run_that_cannot_be_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(LaunchError):
        ForegroundProcesses().run(("no-such-x",), environment=os.environ, started=mark.touch)
    assert not mark.exists()


def test_what_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(LaunchError) as missing:
        run("no-such-program-here")
    assert missing.value.exit_code == 127
    (tmp_path / "text").write_text("x")
    with pytest.raises(LaunchError) as refused:
        run(str(tmp_path / "text"))
    assert refused.value.exit_code == 126


@pytest.mark.parametrize(
    ("word", "mode", "content", "status", "says"),
    [
        ("./a b", 0o644, "#!/bin/sh\n", 126, r"\(it is not executable\).*chmod \+x './a b'"),
        ("here", 0o755, "#!/bin/sh\n", 127, r"Did you mean \./here\?"),
        ("./lost", 0o755, "#!/none/such\n", 127, r"what is to load it is not"),
        ("./text", 0o755, "echo\n", 126, r"begin with #!"),
        (".", 0, "", 126, r"it is a folder"),
        ("./none", 0, "", 127, r"no such program\)\. Check the name\.$"),
        ("no-such-program-here", 0, "", 127, r"Check the name and PATH\.$"),
    ],
)
def test_what_cannot_be_started_says_what_to_do(
    word: str,
    mode: int,
    content: str,
    status: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content:
        Path(word).write_text(content)
        Path(word).chmod(mode)
    with pytest.raises(LaunchError, match=says) as refused:
        run(word)
    assert refused.value.exit_code == status


def as_nobody(what: Callable[[], object]) -> str:
    """The error that `what` raises in a child process of an ordinary user; empty if none."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
        try:
            what()
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        text = said.read().decode()
    os.waitpid(child, 0)
    return text


@pytest.mark.parametrize("way", ["closed/program", "link"])
def test_a_program_behind_a_closed_folder_was_told_by_a_traceback(way: str) -> None:
    """Looking at why it cannot be run failed, too."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        folder = Path(made)
        folder.chmod(0o755)
        program = folder / "closed/program"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        (folder / "link").symlink_to(program)
        program.parent.chmod(0)
        text = as_nobody(lambda: run(str(folder / way)))
        assert text.startswith("LaunchError: cannot run"), text
        assert f"(you may not enter {program.parent})" in text


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"])
def test_signal_sent_to_us_alone_reaches_the_program(name: str, root: Path) -> None:
    child = [sys.executable, "-c", TRAP.format(name=name)]
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *child],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(root / "python")},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(getattr(signal, name))
        assert process.wait(timeout=180) == 5


def test_program_finds_no_signal_blocked() -> None:
    show = "import signal, sys; sys.exit(len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))"
    assert run(sys.executable, "-c", show) == 0
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == set()


def test_captured_output() -> None:
    processes = ForegroundProcesses()
    words = ["sh", "-c", "echo $A; echo b >&2; exit 3"]
    environment = {**os.environ, "A": "a"}
    done = processes.capture(words, environment=environment, seconds_max=60)
    assert (done.status, done.output, done.errors) == (3, "a\n", "b\n")
    killed = processes.capture(["sh", "-c", "kill -9 $$"], environment={}, seconds_max=60)
    assert killed.status == 128 + signal.SIGKILL
    hangs = processes.capture(["sleep", "60"], environment=environment, seconds_max=0.1)
    assert hangs.status is None
    assert processes.capture(["no-such"], environment={}, seconds_max=1).status == 127


@pytest.mark.parametrize("how", ["run", "capture"])
def test_a_child_whose_signal_another_thread_was_given_is_waited_for_no_longer(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenBLAS has threads that block no signal: what came between a look and the wait was lost."""
    over, looks, real = threading.Event(), count(), os.waitpid
    other = threading.Thread(target=over.wait)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    other.start()
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def still_waiting(*_: object) -> None:
        raise TimeoutError("the child has ended, and is waited for")

    def ends_behind_the_look(pid: int, options: int) -> tuple[int, int]:
        if next(looks) == 0:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            signal.sigtimedwait({signal.SIGCHLD}, 0)  # where it was not given to the other
            return 0, 0
        return real(pid, options)

    monkeypatch.setattr(os, "waitpid", ends_behind_the_look)
    before = signal.signal(signal.SIGALRM, still_waiting)
    signal.alarm(20)
    try:
        if how == "run":
            assert run("sh", "-c", "exit 7") == 7
        else:
            words = ["sh", "-c", "exit 7"]
            done = ForegroundProcesses().capture(words, environment=os.environ, seconds_max=60)
            assert done.status == 7
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        over.set()
        other.join()
    assert next(looks) < 5


CAPTURE = (
    "import os, signal, sys; from forebay.common.files.processes import ForegroundProcesses as P\n"
    "from forebay.common.model.errors import StoppedError\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in background ignores it
    "try: P(grace_seconds=float(sys.argv[1])).capture(sys.argv[2:], environment=os.environ,\n"
    "    seconds_max=1e30)\n"
    "except StoppedError as error: sys.exit(error.exit_code)\n"
)
CLEANS_UP = """
trap 'echo gone > gone; exit 0' INT TERM
echo $$ > up
while :; do read _ < never; done
"""
IGNORES = "trap '' INT TERM; " + CLEANS_UP.partition("\n")[2].partition("\n")[2]


@contextmanager
def capturing(
    root: Path, folder: Path, script: str, *, grace: float
) -> Iterator[subprocess.Popen[bytes]]:
    """Started, and the captured script is up. Nothing is left of it, come what may."""
    os.mkfifo(folder / "never")
    process = subprocess.Popen(
        [sys.executable, "-c", CAPTURE, str(grace), "sh", "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root / "python")},
    )
    shell = None
    try:
        shell = number_in(folder / "up", seconds_max=60)
        yield process
    finally:
        process.kill()
        process.wait()
        with suppress(ProcessLookupError):
            if shell:
                os.kill(shell, signal.SIGKILL)


def number_in(file: Path, *, seconds_max: float) -> int:
    end = time.monotonic() + seconds_max
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < end, f"nobody writes {file}"
        time.sleep(0.01)
    return int(file.read_text())


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signal_ends_what_is_captured_and_then_us(name: str, root: Path, tmp_path: Path) -> None:
    with capturing(root, tmp_path, CLEANS_UP, grace=60) as process:
        process.send_signal(getattr(signal, name))
        assert process.wait(timeout=180) == 128 + getattr(signal, name)
    assert (tmp_path / "gone").exists()


def test_what_does_not_end_when_asked_is_killed(root: Path, tmp_path: Path) -> None:
    with capturing(root, tmp_path, IGNORES, grace=0.1) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=180) == 128 + signal.SIGTERM
    assert not (tmp_path / "gone").exists()


def late(folder: Path, script: str, *, grace: float, patch: pytest.MonkeyPatch) -> Captured:
    """Captured, and out of time as soon as the script is up."""
    up, real = folder / "up", time.monotonic
    calls = count()  # the first sets the deadline
    (folder / "never").unlink(missing_ok=True)
    os.mkfifo(folder / "never")
    with patch.context() as patched:
        patched.setattr(time, "monotonic", lambda: real() + 1e6 * (next(calls) > 0 and up.exists()))
        return ForegroundProcesses(grace_seconds=grace).capture(
            ["sh", "-c", f'cd "$HERE"; {script}'],
            environment={**os.environ, "HERE": str(folder)},
            seconds_max=1000,
        )


def test_what_takes_too_long_may_clean_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forebay.common.files.processes._POLL_SECONDS", 0.01)
    assert late(tmp_path, CLEANS_UP, grace=60, patch=monkeypatch).status is None
    assert (tmp_path / "gone").exists()
    for file in ("gone", "up"):
        (tmp_path / file).unlink()
    assert late(tmp_path, IGNORES, grace=0.1, patch=monkeypatch).status is None
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("how", ["run", "capture"])
def test_a_signal_that_is_none_is_not_sent_on(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's sigtimedwait() returns rubbish where the seconds pass while we are stopped."""
    real, calls = signal.sigtimedwait, count()

    def sometimes_rubbish(watched: set[signal.Signals], seconds: float) -> object:
        if next(calls) == 0:
            return signal.struct_siginfo((4711, 0, 0, 0, 0, 0, 0))
        return real(watched, seconds)

    monkeypatch.setattr(signal, "sigtimedwait", sometimes_rubbish)
    words, processes = ["sh", "-c", "read line; exit 3"], ForegroundProcesses()
    if how == "run":
        assert processes.run(["sleep", "0.1"], environment=dict(os.environ)).status == 0
    else:
        ended = processes.capture(words, environment=dict(os.environ), seconds_max=60)
        assert ended.status == 3


def test_captured_command_is_found_on_its_own_path(tmp_path: Path) -> None:
    program = tmp_path / "only-here"
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    done = ForegroundProcesses().capture(
        ["only-here"], environment={"PATH": f"{tmp_path}:/bin:/usr/bin"}, seconds_max=60
    )
    assert (done.status, done.output) == (0, "found\n")
