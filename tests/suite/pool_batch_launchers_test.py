"""`forebay run --pool -- flux run` and `-- jsrun` on several nodes: they start the daemons. Scripts
stand for both, and do what their manuals say; namespaces stand for nodes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import until
from suite.pool_job_test import ENVIRONMENT, MIB, ROOT_ONLY
from suite.pool_launched_test import HOSTS, OWN, summary, two_nodes, words_of
from suite.pooled import run
from suite.verdict import ensure

# `flux getattr`, `flux exec`, which passes its standard input and SIGTERM on to all tasks and sets
# no variable, `flux run`, and `jsrun`, whose tasks have no input. Each logs how it was called.
SCRIPT = """#!{python}
import os, signal, subprocess, sys, threading
nodes, hosts = {nodes}, {hosts}
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
with open("{log}", "a") as log:
    print(name, *words[:8], file=log)
command = words.pop(0) if name == "flux" else "jsrun"
if command == "getattr":
    host = os.uname().nodename
    known = dict(size=len(nodes), rank=hosts.index(host) if host in hosts else 0)
    print(known.get(words[0], os.getuid()))
    sys.exit()
options = {{}}
while words[0].startswith("-"):
    option, _, value = words.pop(0).partition("=")
    if option == "-n" or (option.startswith("-") and not option.startswith("--")):
        value = words.pop(0)
    options[option] = value
if command == "exec":
    places = [(node, dict()) for node in nodes]
else:
    count = int(options["-n"])
    each = count // int(options["-N"]) if command == "run" else int(options["-r"])
    rank, size = dict(
        run=("FLUX_TASK_RANK", "FLUX_JOB_SIZE"), jsrun=("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE")
    )[command]
    places = [
        (nodes[one // each], {{rank: str(one), size: str(count)}}) for one in range(count)
    ]
tasks = [
    subprocess.Popen(
        ["nsenter", "-m", "-u", "-i", "-p", "-t", str(node), "env", "-C", os.getcwd(), *words],
        env={{**os.environ, **more}},
        stdin=subprocess.PIPE if command == "exec" else subprocess.DEVNULL,
    )
    for node, more in places
]
def end(number, _):
    for task in tasks:
        task.send_signal(number)
signal.signal(signal.SIGTERM, end)
def pass_on():
    while part := os.read(0, 1 << 16):
        for task in tasks:
            task.stdin.write(part)
            task.stdin.flush()
    for task in tasks:
        task.stdin.close()
if command == "exec" and "--noinput" not in options:
    threading.Thread(target=pass_on, daemon=True).start()
sys.exit(max(task.wait() for task in tasks))
"""
LAUNCHERS: Mapping[str, tuple[str, list[str], str]] = {
    "flux": ("flux run -N 2 -n {ranks}", [], "flux exec --rank=0-1 sh -c"),
    "jsrun": ("jsrun -n {ranks} -r {each}", ["pool_nodes=2"], "jsrun -n 2 -r 1 -a 1 -c 1"),
}


@contextlib.contextmanager
def called(name: str, folder: Path) -> Iterator[Mapping[str, str]]:
    """The environment in which `name` is on PATH."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    with two_nodes(folder) as nodes:
        script = bin_folder / name
        script.write_text(
            SCRIPT.format(python=sys.executable, nodes=nodes, hosts=HOSTS, log=folder / "log")
        )
        script.chmod(0o755)
        yield {**ENVIRONMENT, "PATH": f"{bin_folder}:{os.environ['PATH']}"}


@ROOT_ONLY
@pytest.mark.parametrize("name", LAUNCHERS)
def test_flux_and_jsrun_start_the_daemons(name: str, folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(OWN)
    launcher, settings, start = LAUNCHERS[name]
    with called(name, folder) as environment:
        told = launcher.format(ranks=4, each=2).split()
        words = words_of(work, told, "pool_quiet=60000", *settings)
        program = [sys.executable, folder / "program.py"]
        text = run([*words, *program], work, environment, seconds_max=60)
    ensure(all(text.count(host) == 2 for host in HOSTS), text)
    ensure(start in (folder / "log").read_text(), (folder / "log").read_text())
    pool = summary(work, text)["pool"]
    taken = {Path(file["path"]).name: file["taken"] for file in pool["files"]}
    ensure(taken == {f"own-{rank}": 4 * MIB for rank in range(4)}, f"{taken}\n{text}")
    for rank in range(4):
        ensure((work / f"own-{rank}").read_bytes() == str(rank).encode() * 4 * MIB, f"{rank}")


@ROOT_ONLY
@pytest.mark.full
@pytest.mark.parametrize("name", LAUNCHERS)
def test_what_was_written_is_drained_when_forebay_run_is_killed(name: str, folder: Path) -> None:
    """Tasks of jsrun have no input that would end with it."""
    work = folder / "work"
    work.mkdir()
    (folder / "program.py").write_text(OWN)
    launcher, settings, _ = LAUNCHERS[name]

    def sizes() -> list[int]:
        return [(work / f"own-{rank}").stat().st_size for rank in (0, 1)]

    with called(name, folder) as environment, (folder / "out").open("w") as out:
        told = launcher.format(ranks=2, each=1).split()
        words = words_of(work, told, "pool_quiet=60000", "pool_age=3600", *settings)
        process = subprocess.Popen(
            [*words, sys.executable, str(folder / "program.py"), "stay"],
            cwd=work,
            env={**m.clean_environment(), **environment},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        written = [folder / f"written-{rank}" for rank in (0, 1)]
        try:
            there = until(lambda: all(one.exists() for one in written), 180)
            ensure(there, (folder / "out").read_text())
            ensure(sizes() == [0, 0], f"it was written at once: {sizes()}")
            process.send_signal(signal.SIGKILL)
            drained = until(lambda: sizes() == [4 * MIB] * 2, 120)
            ensure(drained, f"{sizes()}: {(folder / 'out').read_text()}")
            gone = until(lambda: not list(work.glob(".forebay*")), 120)
            ensure(gone, "something was left behind")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
