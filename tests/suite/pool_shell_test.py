"""A shell in which a pool was started: what it says when the pool has been stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.command import FOREBAY, environment
from suite.verdict import ensure

START = 'eval "$($FOREBAY pool start --socket "$SOCKET" pool)"'
RUNTIME = Path("/tmp")


@pytest.fixture
def shell(folder: Path) -> Iterator[Shell]:
    (folder / "pool").mkdir()
    (folder / "pool" / "file").write_text("text\n")
    runtime = RUNTIME / f"forebay-shell-{os.getpid()}-{abs(hash(str(folder)))}"
    runtime.mkdir(mode=0o700)
    one = Shell(folder, runtime)
    try:
        yield one
    finally:
        with contextlib.suppress(AssertionError):
            one('$FOREBAY pool stop --socket "$SOCKET"')
        shutil.rmtree(runtime, ignore_errors=True)


class Shell:
    """Runs scripts in a folder; daemons are in a folder of their own."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self._folder = folder
        self.socket = runtime / "s"
        self._environment = environment(
            FOREBAY=" ".join(FOREBAY), SOCKET=str(self.socket), XDG_RUNTIME_DIR=str(runtime)
        )

    def __call__(self, script: str) -> tuple[str, str]:
        done = subprocess.run(
            ["bash", "-ec", script], cwd=self._folder, env=self._environment,
            capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        ensure(done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}")
        return done.stdout, done.stderr


def test_a_shell_that_kept_the_variables_is_told_once(shell: Shell) -> None:
    """Each program told it anew."""
    said, errors = shell(f"{START}; $FOREBAY pool stop >&2; for i in 1 2 3; do cat pool/file; done")
    ensure(said == "text\n" * 3, said)
    ensure(errors.count("this program does without the pool") == 1, errors)
    ensure("no daemon is there" in errors, errors)
    ensure("still has the pool's variables" in errors, errors)
    _, errors = shell(f"{START}; $FOREBAY pool stop >&2; cat pool/file")
    ensure(errors.count("this program does without the pool") == 1, "a new pool, and not told")


def test_stop_unset_takes_the_pool_out_of_the_shell(shell: Shell) -> None:
    stop = 'eval "$($FOREBAY pool stop --unset)"'
    tell = 'echo "${FOREBAY_POOL_SOCKET-no} ${FOREBAY_POOL_PATHS-no} $LD_PRELOAD"; cat pool/file'
    said, errors = shell(f"export LD_PRELOAD=; {START}; {stop}; {tell}")
    ensure(said == "no no \ntext\n", said)
    ensure("through the pool: " in errors, "the summary is lost")
    ensure("does without" not in errors and "still has" not in errors, errors)
    said, _ = shell(f"export LD_PRELOAD=libm.so.6; {START}; {stop}; {stop}; {tell}")
    ensure(said == "no no libm.so.6\ntext\n", said)


def test_status_finds_a_daemon_that_is_elsewhere(shell: Shell) -> None:
    shell(f"{START} > start.txt")
    said, _ = shell("$FOREBAY pool status")
    ensure(f"at {shell.socket}, up" in said, said)
    _, errors = shell("! $FOREBAY pool stop")
    ensure(f"at {shell.socket}" in errors and "Running daemons of yours" in errors, errors)


def test_a_run_inside_of_a_run_has_one_pool(shell: Shell) -> None:
    """The inner one started a second daemon for the same files."""
    inner = "$FOREBAY run --pool pool -- cp pool/file pool/other"
    _, errors = shell(f"$FOREBAY run --pool pool -- {inner}; cmp pool/file pool/other")
    ensure("inside of a pool that is there already" in errors, errors)
    ensure(errors.count("through the pool: ") == 1, f"not told by the outer one alone:\n{errors}")
    ensure("pool/other" in errors, f"the outer one has not had the file:\n{errors}")


def test_stop_tells_of_a_daemon_that_a_signal_has_ended(shell: Shell) -> None:
    """It said that none is there, whatever had become of the bytes."""
    start = 'STARTED=$($FOREBAY pool start --socket "$SOCKET" pool); PROCESS=${STARTED#*process }'
    end = 'kill -TERM "${PROCESS%%:*}"; while [ -e "$SOCKET" ]; do sleep 0.01; done'
    stop = '$FOREBAY pool stop --socket "$SOCKET"'
    write = '( eval "$STARTED"; cp pool/file pool/other; echo more > pool/other )'
    said, errors = shell(f"{start}; {write}; {end}; {stop}; ! {stop}")
    ensure(said.count("through the pool: ") == 1, f"{said}\n{errors}")
    ensure("a signal told it to" in errors, errors)
    ensure("nobody listens" in errors, f"it told the same end twice:\n{errors}")
    said, errors = shell(f'{start}; {end}; {start}; kill -KILL "${{PROCESS%%:*}}"; ! {stop}')
    ensure("through the pool: " not in said, f"it told of another daemon:\n{said}\n{errors}")
