"""The everyday work whose cost through the mount is measured: what is made before it, and the
command. Its seconds are those of the whole command, or those that it prints."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from evaluation.pool.places import ROOT
from evaluation.program_run import run_program
from forebay.common.model.frozen import frozen

KIB, MIB = 1 << 10, 1 << 20
SMALL_BYTES = 2 * KIB
GIT = {
    "GIT_AUTHOR_NAME": "forebay",
    "GIT_AUTHOR_EMAIL": "forebay@localhost",
    "GIT_COMMITTER_NAME": "forebay",
    "GIT_COMMITTER_EMAIL": "forebay@localhost",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
TRANSACTIONS = """
import sqlite3, sys, time
path, mode, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
base = sqlite3.connect(path, isolation_level=None)
base.execute(f"pragma journal_mode={mode}").fetchall()
base.execute("create table t(number integer primary key, text text)")
begin = time.monotonic()
for number in range(count):
    base.execute("begin immediate")
    base.execute("insert into t values(?, ?)", (number, "x" * 100))
    base.execute("commit")
print(time.monotonic() - begin)
base.close()
"""
COMMITS = """
for i in $(seq "$1"); do
    echo "$i" > "file$i" && git add "file$i" && git commit -q -m "Add $i" || exit 1
done
"""


@frozen
class LoadSizes:
    """How much each load does."""

    opens: int
    files: int
    cloned: int
    sources: int
    transactions: int
    commits: int
    streamed: int


FULL = LoadSizes(
    opens=3000,
    files=4000,
    cloned=1000,
    sources=60,
    transactions=300,
    commits=50,
    streamed=512 * MIB,
)
QUICK = LoadSizes(
    opens=100,
    files=40,
    cloned=10,
    sources=3,
    transactions=5,
    commits=2,
    streamed=8 * MIB,
)


@frozen
class LoadSources:
    """The input of loads: in memory, made once, never below a mount."""

    calls: Path
    """The program of calls.c."""
    tar: Path
    repository: Path


@frozen
class TimedLoad:
    """Some work. `prepare` makes what it needs in an empty folder, before there is a mount;
    `command` does the work there and is what is timed."""

    name: str
    command: Sequence[str]
    prepare: Callable[[Path], None] = lambda _: None
    prints_seconds: bool = False
    shown_in: str = "s"
    """The unit of the table: s, ms a file, µs a call, MB/s."""
    per: float = 1
    """The seconds are divided by this number: files of the load, or bytes for MB/s."""
    asked: str = ""
    """Asked of the time through the mount, on every file system."""
    asked_in_memory: str = ""
    asked_on_disk: str = ""


def everyday(sizes: LoadSizes, sources: LoadSources) -> tuple[TimedLoad, ...]:
    """All loads but pgbench, by name in the order of the table."""
    return (
        *_small_files(sizes, sources),
        *_projects(sizes, sources),
        *_databases(sizes),
        *_streams(sizes, sources),
    )


def _small_files(sizes: LoadSizes, sources: LoadSources) -> Iterator[TimedLoad]:
    calls = str(sources.calls)
    yield TimedLoad(
        name="open and close",
        command=(calls, "opens", "file", str(sizes.opens)),
        prepare=_one_file,
        prints_seconds=True,
        shown_in="µs a call",
        asked="≤ 16 µs",
    )
    untar = TimedLoad(
        name=f"untar {sizes.files} files of 2 KB",
        command=("tar", "xf", str(sources.tar)),
        shown_in="ms a file",
        per=sizes.files,
        asked_in_memory="≤ 0.12 ms a file",
        asked_on_disk="≤ 2 ×",
    )
    yield untar
    yield replace(
        untar,
        name=f"cp -r {sizes.files} files of 2 KB",
        command=("cp", "-r", "tree", "copy"),
        prepare=partial(unpack, sources.tar),
    )


def _projects(sizes: LoadSizes, sources: LoadSources) -> Iterator[TimedLoad]:
    yield TimedLoad(
        name=f"git clone ({sizes.cloned} files)",
        command=("git", "clone", "-q", "--no-hardlinks", str(sources.repository), "clone"),
        asked_on_disk="≤ 1.2 ×",
    )
    yield TimedLoad(
        name="python -m venv --without-pip",
        command=(sys.executable, "-m", "venv", "--without-pip", "venv"),
        asked_on_disk="≤ 1.2 ×",
    )
    yield TimedLoad(
        name=f"make ({sizes.sources} C files)",
        command=("make", "-s"),
        prepare=partial(write_project, sources=sizes.sources),
        asked_on_disk="≤ 1.2 ×",
    )


def _databases(sizes: LoadSizes) -> Iterator[TimedLoad]:
    count = str(sizes.transactions)
    for name, mode in (("journal", "delete"), ("WAL", "wal")):
        yield TimedLoad(
            name=f"sqlite, {count} transactions, {name}",
            command=(sys.executable, "-c", TRANSACTIONS, "base", mode, count),
            prints_seconds=True,
            asked_on_disk="≤ 1.3 ×",
        )
    yield TimedLoad(
        name=f"git commit, {sizes.commits} times",
        command=("sh", "-c", COMMITS, "sh", str(sizes.commits)),
        prepare=_repository,
        asked_on_disk="≤ 1.3 ×",
    )


def _streams(sizes: LoadSizes, sources: LoadSources) -> Iterator[TimedLoad]:
    write = TimedLoad(
        name="write, calls of 1 MiB",
        command=(str(sources.calls), "write", "file", str(sizes.streamed)),
        prints_seconds=True,
        shown_in="MB/s",
        per=sizes.streamed,
        asked_in_memory="≤ 2 × (half the rate)",
    )
    yield write
    yield replace(
        write,
        name="read, calls of 1 MiB",
        command=(str(sources.calls), "read", "file", str(sizes.streamed)),
        prepare=partial(_large_file, size=sizes.streamed),
        asked_in_memory="≤ 2.2 × (0.45 of the rate)",
    )


def make_sources(folder: Path, sizes: LoadSizes) -> LoadSources:
    """Compiles and packs what loads read."""
    sources = LoadSources(
        calls=folder / "calls", tar=folder / "files.tar", repository=folder / "repository"
    )
    text = ROOT / "evaluation" / "mount" / "calls.c"
    subprocess.run(["cc", "-O2", "-o", sources.calls, text], check=True)
    tree = folder / "tree"
    write_tree(tree, sizes.files)
    with tarfile.open(sources.tar, "w") as archive:
        archive.add(tree, "tree")
    write_tree(sources.repository, sizes.cloned)
    _repository(sources.repository)
    for words in (["add", "."], ["commit", "-q", "-m", "Add files"]):
        subprocess.run(["git", *words], cwd=sources.repository, env=environment(), check=True)
    return sources


def run(load: TimedLoad, folder: Path) -> float:
    """The seconds of the load in that folder, which has what it needs. Raises RuntimeError if the
    command fails."""
    done = run_program(load.name, load.command, at=folder, more=environment())
    return float(done.output.split()[-1]) if load.prints_seconds else done.seconds


def environment() -> dict[str, str]:
    """That of the loads: git knows no configuration of the user's."""
    return {**os.environ, **GIT, "LC_ALL": "C.UTF-8"}


