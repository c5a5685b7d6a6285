"""Faults around forebay-ior: the right status and message on every rank, no hang, no litter."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import mounted_tmpfs
from suite.ior import INPUT_OUTPUT, REFUSED, TIME_LIMIT, USAGE, Ior, program
from suite.on import BENCHMARK, EACH
from suite.verdict import ensure

SENTENCE = re.compile(r"^ERROR: .+ \(.+\)\. [A-Z].+\.$", re.M)
"""Problem (why). What to do next."""
STALL_SECONDS = 40


@BENCHMARK
def test_disk_full(mpi: m.Mpi, folder: Path) -> None:
    with mounted_tmpfs(folder / "small", "4m") as small:
        run = Ior(mpi=mpi, folder=small, ranks=3)
        for words in ("", "-F", "-a MMAP -F", "-a MPIIO", "-a HDF5"):
            text = run(f"-t 64k -b 4m {words} -o tf", status=INPUT_OUTPUT)
            ensure(SENTENCE.search(text), text[-800:])
            run.ensure_clean()


@BENCHMARK
def test_disk_full_collectively(mpi: m.Mpi, folder: Path) -> None:
    """Every rank comes back from the calls that fail: the watchdog, which would give another
    status, has not to end them. A call of several rounds, and one of a single one."""
    with mounted_tmpfs(folder / "small", "12m") as small:
        run = Ior(mpi=mpi, folder=small, ranks=2, seconds_max=STALL_SECONDS + 20)
        apis = ["MPIIO", "MPIIO --mpiio.useFileView", "HDF5", *["NCMPI"] * mpi.is_open_mpi]
        for api in apis:
            for size in ("-t 64k -b 8m", "-t 8m -b 8m", "-t 24m -b 24m"):
                text = run(
                    f"-a {api} -c {size} -w -o tf --stall-limit {STALL_SECONDS}",
                    status=INPUT_OUTPUT,
                )
                ensure(SENTENCE.search(text), text[-800:])
                run.ensure_clean()


@BENCHMARK
def test_directory_is_read_only(mpi: m.Mpi, folder: Path) -> None:
    with mounted_tmpfs(folder / "closed", "4m") as closed:
        subprocess.run(["mount", "-o", "remount,ro", closed], check=True)
        run = Ior(mpi=mpi, folder=folder)
        apis = ["POSIX", "POSIX -F", "POSIX -F -u", "MMAP", "MPIIO", "MPIIO -c", "HDF5", "HDF5 -c"]
        for api in [*apis, *["NCMPI"] * mpi.is_open_mpi]:
            text = run(f"-a {api} -t 64k -b 64k -o closed/tf", status=INPUT_OUTPUT)
            ensure(SENTENCE.search(text), f"{api}: {text[-800:]}")
            ensure("mounted read-write" in text, f"{api}: {text[-800:]}")


@BENCHMARK
def test_nonsense(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    for words, what in (
        ("-t 3", "multiple of 8"),
        ("-t 3m -b 4m", "multiple of transfer size"),
        ("-a IME", "not built: IME"),
        ("-r -R", "-G"),
    ):
        ensure(what in run(f"{words} -o tf", status=USAGE), words)
    (folder / "script").write_text("IOR START\ntransferSize=3k\nblockSize=1m\nRUN\nIOR STOP\n")
    ensure('script, line 4: "RUN"' in run("-f script", status=USAGE), "no line is named")
    (folder / "script").unlink()
    ensure("running with 2 tasks" in run("-N 8 -t 64k -b 64k -o tf"), "more tasks than ranks")
    ensure("No such file" in run("-o no/dir/tf", status=INPUT_OUTPUT), "no directory")
    text = run("-t 64k -b 1m -F --budget-bytes 1m -o tf", status=REFUSED)
    ensure("it writes 2 MiB, the budget allows 1 MiB" in text, text[-500:])
    run("-t 64k -b 1m -F --budget-files 1 -o tf", status=REFUSED)
    dummy = "-a DUMMY --dummy.delay-xfer=100000000 -t 64k -b 1m -w -o tf"
    ensure("stands still" in run(f"{dummy} --stall-limit 1", status=TIME_LIMIT), "no watchdog")
    run(f"{dummy} --budget-time 1", status=TIME_LIMIT)
    run.ensure_clean()


@BENCHMARK
def test_file_vanishes(mpi: m.Mpi, folder: Path) -> None:
    """Each of its reads opens the file anew: after the first, there is none."""
    run = Ior(mpi=mpi, folder=folder)
    run("-t 64k -b 1m -w -k -G 1 -F -o tf")
    (folder / "tf.00000001").unlink()
    text = run("-t 64k -b 1m -r -G 1 -F -k -o tf", status=INPUT_OUTPUT)
    ensure("rank 1: cannot open tf.00000001" in text, text[-500:])
    with (folder / "tf.00000001").open("wb") as file:
        file.truncate(65536)
    text = run("-t 64k -b 1m -r -G 1 -F -o tf", status=INPUT_OUTPUT)
    ensure("the file ends 0 bytes later" in text, text[-500:])
    run.ensure_clean("tf.00000000", "tf.00000001")


@EACH
def test_next_run(mpi: m.Mpi, folder: Path) -> None:
    """The clean-up after a run that was ended leaves the next run's file alone."""
    words = "-t 64k -b 1g -i 20 -o tf".split()
    for _ in range(2):
        ended = [*mpi.start(2, {}), str(program(mpi)), *words]
        with tempfile.TemporaryFile("w+") as out, m.started(ended, out, folder=folder) as process:
            _wait_until(30, lambda: any(file.stat().st_size > 1 << 24 for file in folder.iterdir()))
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        Ior(mpi=mpi, folder=folder)("-t 64k -b 256m -w -o tf")


