"""Real processes: statuses as shells say them, and signals that arrive where they should."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forebay.adapters.processes import ForegroundProcesses
from forebay.domain.errors import LaunchError

TRAP = "import signal, sys\n" + (
    "signal.signal(signal.{name}, lambda *_: sys.exit(5))\n"
    "print('up', flush=True)\n"
    "signal.pause()\n"
)
RUN = (
    "import os, sys; from forebay.adapters.processes import ForegroundProcesses as P; "
    "sys.exit(P().run(sys.argv[1:], environment=os.environ).status)"
)


def run(*words: str) -> int:
    return ForegroundProcesses().run(words, environment=os.environ).status


def test_statuses() -> None:
    assert run("true") == 0
    assert run("sh", "-c", "exit 7") == 7
    assert run("sh", "-c", "kill -KILL $$") == 128 + 9
    assert run("sh", "-c", "kill -TERM $$") == 128 + 15


def test_what_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(LaunchError) as missing:
        run("no-such-program-here")
    assert missing.value.exit_code == 127
    (tmp_path / "text").write_text("x")
    with pytest.raises(LaunchError) as refused:
        run(str(tmp_path / "text"))
    assert refused.value.exit_code == 126


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
        assert process.wait(timeout=60) == 5


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
