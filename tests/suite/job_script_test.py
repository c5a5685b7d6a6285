"""Batch scripts of `forebay job-script` with the real `forebay`: handed in to a real Slurm, and run
by hand where their end is at issue."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import until
from suite.typed import Shell, blocks
from suite.verdict import ensure

EXAMPLES = m.ROOT / "examples"
SLURM = pytest.mark.slurm
VARIABLE = "FOREBAY_SLURM"
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
BYTES = 300_000

# Writes into the pool, says so, and waits for the end. Its daemon is not to drain before.
HOLDER = f"""#!/usr/bin/env python3
import os, signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(5))
os.write(os.open("held", os.O_CREAT | os.O_RDWR), b"x" * {BYTES})
os.close(os.open("../running", os.O_CREAT))
time.sleep(600)
"""
# Sends a signal to the daemon of its pool, and waits for its end.
KILLER = """
import os, socket, struct, sys, time
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as daemon:
    daemon.connect(os.environ["FOREBAY_POOL_SOCKET"])
    peer = daemon.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
process = struct.unpack("3i", peer)[0]
os.kill(process, int(sys.argv[1]))
while os.path.exists(f"/proc/{process}"):
    time.sleep(0.01)
"""
KEPT = "--set pool_quiet=60000 --set pool_age=3600 --set pool_deadline=0"


class Batch:
    """Jobs of the Slurm that is there for the tests."""

    def __init__(self, folder: Path, tools: Path) -> None:
        self.shell = Shell(folder, tools)
        self.shell.variables["SLURM_CONF"] = os.environ[VARIABLE]
        self._folder = folder

    def typed(self, script: str, *words: str) -> str:
        said = self.shell(script, *words)
        ensure(said.status == 0, f"{script}\n{said.output}{said.errors}")
        return said.output

    def submit(self, *options: str) -> str:
        """Hands in job.sh, and returns the number of the job."""
        return self.typed('exec sbatch --parsable "$@"', *options, "job.sh").strip()

    def tasks(self, job: str) -> dict[str, dict[str, str]]:
        """Slurm's description of a job; of each task if it is an array."""
        lines = self.typed('exec scontrol --oneliner show job "$1"', job).splitlines()
        told = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]
        return {one["JobId"]: one for one in told}

    def ended(self, job: str, *, seconds: float = 90) -> list[str]:
        """The exit codes of all tasks."""

        def are_over() -> bool:
            return all(one["JobState"] in ENDED for one in self.tasks(job).values())

        ensure(until(are_over, seconds), f"{self.tasks(job)}\n{self.output()}")
        return [one["ExitCode"] for one in self.tasks(job).values()]

    def output(self) -> str:
        """The output of all jobs."""
        return "\n".join(path.read_text() for path in sorted(self._folder.glob("*.out")))


@pytest.fixture
def batch(folder: Path) -> Iterator[Batch]:
    (folder / "job").mkdir()
    one = Batch(folder / "job", folder / "tools")
    yield one
    one.shell("squeue --noheader --format=%i | xargs --no-run-if-empty scancel")


def _example(name: str, batch: Batch, folder: Path) -> Path:
    """The folder of an example, after what its page says to type."""
    place = folder / "job"
    shutil.copytree(EXAMPLES / name, place, dirs_exist_ok=True)
    written = (place / "job.sh").read_text()
    for block in blocks(place / "README.md"):
        batch.typed(block)
    ensure((place / "job.sh").read_text() == written, "the page writes another script")
    return place


def _plain(place: Path, folder: Path, script: str) -> Path:
    """The folder of an example after a run without Slurm and Forebay."""
    plain = folder / "plain"
    shutil.copytree(place, plain)
    subprocess.run(["bash", "-euc", script], cwd=plain, check=True, timeout=180)
    return plain


@SLURM
@pytest.mark.parametrize(
    ("name", "script", "outputs"),
    [
        ("slurm-one-step", "for i in 0 1; do SLURM_PROCID=$i ./model.py; done", ("*.bin", 2)),
        ("slurm-two-nodes", "for i in 0 1; do SLURM_PROCID=$i ./model.py; done", ("*.bin", 2)),
        ("slurm-several-steps", "./model.py; ./mean.py 'mean of all'", ("*.txt", 2)),
        (
            "slurm-array",
            "for i in 1 2; do mkdir -p task-$i; SLURM_ARRAY_TASK_ID=$i ./model.py 'input '$i; done",
            ("task-*/*.txt", 2),
        ),
        ("slurm-journal", "./ledger.py", ("ledger.txt", 1)),
    ],
)
def test_an_example_runs_unchanged(
    name: str, script: str, outputs: tuple[str, int], batch: Batch, folder: Path
) -> None:
    place = _example(name, batch, folder)
    plain = _plain(place, folder, script)
    job = batch.submit()
    codes = batch.ended(job)
    said = batch.output()
    ensure({*codes} == {"0:0"}, f"{codes}\n{said}")
    ensure(said.count("through the pool: ") == len(codes), said)
    ensure("of 0 files" not in said and "on this node only" not in said, said)
    pattern, count = outputs
    found = sorted(path.relative_to(plain) for path in plain.glob(pattern))
    ensure(len(found) == count, f"{found}")
    for path in found:
        ensure((place / path).read_bytes() == (plain / path).read_bytes(), f"{path}\n{said}")