@BENCHMARK
def test_live_line(mpi: m.Mpi, folder: Path) -> None:
    """Below a launcher standard error is a pipe; the terminal is the launcher's."""
    words = [*mpi.start(2, {}), str(program(mpi)), *"-a DUMMY -t 4k -b 1t -w -D 3 -o tf".split()]
    ours, theirs = os.openpty()
    with subprocess.Popen(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=m.clean_environment(),
    ) as process:
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # the terminal's end
            while part := os.read(ours, 4096):
                text += part
        ensure(process.wait(30) == 0, text.decode())
    os.close(ours)
    ensure(re.search(rb"write .*MiB/s  slowest rank", text), text.decode())


@pytest.mark.parametrize("mpi", m.DEBIAN, ids=lambda mpi: mpi.name)
@pytest.mark.parametrize(
    "words", [pytest.param("-F", id="alone"), pytest.param("-a MPIIO -c", id="collective")]
)
def test_rank_is_killed(mpi: m.Mpi, words: str, folder: Path) -> None:
    """The job ends with it, and a process of the node takes the files away."""
    line = f"{words} -t 4k -b 1g -w -k=0 -Y -O interIODelay=1000 -o tf"
    run = [*mpi.start(3, {}), "env", "-C", str(folder), str(program(mpi)), *line.split()]
    with tempfile.TemporaryFile("w+") as out, m.started(run, out) as process:
        _wait_until(30, lambda: any(file.stat().st_size > 1 << 16 for file in folder.iterdir()))
        children = _descendants(process.pid, program(mpi).name)
        ensure(len(children) == 3, f"{len(children)} ranks")
        os.kill(children[1], signal.SIGKILL)
        process.wait(30)
        ensure(process.returncode != 0, "success after a rank was killed")
        _wait_until(10, lambda: not list(folder.iterdir()))
        _wait_until(10, lambda: not any(_lives(child) for child in children))


def _wait_until(seconds: float, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not holds():
        ensure(time.monotonic() < end, f"not so after {seconds} s")
        time.sleep(0.05)


def _lives(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def _descendants(root: int, name: str) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue
            command, rest = text[text.index("(") + 1 :].rsplit(")", 1)
            parents[int(entry.name)] = (int(rest.split()[1]), command)
    found = []
    for pid, (parent, command) in parents.items():
        while parent in parents and parent != root:
            parent = parents[parent][0]
        above = parents.get(parents[pid][0], (0, ""))[1]
        if parent == root and command == name and above != name:  # not a rank's janitor
            found.append(pid)
    return sorted(found)
