"""`forebay run --pool` on several nodes: a daemon on each of them, started by the launcher. Mount
namespaces stand for nodes: each has a /tmp of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from suite import mpi as m
from suite.command import FOREBAY
from suite.compare import RECORD, compare
from suite.file_systems import until
from suite.on import on
from suite.pooled import run
from suite.programs import ON_NODES, VIEWS, Program, plain
from suite.record import Record
from suite.verdict import ensure

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
SLURM = pytest.mark.slurm
ENVIRONMENT = {"FOREBAY_LIBDIR": str(m.LIBRARIES), "PYTHONPATH": str(m.ROOT / "python")}
MIB = 1 << 20

# As srun does: a task on each node, standard input and signals for all, and all their output
# together. Options are not looked at.
LAUNCHER = """#!{python}
import os, signal, subprocess, sys, threading
nodes = {nodes}
words = [word for word in sys.argv[1:]]
while words and words[0].startswith("-"):
    words.pop(0)
tasks = [
    subprocess.Popen(
        [
            *("nsenter", "-m", "-t", str(node)),
            *("env", "-C", os.getcwd(), f"SLURM_PROCID={{number}}", *words),
        ],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    for number, node in enumerate(nodes)
]
def pass_signal_on(number, _):
    for task in tasks:
        if task.poll() is None:
            os.killpg(task.pid, number)
for number in (signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, pass_signal_on)
def pass_on():
    while part := os.read(0, 1 << 16):
        for task in tasks:
            task.stdin.write(part)
            task.stdin.flush()
    for task in tasks:
        task.stdin.close()
threading.Thread(target=pass_on, daemon=True).start()
sys.exit(max(task.wait() for task in tasks))
"""

# Rank 0 writes a file and closes it, rank 1 reads it; both write one of their own, and read the
# input while both have it open.
PROGRAM = """
import os, sys, time
rank = int(os.environ["SLURM_PROCID"])
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)
if rank == 1:
    wait_for("opened")
with open("input", "rb", buffering=0) as file:
    words = file.read()
    if rank == 0:
        os.mkdir("opened")
        wait_for("read")
if rank == 1:
    os.mkdir("read")
with open(f"input-{rank}", "wb", buffering=0) as file:
    file.write(words)
with open(f"own-{rank}", "wb", buffering=0) as file:
    file.write(bytes([rank]) * 1_000_000)
if rank == 0:
    with open("shared", "wb", buffering=0) as file:
        file.write(b"from 0" * 1000)
    os.mkdir("written")
if rank == 1:
    wait_for("written")
    with open("shared", "rb", buffering=0) as file:
        read = file.read(100_000)
    with open("seen", "wb", buffering=0) as file:
        file.write(read)
"""


INPUT = bytes(range(251)) * 12_345


def prepared(folder: Path) -> Path:
    """The folder of the job."""
    work = folder / "work"
    work.mkdir()
    (work / "input").write_bytes(INPUT)
    (folder / "program.py").write_text(PROGRAM)
    return work


@contextlib.contextmanager
def two_nodes(folder: Path) -> Iterator[Path]:
    """A launcher for them."""
    hold = "mount --make-rprivate / && mount -t tmpfs none /tmp && touch /tmp/up && exec sleep 600"
    if m.ROOT.is_relative_to("/tmp"):  # what the test needs stays where it is
        kept = f"mkdir -p '{m.ROOT}' && mount -c --bind /proc/self/fd/9 '{m.ROOT}'"
        hold = f"exec 9< '{m.ROOT}'; {hold.replace('touch', f'{kept} && exec 9<&- && touch')}"
    with contextlib.ExitStack() as stack:
        nodes = []
        for _ in range(2):
            node = subprocess.Popen(["unshare", "-m", "sh", "-c", hold])
            stack.callback(node.wait)
            stack.callback(node.kill)
            nodes.append(node.pid)
        up = [Path(f"/proc/{node}/root/tmp/up") for node in nodes]
        ensure(until(lambda: all(one.exists() for one in up), 60), "no namespaces")
        launcher = folder / "srun-nodes"
        launcher.write_text(LAUNCHER.format(python=sys.executable, nodes=nodes))
        launcher.chmod(0o755)
        yield launcher


def judged(report: dict[str, Any], work: Path) -> None:
    """Checks the program's files, and the summary's account of them."""
    ensure((work / "seen").read_bytes() == b"from 0" * 1000, "rank 1 saw other bytes")
    for rank in (0, 1):
        ensure((work / f"own-{rank}").read_bytes() == bytes([rank]) * 1_000_000, f"rank {rank}")
        ensure((work / f"input-{rank}").read_bytes() == INPUT, f"rank {rank} read other bytes")
    passed = report["pool"]["read_from_nodes"]
    ensure(passed == len(INPUT), f"one node had {passed} bytes from the other")
    taken = {Path(file["path"]).name: file["taken"] for file in report["pool"]["files"]}
    ensure(taken.get("own-0") == taken.get("own-1") == 1_000_000, f"{taken}")


@ROOT_ONLY
def test_a_job_on_two_nodes(folder: Path) -> None:
    work = prepared(folder)
    with two_nodes(folder) as launcher:
        nodes = ["--set", "pool_nodes=2", "--set", f"pool_starter={launcher}"]
        nodes += ["--set", "pool_readers=1"]
        words = ["run", "--pool", work, "--format", "json", "--set", "pool_quiet=60000", *nodes]
        program = [launcher, sys.executable, folder / "program.py"]
        text = run([*FOREBAY, *words, "--", *program], work, ENVIRONMENT)
    judged(json.loads(text.splitlines()[-1]), work)


# Both write a file; then rank 1 kills the daemon of its node. Rank 0 says when it has written, in a
# file that is not below the pool's path: later, its bytes would be written through.
KILLER = """
import os, signal, socket, struct, time
rank = int(os.environ["SLURM_PROCID"])
fd = os.open(f"own-{rank}", os.O_CREAT | os.O_RDWR)
os.write(fd, bytes([rank]) * 1_000_000)
os.pread(fd, 1, 0)  # the daemon has seen what was written
if rank == 0:
    open("../written", "w").close()