@SLURM
def test_the_example_with_a_signal_writes_its_restart_file(batch: Batch, folder: Path) -> None:
    """Its job is so short that Slurm sends the signal after a few seconds; a restart file has the
    step behind the last one of the history."""
    place = _example("slurm-signal", batch, folder)
    job = batch.submit("--time=1", "--signal=B:USR1@55")
    ensure(batch.ended(job, seconds=180) == ["0:0"], batch.output())
    history = (place / "history.txt").read_text().splitlines()
    ensure((place / "restart.txt").read_text() == f"{len(history)}\n", batch.output())


def _script(batch: Batch, options: str) -> None:
    """A job of which the first step holds its bytes in the pool, and the second is never run."""
    (batch.shell.folder / "holder").write_text(HOLDER)
    (batch.shell.folder / "holder").chmod(0o755)
    (batch.shell.folder / "data").mkdir()
    holder = "bash -c 'cd data && exec ../holder'"
    batch.typed(
        f"forebay job-script --slurm --pool data --name job {KEPT} {options} "
        f"--step {shlex.quote('touch data/behind')} -- {holder} > job.sh"
    )


@SLURM
@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("ending", ["signal", "terminate", "cancel"])
def test_a_job_of_several_steps_that_is_ended_has_what_it_wrote(
    ending: str, nodes: int, batch: Batch
) -> None:
    _script(batch, f"--nodes {nodes}")
    held = batch.shell.folder / "data" / "held"
    job = batch.submit()
    ensure(until((batch.shell.folder / "running").exists, 180), batch.output())
    ensure(held.stat().st_size == 0, "it was drained before")
    how = {"signal": ["--batch", "--signal=USR1"], "terminate": ["--batch", "--signal=TERM"]}
    batch.typed('exec scancel "$@"', *how.get(ending, []), job)
    codes = batch.ended(job)
    said = batch.output()
    ensure(until(lambda: held.stat().st_size == BYTES, 120), said)
    ensure(not (batch.shell.folder / "data" / "behind").exists(), f"the next step ran\n{said}")
    ensure("has died" not in said and "DID NOT ARRIVE" not in said, said)
    if ending == "signal":
        ensure(codes == ["5:0"], f"{codes}\n{said}")
    if ending == "terminate":
        ensure(codes in (["143:0"], ["0:15"]), f"{codes}\n{said}")


@SLURM
@pytest.mark.parametrize("steps", [1, 2])
def test_the_status_of_the_program_is_the_jobs(steps: int, batch: Batch) -> None:
    more = "--step true" if steps == 2 else ""
    batch.typed(f"forebay job-script --slurm --pool . {more} -- bash -c 'exit 3' > job.sh")
    ensure(batch.ended(batch.submit()) == ["3:0"], batch.output())


@SLURM
@pytest.mark.parametrize("nodes", [1, 2])
def test_words_reach_a_step_as_they_are(nodes: int, batch: Batch) -> None:
    words = ["two words", "", "it's", "line\nbreak", "$HOME", "`id`", "ümlaut", "-n"]
    program = "import json, sys; open('words', 'w').write(json.dumps(sys.argv[1:]))"
    command = 'forebay job-script --slurm --pool . --nodes "$1" --step true -- python3 -c "${@:2}"'
    script = batch.typed(command, str(nodes), program, *words)
    (batch.shell.folder / "job.sh").write_text(script)
    ensure(batch.ended(batch.submit()) == ["0:0"], batch.output())
    found = json.loads((batch.shell.folder / "words").read_text())
    ensure(found == words, f"{found}")


# --- by hand: how the end of a daemon is told


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_daemon_that_ended_before_the_job_is_told_of(
    ending: signal.Signals, folder: Path
) -> None:
    """A batch system sends SIGTERM to all processes of a job. `forebay pool stop` then said that
    there is no daemon, whatever had become of the bytes."""
    place = folder / "job"
    place.mkdir()
    shell = Shell(place, folder / "tools")
    write = f"import os; os.write(os.open('held', os.O_CREAT | os.O_RDWR), b'x' * {BYTES})"
    (place / "killer").write_text(KILLER)
    said = shell(
        f"forebay job-script --slurm --pool . {KEPT} "
        f'--step "python3 killer {int(ending)}" -- python3 -c "$1" > job.sh; exec bash job.sh',
        write,
    )
    if ending == signal.SIGTERM:
        ensure(said.status == 0, f"status {said.status}\n{said.errors}")
        ensure("a signal told it to" in said.errors, said.errors)
        ensure((place / "held").stat().st_size == BYTES, "its bytes are not there")
    else:
        ensure(said.status == 74, f"status {said.status}\n{said.errors}")
        ensure("daemon has died" in said.errors, said.errors)
