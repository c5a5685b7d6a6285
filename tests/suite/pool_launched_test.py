"""`forebay run --pool -- mpiexec` on several nodes without Slurm: the program's own launcher starts
the daemons. Namespaces stand for nodes, and a script for ssh."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from suite import mpi as m
from suite.command import FOREBAY
from suite.compare import RECORD, compare
from suite.file_systems import until
from suite.on import on
from suite.pool_job_test import ENVIRONMENT, MIB, ROOT_ONLY
from suite.pooled import run
from suite.programs import ON_NODES, VIEWS, plain
from suite.record import Record
from suite.verdict import ensure

HOSTS = ("forebay-n0", "forebay-n1")
# Options, the node's name, and a command for a shell there.
AGENT = """#!/bin/sh
while :; do case "$1" in -*) shift ;; *) break ;; esac; done
case "$1" in {cases} *) exit 255 ;; esac
shift
exec nsenter -m -u -i -p -t "$node" env -C "$PWD" sh -c "$*"
"""
UNSHARE = "unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc".split()
HOLD = """
hostname {host} && mount --make-rprivate / && mount --bind {hosts} /etc/hosts &&
mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm && touch /tmp/up && exec sleep 600
"""


def _child_of(process: int) -> int:
    children = Path(f"/proc/{process}/task/{process}/children")
    ensure(until(lambda: children.read_text() != "", 60), "no namespace")
    return int(children.read_text())


@contextlib.contextmanager
def two_nodes(folder: Path) -> Iterator[list[int]]:
    """Processes in the namespaces of two nodes; each has a name and a /tmp of its own."""
    hosts = folder / "hosts"
    known = Path("/etc/hosts").read_text()
    hosts.write_text(known + "".join(f"127.0.0.1 {host}\n" for host in HOSTS))
    with contextlib.ExitStack() as stack:
        nodes = []
        for host in HOSTS:
            hold = HOLD.format(host=host, hosts=hosts)
            outside = subprocess.Popen([*UNSHARE, "sh", "-c", hold])
            stack.callback(outside.wait)
            stack.callback(outside.kill)
            nodes.append(_child_of(outside.pid))
        up = [Path(f"/proc/{node}/root/tmp/up") for node in nodes]
        ensure(until(lambda: all(one.exists() for one in up), 60), "no namespaces")
        yield nodes


@contextlib.contextmanager
def launching(mpi: m.Mpi, folder: Path) -> Iterator[list[str]]:
    """The launcher, told of two nodes by a file."""
    with two_nodes(folder) as nodes:
        agent = folder / "agent"
        cases = " ".join(f"{host}) node={node} ;;" for host, node in zip(HOSTS, nodes, strict=True))
        agent.write_text(AGENT.format(cases=cases))
        agent.chmod(0o755)
        file = folder / "hostfile"
        if mpi.is_open_mpi:
            file.write_text("".join(f"{host} slots=2\n" for host in HOSTS))
            words = ["--prtemca", "plm_ssh_agent"] if mpi.wheel else ["--mca", "plm_rsh_agent"]
            words += [str(agent), "--allow-run-as-root", "--hostfile", str(file)]
        else:
            file.write_text("".join(f"{host}:2\n" for host in HOSTS))
            words = ["-launcher", "ssh", "-launcher-exec", str(agent), "-f", str(file)]
        yield [mpi.launcher, *words]


def words_of(work: Path, launcher: list[str], *settings: str) -> list[str]:
    told = [word for one in settings for word in ("--set", one)]
    summary = ["--format", "json", "--summary", str(work.parent / "summary")]
    return [*FOREBAY, "run", "--pool", str(work), *told, *summary, "--", *launcher]


def summary(work: Path, text: str) -> dict[str, Any]:
    path = work.parent / "summary"
    ensure(path.exists(), text)
    report: dict[str, Any] = json.loads(path.read_text())
    left = [one.name for one in work.iterdir() if one.name.startswith(".forebay")]
    ensure(not left, f"left behind: {left}")
    return report


# MPICH 4.0.2 hangs in MPI_Finalize now and then where its ranks are on several nodes.
@ROOT_ONLY
@on(m.OPEN_MPI, full=m.WHEELS)
def test_the_programs_launcher_starts_the_daemons(mpi: m.Mpi, folder: Path) -> None:
    """Nothing is said of nodes; collective writes are deposits on both."""
    reference, native = plain(VIEWS, mpi, 4), m.build(mpi, VIEWS.source)
    work = folder / "work"
    work.mkdir()
    settings = [f"{name}={text}" for name, text in ON_NODES.items() if name != "ranks_per_node"]
    with launching(mpi, folder) as launcher:
        words = words_of(work, launcher, *settings, f"record={work / RECORD}")
        text = run([*words, "-n", "4", native, work], work, ENVIRONMENT, seconds_max=90)
    report = summary(work, text)
    ensure(report["status"] == 0 and report["pool"]["arrived"], text)
    compare(reference, work, ranks=4)
    nodes = max(file.nodes for file in Record.read(work / RECORD).files)
    ensure(nodes == 2, f"{nodes} nodes")
    ensure(report["pool"]["taken"] > 0, "nothing was deposited")


# Shows what the rendezvous folder is like, and has another user try to read and to write there.
INTRUDES = """
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
found=$(echo .forebay-pool-*)
stat -c '%a %u %F' "$found"
stat -c '%a %n' "$found/peers" "$found/"out-*
setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "
    cat ../reached; cat $found/peers; ls $found; echo > $found/TERM; echo > $found/END"