else:
    while not os.path.exists("../written"):
        time.sleep(0.01)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as daemon:
        daemon.connect(os.environ["FOREBAY_POOL_SOCKET"])
        peer = daemon.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    os.kill(struct.unpack("3i", peer)[0], signal.SIGKILL)
"""


@ROOT_ONLY
def test_what_a_daemon_of_another_node_took_along_is_named(folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(KILLER)
    with two_nodes(folder) as launcher:
        words = ["run", "--pool", work, "--format", "json", "--set", "pool_quiet=60000"]
        nodes = ["--set", "pool_nodes=2", "--set", f"pool_starter={launcher}"]
        program = [launcher, sys.executable, folder / "program.py"]
        text = run([*FOREBAY, *words, *nodes, "--", *program], work, ENVIRONMENT, status=74)
    told = json.loads(text.splitlines()[-1])["pool"]
    ensure(told["death"].startswith("on node 1, "), told["death"])
    lost = {Path(one["path"]).name: one["bytes"] for one in told["lost"]}
    ensure(lost == {"own-1": 1_000_000}, f"{lost}")
    ensure((work / "own-0").read_bytes() == bytes(1_000_000), "the other node lost bytes")
    taken = {Path(file["path"]).name: file["taken"] for file in told["files"]}
    ensure(taken == {"own-0": 1_000_000}, f"{taken}")


@ROOT_ONLY
def test_a_starter_that_starts_nothing(folder: Path) -> None:
    """Nothing is run, and what it said is told."""
    (folder / "srun-none").write_text("#!/bin/sh\necho no such partition >&2; exit 1\n")
    (folder / "srun-none").chmod(0o755)
    words = ["run", "--pool", folder, "--set", "pool_nodes=2"]
    starter = ["--set", f"pool_starter={folder / 'srun-none'}"]
    command = [*FOREBAY, *words, *starter, "--", "touch", folder / "run"]
    text = run(command, folder, ENVIRONMENT, status=125)
    ensure("have not started on 2 nodes" in text and "no such partition" in text, text)
    ensure(not (folder / "run").exists(), "the program was run")


class Batch:
    """Jobs of the Slurm that is there for the tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.environment = {**ENVIRONMENT, "SLURM_CONF": os.environ["FOREBAY_SLURM"]}

    def submit(self, script: str, *options: str) -> Path:
        """Begins a job of two nodes; where its output goes."""
        path, out = self._folder / "job.sh", self._folder / "out"
        path.write_text(f"#!/bin/bash\n{script}\necho job ends\n")
        words = ["sbatch", "-N", "2", "-n", "2", "--ntasks-per-node=1", "-o", out, *options, path]
        run(words, self._folder, self.environment)
        return out

    def ended(self, out: Path, *, seconds: float = 60, mark: str = "job ends") -> str:
        ensure(until(lambda: out.exists() and mark in out.read_text(), seconds), _text(out))
        return _text(out)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else "no output"


@SLURM
def test_a_batch_job_on_two_nodes(folder: Path) -> None:
    """Started by srun --overlap, without a word about nodes."""
    work = prepared(folder)
    batch = Batch(folder)
    out = batch.submit(
        f"cd {work}\n{' '.join(FOREBAY)} run --pool . --set pool_quiet=60000 --set pool_readers=1 "
        "--format json "
        f"--summary {folder}/summary -- srun -n 2 {sys.executable} {folder}/program.py"
    )
    batch.ended(out)
    judged(json.loads((folder / "summary").read_text()), work)


# How Slurm introduces the ranks of an MPI to each other, and what that MPI has to know: all nodes
# here have the same addresses. (MPICH 4.0.2 by itself hangs at its end now and then.)
STEPS: Mapping[m.Mpi, tuple[str, str]] = {
    m.MPICH_5: ("pmi2", ""),
    m.OPEN_MPI: ("pmix", "OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo"),
}
TOGETHER = Program(name="together_100", source="together.c", arguments=("100",))
# Open MPI 4.1.4 calls a null pointer in its btl tcp, in MPI_Init, in one of some 25 jobs of two
# nodes, also without Forebay: nothing is written then.
ATTEMPTS, CRASH = 4, "Failing at address: (nil)"


