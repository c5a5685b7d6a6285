"""Whoever asks for it by whatever call and descriptor: when the call returns, what anybody wrote
before is on the file system, and was made durable. strace looks which calls the daemon and the
program made."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD
from suite.conversation import Conversation, conversation, opened
from suite.file_systems import until
from suite.on import EACH
from suite.pool import Pool, pool
from suite.pooled import KEPT
from suite.verdict import ensure

BYTES = 300_000
SYNCS = "fsync,fdatasync,sync,syncfs,sync_file_range,msync"

LIBC = "__import__('ctypes').CDLL(None, use_errno=True)"
# For each way: the program's call on a descriptor that may not write, and the system calls of which
# one has to be made.
WAYS: Mapping[str, tuple[str, Sequence[str]]] = {
    "fsync": ("os.fsync({fd})", ["fsync("]),
    "fdatasync": ("os.fdatasync({fd})", ["fsync(", "fdatasync("]),
    "sync": ("os.sync()", ["sync("]),
    "syncfs": (LIBC + ".syncfs({fd})", ["syncfs("]),
    "sync_file_range": (LIBC + ".sync_file_range({fd}, 0, 0, 7)", ["sync_file_range("]),
}
DURABILITY: Mapping[str, Mapping[str, str]] = {
    "process": {},
    "node": {"pool_durability": "node"},
    "journal": {"pool_durability": "node", "pool_fsync": "node"},
    "global": {"pool_durability": "global"},
}


@contextlib.contextmanager
def served(folder: Path, durability: str, **more: str) -> Iterator[Pool]:
    files = folder / "files"
    files.mkdir(exist_ok=True)
    settings = {**KEPT, **DURABILITY[durability], **more}
    if "pool_durability" in settings and settings["pool_durability"] == "node":
        settings["pool_journal"] = str(folder / "journal")
    with pool(files, settings) as one:
        yield one


@contextlib.contextmanager
def traced(processes: Sequence[int], calls: Path) -> Iterator[None]:
    """Writes the syncs that these processes ask for to `calls`, a line each."""
    which = [word for process in processes for word in ("-p", str(process))]
    tracer = subprocess.Popen(
        ["strace", "-f", "-y", "-e", f"trace={SYNCS}", "-o", str(calls), *which],
        stderr=subprocess.DEVNULL,
    )
    try:
        all_traced = lambda: all(is_traced(one, tracer) for one in processes)  # noqa: E731
        ensure(until(all_traced, 180), "strace does not attach")
        yield
    finally:
        tracer.terminate()
        tracer.wait()


def is_traced(process: int, tracer: subprocess.Popen[bytes]) -> bool:
    ensure(tracer.poll() is None, "strace cannot trace")
    threads = Path("/proc", str(process), "task").iterdir()
    return all(f"TracerPid:\t{tracer.pid}\n" in (one / "status").read_text() for one in threads)


def process_of(program: Conversation) -> int:
    return int(program.ask("os.getpid()"))


def write_by(writer: Conversation, path: Path, value: int) -> int:
    fd = opened(writer, path)
    said = writer.ask(f"os.pwrite({fd}, bytes([{value}]) * {BYTES}, 0)")
    ensure(said == str(BYTES), said)
    return fd


def whole_calls(lines: Sequence[str]) -> list[str]:
    """Where several processes call at a time, strace tells of a call in two parts."""
    begun: dict[str, str] = {}
    whole = []
    for line in lines:
        process, _, said = line.partition(" ")
        if said.rstrip().endswith("<unfinished ...>"):
            begun[process] = line.rstrip().removesuffix("<unfinished ...>")
        elif "resumed>" in said and process in begun:
            whole.append(begun.pop(process) + said.partition("resumed>")[2])
        else:
            whole.append(line)
    return whole


def ensure_the_next_daemon_finds(content: bytes, path: Path, folder: Path) -> None:
    """The daemon was killed, and the next one has its journal."""
    with served(folder, "journal"):
        ensure(path.read_bytes() == content, f"{path.name} was not in the journal")


def ensure_synced(calls: Path, wanted: Sequence[str], path: Path) -> None:
    """One of the calls was made, of this file where it is about one."""
    lines = whole_calls(calls.read_text().splitlines())
    for line in lines:
        call = next((one for one in wanted if one in line), "")
        named = f"<{path}>" in line or call in ("sync(", "syncfs(")
        if call and named and line.rstrip().endswith("= 0"):
            return
    raise AssertionError(f"{path.name} was not made durable: {lines}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("durability", DURABILITY)
def test_by_a_descriptor_that_cannot_write(durability: str, way: str, folder: Path) -> None:
    """It returned 0 and nothing was synced."""
    code, wanted = WAYS[way]
    is_journals = durability == "journal" and way in ("fsync", "fdatasync")
    with served(folder, durability) as one, conversation(one) as writer, conversation(one) as other:
        path = one.folder / "file"
        writer.ask(f"os.close({write_by(writer, path, 7)})")
        fd = int(other.ask(f"os.open({str(path)!r}, os.O_RDONLY)"))
        calls = folder / "calls"
        with traced([one.process.pid, process_of(other)], calls):
            ensure(other.ask(code.format(fd=fd)) in ("None", "0"), "it failed")
            is_drained = path.read_bytes() == bytes([7]) * BYTES
            ensure(is_drained or is_journals, "it was not drained")
        if is_journals:
            one.kill()
        else:
            ensure_synced(calls, wanted, path)
    if is_journals:
        ensure_the_next_daemon_finds(bytes([7]) * BYTES, path, folder)


@pytest.mark.parametrize("durability", DURABILITY)
def test_of_a_file_that_nobody_has_open_any_more(durability: str, folder: Path) -> None:
    """The pool has drained and forgotten it, and the kernel has not written it yet."""
    with served(folder, durability, pool_quiet="0") as one, conversation(one) as other:
        path = one.folder / "file"
        with conversation(one) as writer:
            writer.ask(f"os.close({write_by(writer, path, 9)})")
        is_there = lambda: path.exists() and path.read_bytes() == bytes([9]) * BYTES  # noqa: E731
        ensure(until(is_there, 180), "it was not drained")
        ensure(until(lambda: not one.has_open(path), 180), "the daemon keeps it open")
        fd = int(other.ask(f"os.open({str(path)!r}, os.O_RDONLY)"))
        calls = folder / "calls"
        with traced([one.process.pid, process_of(other)], calls):
            ensure(other.ask(f"os.fsync({fd})") == "None", "it failed")
        ensure_synced(calls, ["fsync("], path)


def test_the_journal_does_not_answer_for_what_went_past_the_pool(folder: Path) -> None:
    """With pool_fsync=node a sync was over when the journal had what it never saw."""
    with served(folder, "journal") as one, conversation(one) as writer, conversation(one) as other:
        path = one.folder / "file"
        path.write_bytes(bytes([1]) * BYTES)
        fd = opened(other, path)
        calls = folder / "calls"
        with traced([one.process.pid, process_of(other)], calls):
            ensure(other.ask(f"os.fsync({fd})") == "None", "it failed")
        ensure_synced(calls, ["fsync("], path)
        # The kernel writes the pages that another process has mapped.
        code = f"__import__('mmap').mmap({opened(writer, path)}, {BYTES}).write(b'mapped')"
        ensure(writer.ask(code) == "6", "it was not mapped")
        with traced([one.process.pid, process_of(other)], calls):
            ensure(other.ask(f"os.fsync({fd})") == "None", "it failed")
        ensure_synced(calls, ["fsync("], path)


def test_the_journal_answers_for_all_else(folder: Path) -> None:
    """A sync of what went through the pool alone waits for no file system."""
    with served(folder, "journal") as one, conversation(one) as program:
        path = one.folder / "file"
        fd = write_by(program, path, 3)
        calls = folder / "calls"
        with traced([one.process.pid, process_of(program)], calls):
            ensure(program.ask(f"os.fsync({fd})") == "None", "it failed")
        ensure(f"<{path}>" not in calls.read_text(), "the file system was asked")
        ensure(path.stat().st_size == 0, "it was drained")


def test_by_a_descriptor_that_is_not_captured(folder: Path) -> None:
    """It was received from a process that is not there any more, while others write."""
    with served(folder, "process") as one, conversation(one) as writer, conversation(one) as other:
        path = one.folder / "file"
        path.touch()
        socket = "__import__('socket')"
        listening = folder / "socket"
        # `other` receives a descriptor of the file; who sends it is no program of the pool.
        other.ask(
            f"[globals().__setitem__('s', {socket}.socket({socket}.AF_UNIX)), "
            f"s.bind({str(listening)!r}), s.listen()]"
        )
        sender = (
            f"import os, socket; s = socket.socket(socket.AF_UNIX); s.connect({str(listening)!r}); "
            f"socket.send_fds(s, [b'x'], [os.open({str(path)!r}, os.O_RDONLY)])"
        )
        subprocess.run([sys.executable, "-c", sender], check=True, env=m.clean_environment())
        fd = int(other.ask(f"{socket}.recv_fds(s.accept()[0], 1, 1)[1][0]"))
        write_by(writer, path, 5)
        opened(other, one.folder / "another")  # it has met the daemon
        ensure(other.ask(f"os.fstat({fd}).st_size") == str(BYTES), "it has another size")
        calls = folder / "calls"
        with traced([one.process.pid, process_of(other)], calls):
            ensure(other.ask(f"os.fsync({fd})") == "None", "it failed")
            ensure(path.read_bytes() == bytes([5]) * BYTES, "it was not drained")
        ensure_synced(calls, ["fsync("], path)


@pytest.mark.parametrize("durability", DURABILITY)
@pytest.mark.parametrize("flag", ["O_DSYNC", "O_RSYNC"])
def test_reading_with_what_is_to_be_synced_first(flag: str, durability: str, folder: Path) -> None:
    """O_RSYNC is O_SYNC on Linux, and plain reads make nothing durable by it. So what is read is as
    durable as its write was: the file system has it where a write waits for that, or for the
    journal, which lets go of the file."""
    with (
        served(folder, durability) as one,
        conversation(one) as writer,
        conversation(one) as other,
    ):
        path, calls = one.folder / "file", folder / "calls"
        write_by(writer, path, 6)
        with traced([one.process.pid, process_of(other)], calls):
            fd = int(other.ask(f"os.open({str(path)!r}, os.O_RDONLY | os.{flag})"))
            ensure(other.ask(f"len(os.read({fd}, {BYTES}))") == str(BYTES), "it is too short")
            ensure(path.read_bytes() == bytes([6]) * BYTES, "it was not drained")
        if durability in ("node", "journal"):
            ensure_synced(calls, ["fsync(", "fdatasync("], path)


@pytest.mark.parametrize("durability", ["process", "node", "global"])
@pytest.mark.parametrize("options", [[], ["-d"], ["-f"]], ids=["file", "data", "file-system"])
def test_the_command_sync(durability: str, options: Sequence[str], folder: Path) -> None:
    with served(folder, durability) as one, conversation(one) as writer:
        path = one.folder / "file"
        write_by(writer, path, 8)
        calls, own = folder / "calls", folder / "own"
        wanted = ["fsync(", "fdatasync(", "syncfs("]
        with traced([one.process.pid], calls):
            variables = [
                word for pair in one.environment().items() for word in ("-E", "=".join(pair))
            ]
            command = ["strace", "-y", "-o", str(own), "-e", f"trace={SYNCS}", *variables]
            subprocess.run([*command, "sync", *options, str(path)], check=True)
            ensure(path.read_bytes() == bytes([8]) * BYTES, "it was not drained")
        calls.write_text(calls.read_text() + own.read_text())
        ensure_synced(calls, wanted, path)


@EACH
@pytest.mark.parametrize("durability", DURABILITY)
@pytest.mark.parametrize("way", ["together", "alone"])
def test_mpi_file_sync(mpi: m.Mpi, way: str, durability: str, folder: Path) -> None:
    ranks, part = 2, 100_000
    expected = b"".join(bytes([ord("a") + rank]) * part for rank in range(ranks))
    is_journals = durability == "journal"
    with served(folder, durability) as one:
        path, mark, calls = one.folder / "file", folder / "mark", folder / "calls"
        command = [
            *mpi.start(
                ranks, {"TEST_SECONDS_MAX": "100", **one.with_mpi(m.forebay(folder / RECORD))}
            ),
            *(m.build(mpi, "synced.c"), path, way, mark),
        ]
        own = folder / "own"
        tracer = ["strace", "-f", "-y", "-e", f"trace={SYNCS}", "-o", own]
        with m.cores(mpi, ranks), traced([one.process.pid], calls):
            words = [str(word) for word in (*tracer, *command)]
            program = subprocess.Popen(words, env=m.clean_environment())
            try:
                is_there = lambda: mark.exists() or program.poll() is not None  # noqa: E731
                ensure(until(is_there, 100) and mark.exists(), "it does not come to its sync")
                is_drained = path.read_bytes() == expected
                ensure(is_drained or is_journals, "it was not drained")
                if is_journals:
                    one.kill()
                mark.unlink()
                ensure(program.wait(100) == 0 or is_journals, "it failed")
            finally:
                program.kill()
        if not is_journals:
            calls.write_text(calls.read_text() + own.read_text())
            ensure_synced(calls, ["fsync(", "fdatasync("], path)
    if is_journals:
        ensure_the_next_daemon_finds(expected, path, folder)
