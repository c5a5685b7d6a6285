"""Programs under other tools, through `forebay run --pool`: the same bytes, the same answer, and
what docs/other-tools.md says of each."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from suite import pooled
from suite.command import forebay
from suite.verdict import ensure

DEBIAN = Path("/usr/lib/x86_64-linux-gnu")
COUNTED = "1 opened, 1200400 written, 2 streams, 1 synced"
RIGHT = "1200400 bytes are right"
PIECES, LINES = 1200400, "".join(f"line {number}\n" for number in range(500))
SANITIZERS = {
    "gcc-address": ("gcc", "-fsanitize=address"),
    "gcc-undefined": ("gcc", "-fsanitize=undefined"),
    "gcc-thread": ("gcc", "-fsanitize=thread"),
    "clang-address": ("clang-19", "-fsanitize=address"),
    "gcc-profile": ("gcc", "-pg"),
}
STREAMS_PAST = ("gcc-address", "gcc-thread")
"""These bring an fopen of their own, so that C streams go past the pool."""
TOOLS: Mapping[str, Sequence[str]] = {
    "gdb": ("gdb", "-q", "-batch", "-ex", "break read_back", "-ex", "run", "-ex", "bt", "-ex",
            "continue", "--args"),
    "strace": ("strace", "-f", "-o", "calls"),
    "heaptrack": ("heaptrack", "-o", "allocations"),
    "fakeroot": ("fakeroot",),
    "stdbuf": ("stdbuf", "-oL"),
}  # fmt: skip
ALLOCATORS = ("libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc_minimal.so.4")
FAKETIME = DEBIAN / "faketime" / "libfaketime.so.1"


def built(folder: Path, compiler: str = "gcc", *flags: str) -> Path:
    """The program, outside of the pool."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    program = folder / "beside"
    source = pooled.SOURCES / "beside.c"
    words = [compiler, "-std=gnu11", "-O1", "-g", *flags, str(source), "-o", str(program)]
    subprocess.run([*words, "-pthread"], check=True)
    return program


def through_pool(
    folder: Path, words: Sequence[object], more: Mapping[str, str] | None = None
) -> tuple[str, dict[str, str]]:
    """The command's output, and for each file of the pool why it went past it, if it did. The bytes
    have to be right."""
    (folder / "pool").mkdir()
    options = ("--pool", "pool", "--format", "json", "--summary", "summary.json")
    done = forebay("run", *options, "--", *words, cwd=folder, more=more)
    ensure(done.returncode == 0, f"{done.returncode}: {done.stdout[-800:]}{done.stderr[-1500:]}")
    ensure(RIGHT in done.stdout, f"{done.stdout[-800:]}{done.stderr[-800:]}")
    ensure_bytes(folder / "pool")
    files = json.loads((folder / "summary.json").read_text())["pool"]["files"]
    past = {Path(one["path"]).name: one["past_the_pool"] or "" for one in files}
    return done.stdout + done.stderr, past


def ensure_bytes(folder: Path) -> None:
    pieces = (folder / "pieces").read_bytes()
    ensure(pieces == bytes(at * 7 % 251 for at in range(PIECES)), "pieces has other bytes")
    ensure((folder / "lines").read_text() == LINES, "lines has other bytes")


@pytest.mark.parametrize("name", SANITIZERS)
def test_sanitized_programs_go_through_the_pool(name: str, folder: Path) -> None:
    compiler, flag = SANITIZERS[name]
    said, past = through_pool(folder, [built(folder, compiler, flag), "pool"])
    ensure("Sanitizer" not in said, said)
    ensure(bool(past["lines"]) == (name in STREAMS_PAST), f"{past}")
    ensure(name in STREAMS_PAST or not past["pieces"], f"{past}")


@pytest.mark.parametrize("name", TOOLS)
def test_programs_under_a_tool_go_through_the_pool(name: str, folder: Path) -> None:
    tool = TOOLS[name]
    if shutil.which(tool[0]) is None:
        pytest.skip(f"there is no {tool[0]}")
    said, past = through_pool(folder, [*tool, built(folder), "pool"])
    ensure(not any(past.values()), f"{past}")
    if name == "gdb":
        ensure(re.search(r"Breakpoint 1, .*read_back", said), said[-800:])
        ensure("exited normally" in said, said[-800:])
    if name == "strace":
        ensure("execve" in (folder / "calls").read_text(errors="replace"), "nothing was traced")