def shown(load: TimedLoad, seconds: float) -> str:
    """Seconds of the load in the unit of its row."""
    if load.shown_in == "MB/s":
        return f"{load.per / seconds / 1e6:.0f}"
    scale = {"s": 1.0, "ms a file": 1e3, "µs a call": 1e6}[load.shown_in]
    value = seconds / load.per * scale
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"


def asked(load: TimedLoad, *, in_memory: bool) -> str:
    """The target of the row on such a file system, or nothing."""
    return load.asked or (load.asked_in_memory if in_memory else load.asked_on_disk)


def write_tree(folder: Path, files: int) -> None:
    """So many files of 2 KB, a hundred in a folder."""
    for number in range(files):
        path = folder / f"part{number // 100}" / f"file{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"{number:08d}".encode() * (SMALL_BYTES // 8))


def write_project(folder: Path, sources: int) -> None:
    """A C program with so many sources besides main.c, and its Makefile."""
    names = [f"part{number}" for number in range(sources)]
    for number, name in enumerate(names):
        (folder / f"{name}.c").write_text(
            f'#include "parts.h"\n#include <stdio.h>\nint {name}(void) {{ return {number}; }}\n'
        )
    (folder / "parts.h").write_text("".join(f"int {name}(void);\n" for name in names))
    total = " + ".join(f"{name}()" for name in names)
    (folder / "main.c").write_text(
        f'#include "parts.h"\nint main(void) {{ return ({total}) < 0; }}\n'
    )
    objects = " ".join(f"{name}.o" for name in [*names, "main"])
    (folder / "Makefile").write_text(
        f"program: {objects}\n\tcc -o $@ $^\n{objects}: parts.h\n%.o: %.c\n\tcc -c -o $@ $<\n"
    )


def unpack(tar: Path, folder: Path) -> None:
    """The files of the archive below `folder`."""
    subprocess.run(["tar", "xf", str(tar)], cwd=folder, check=True)


def _one_file(folder: Path) -> None:
    (folder / "file").write_text("text")


def _large_file(folder: Path, size: int) -> None:
    with (folder / "file").open("wb") as file:
        for _ in range(size // MIB):
            file.write(bytes(MIB))


def _repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, env=environment(), check=True)