ls "$found"
"""


@ROOT_ONLY
@on(m.OPEN_MPI)
def test_another_user_learns_and_says_nothing_in_the_rendezvous_folder(
    mpi: m.Mpi, folder: Path
) -> None:
    work, reached = folder / "work", folder / "reached"
    work.mkdir()
    reached.write_text("reached\n")
    with launching(mpi, folder) as launcher:
        words = [*words_of(work, launcher), "-n", "4", "sh", "-c", INTRUDES]
        text = run(words, work, ENVIRONMENT, seconds_max=60)
    if "reached\n" not in text:
        pytest.skip("another user does not come near the folder. Set FOREBAY_TEST_DIR.")
    ensure("700 0 directory" in text, text)
    ensure("600 .forebay-pool-" in text and "/peers" in text, text)
    ensure("secret" not in text, f"it was told the secret:\n{text}")
    ensure(text.count("Permission denied") >= 4, f"it came in:\n{text}")
    ensure(not {"TERM", "END"} & set(text.split()), f"it was obeyed:\n{text}")
    ensure(summary(work, text)["pool"]["arrived"], text)


OWN = """
import os, sys, time
names = (
    "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK"
)
rank = next(os.environ[name] for name in names if name in os.environ)
os.write(os.open(f"own-{rank}", os.O_CREAT | os.O_RDWR), rank.encode() * BYTES)
print(os.uname().nodename, flush=True)
open(f"../written-{rank}", "w").close()
while len(sys.argv) > 1:
    time.sleep(0.01)
""".replace("BYTES", str(4 * MIB))


@ROOT_ONLY
@on(m.MPICH, m.OPEN_MPI)
def test_it_is_started_on_the_nodes_of_the_host_file(mpi: m.Mpi, folder: Path) -> None:
    """One daemon on each, whatever is said of places; a program without MPI."""
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(OWN)
    with launching(mpi, folder) as launcher:
        words = words_of(work, launcher, "pool_quiet=60000")
        program = [sys.executable, folder / "program.py"]
        text = run([*words, "-n", "4", *program], work, ENVIRONMENT, seconds_max=60)
    ensure(all(text.count(host) == 2 for host in HOSTS), text)
    told = summary(work, text)["pool"]
    taken = {Path(file["path"]).name: file["taken"] for file in told["files"]}
    ensure(taken == {f"own-{rank}": 4 * MIB for rank in range(4)}, f"{taken}\n{text}")
    for rank in range(4):
        ensure((work / f"own-{rank}").read_bytes() == str(rank).encode() * 4 * MIB, f"{rank}")


@ROOT_ONLY
@on(m.MPICH, m.OPEN_MPI)
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_written_is_drained_when_forebay_run_is_ended(
    sent: signal.Signals, mpi: m.Mpi, folder: Path
) -> None:
    """By SIGTERM, which goes on to the program; after SIGKILL the daemons find it out."""
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(OWN)

    def sizes() -> list[int]:
        return [(work / f"own-{rank}").stat().st_size for rank in (0, 1)]

    with launching(mpi, folder) as launcher, (folder / "out").open("w") as out:
        words = words_of(work, launcher, "pool_quiet=60000", "pool_age=3600")
        words += ["-n", "2", "-ppn", "1"] if not mpi.is_open_mpi else ["-n", "2", "--bynode"]
        process = subprocess.Popen(
            [*words, sys.executable, str(folder / "program.py"), "stay"],
            cwd=work,
            env={**m.clean_environment(), **ENVIRONMENT},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        written = [folder / f"written-{rank}" for rank in (0, 1)]
        try:
            there = until(lambda: all(one.exists() for one in written), 180)
            ensure(there, (folder / "out").read_text())
            ensure(sizes() == [0, 0], "it was written at once")
            process.send_signal(sent)
            drained = until(lambda: sizes() == [4 * MIB] * 2, 120)
            ensure(drained, f"{sizes()}: {(folder / 'out').read_text()}")
            ensure(
                until(lambda: not list(work.glob(".forebay*")), 120), "something was left behind"
            )
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