@SLURM
@on(*STEPS)
@pytest.mark.parametrize("program", [VIEWS, TOGETHER], ids=lambda one: one.name)
def test_an_mpi_program_on_two_nodes(mpi: m.Mpi, program: Program, folder: Path) -> None:
    """Its collective writes are deposits on both; what it leaves is as without Forebay."""
    reference, native = plain(program, mpi, 4), m.build(mpi, program.source)
    method, needs = STEPS[mpi]
    settings = " ".join(
        f"--set {name}={value}" for name, value in ON_NODES.items() if name != "ranks_per_node"
    )

    def attempt(number: int) -> tuple[Path, dict[str, Any], str]:
        work = folder / f"attempt-{number}"
        work.mkdir()
        batch, summary = Batch(folder), folder / f"summary-{number}"
        out = batch.submit(
            f"cd {work}\n"
            f"export TMPDIR=/tmp {needs}\n"
            f"{' '.join(FOREBAY)} run --pool . {settings} --record {work / RECORD} --format json "
            f"--summary {summary} -- srun --mpi={method} -n 4 "
            f"--ntasks-per-node=2 {native} {work} {' '.join(program.arguments)}",
            *("-n", "4", "--ntasks-per-node=2"),
        )
        text = batch.ended(out, seconds=120)
        ensure(summary.exists(), text)
        out.unlink()
        return work, json.loads(summary.read_text()), text

    for number in range(ATTEMPTS):
        work, report, text = attempt(number)
        if mpi is not m.OPEN_MPI or CRASH not in text or report["pool"]["taken"] > 0:
            break
    ensure(report["status"] == 0 and report["pool"]["arrived"], text)
    compare(reference, work, ranks=4)
    nodes = max(file.nodes for file in Record.read(work / RECORD).files)
    ensure(nodes == 2, f"{nodes} nodes")
    ensure(report["pool"]["taken"] > 0, "nothing was deposited")


# Writes, says so, and waits for the end.
HOLDER = f"""
import os, time
rank = os.environ["SLURM_PROCID"]
os.write(os.open(f"big-{{rank}}", os.O_CREAT | os.O_RDWR), b"x" * {2 * MIB})
open(f"written-{{rank}}", "w").close()
time.sleep(600)
"""


@SLURM
@pytest.mark.parametrize("ending", ["signal", "cancel", "time"])
def test_a_job_that_is_ended_while_it_drains_has_what_it_wrote(ending: str, folder: Path) -> None:
    """By a signal to the batch script; by `scancel`, which sends SIGTERM to the steps and, after
    KillWait, SIGKILL to all; and by its time, which the pool was told not to look at."""
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(HOLDER)
    batch = Batch(folder)
    out = batch.submit(
        f"cd {work}\nexec {' '.join(FOREBAY)} run --pool . --set pool_quiet=60000 "
        "--set pool_window=1GiB --set pool_deadline=0 -- "
        f"srun -n 2 {sys.executable} {folder}/program.py",
        *(["--time=1"] if ending == "time" else []),
    )
    written = [work / f"written-{rank}" for rank in (0, 1)]
    ensure(until(lambda: all(one.exists() for one in written), 150), _text(out))
    ensure(all((work / f"big-{rank}").stat().st_size == 0 for rank in (0, 1)), "drained before")
    jobs = run(["squeue", "-h", "-t", "RUNNING", "-o", "%i"], folder, batch.environment).split()
    if ending != "time":
        how = ["--batch", "--signal=TERM"] if ending == "signal" else []
        run(["scancel", *how, *jobs], folder, batch.environment)
    batch.ended(out, mark="through the pool", seconds=180)
    for rank in (0, 1):
        ensure((work / f"big-{rank}").stat().st_size == 2 * MIB, f"rank {rank}: {_text(out)}")


WRITER = """
import os
fd = os.open("own-" + os.environ["SLURM_PROCID"], os.O_CREAT | os.O_RDWR)
os.write(fd, b"x" * 1_000_000)
"""


@SLURM
@pytest.mark.parametrize("minutes", [5, 30])
def test_slurm_says_when_the_job_ends(minutes: int, folder: Path) -> None:
    """The pool is to be drained ten minutes before: in a job of five minutes it takes nothing."""
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(WRITER)
    batch = Batch(folder)
    out = batch.submit(
        f"cd {work}\n{' '.join(FOREBAY)} run --pool . --set pool_deadline=600 --format json "
        f"--summary {folder}/summary -- srun -n 2 {sys.executable} {folder}/program.py",
        f"--time={minutes}",
    )
    text = batch.ended(out)
    told = json.loads((folder / "summary").read_text())["pool"]
    refused = [one["reason"] == "job_ends" for one in told["files"]]
    ensure(refused == [minutes == 5] * 2, f"{told}\n{text}")
    ensure(told["taken"] == (0 if minutes == 5 else 2_000_000), f"{told}")
    for rank in (0, 1):
        ensure((work / f"own-{rank}").read_bytes() == b"x" * 1_000_000, f"rank {rank}")