@pytest.mark.parametrize("tool", ["memcheck", "callgrind", "helgrind"])
def test_valgrind_has_its_program_do_without_the_pool(tool: str, folder: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("there is no valgrind")
    words = ["valgrind", "-q", f"--tool={tool}", "--error-exitcode=9", built(folder), "pool"]
    _, past = through_pool(folder, words)
    ensure(all("map the pool's memory" in why for why in past.values()), f"{past}")


@pytest.mark.parametrize("order", ["before", "behind", "outside"])
@pytest.mark.parametrize("library", [*ALLOCATORS, "libeatmydata.so"])
def test_other_preloaded_libraries_stand_beside_ours(
    library: str, order: str, folder: Path
) -> None:
    if not (DEBIAN / library).exists():
        pytest.skip(f"there is no {library}")
    _, past = through_pool(folder, *preloading(DEBIAN / library, order, built(folder)))
    ensure(not any(past.values()), f"{past}")


def preloading(library: Path, order: str, program: Path) -> tuple[list[str], dict[str, str]]:
    """The command, and the variables of `forebay run`."""
    if order == "outside":
        return [str(program), "pool"], {"LD_PRELOAD": str(library)}
    name = shlex.quote(str(library))
    all_ = f"{name}:$LD_PRELOAD" if order == "before" else f"$LD_PRELOAD:{name}"
    return ["sh", "-c", f"LD_PRELOAD={all_} exec {shlex.quote(str(program))} pool"], {}


@pytest.mark.parametrize("order", ["before", "behind", "outside"])
def test_a_library_that_counts_as_darshan_does_sees_the_programs_calls(
    order: str, folder: Path
) -> None:
    """From outside, by its name; where it stands behind ours it sees what goes past the pool."""
    library = folder / "libdarshan.so"
    source = str(pooled.SOURCES / "counting.c")
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    counts = folder / "counts"
    words, more = preloading(library, order, built(folder))
    _, past = through_pool(folder, words, {**more, "COUNTED": str(counts)})
    ensure(not any(past.values()), f"{past}")
    ensure((COUNTED in counts.read_text()) == (order != "behind"), counts.read_text())


def test_a_program_may_have_another_time(folder: Path) -> None:
    """With libfaketime, where it leaves CLOCK_MONOTONIC alone."""
    said, past = faked(folder, "DONT_FAKE_MONOTONIC=1")
    ensure("year 2010" in said, said)
    ensure(not any(past.values()), f"{past}")


def test_a_program_with_another_monotonic_clock_goes_without_the_pool(folder: Path) -> None:
    """Its last writes were lost, since the times of deposits put them in order."""
    _, past = faked(folder, "")
    ensure(past and all(past.values()), f"{past}")


def faked(folder: Path, variable: str) -> tuple[str, dict[str, str]]:
    """As through_pool."""
    if not FAKETIME.exists():
        pytest.skip("there is no libfaketime")
    program = shlex.quote(str(built(folder)))
    preload = f"LD_PRELOAD=$LD_PRELOAD:{FAKETIME}"
    script = f"{preload} {variable} FAKETIME='2010-01-02 03:04:05' exec {program} pool time"
    return through_pool(folder, ["sh", "-c", script])


def test_memory_is_locked_as_it_is_without_the_pool(folder: Path) -> None:
    """Within `ulimit -l`, by a process without CAP_IPC_LOCK; more is in posix_limits_test.py."""
    program = built(folder)
    script = f"ulimit -l 64; exec {shlex.quote(str(program))} pool lock"
    words = ["sh", "-c", script]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("there is no setpriv")
        words = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", *words]
    said, past = through_pool(folder, words)
    ensure("mlockall: Cannot allocate memory" in said, said)
    ensure(not any(past.values()), f"{past}")
