"""Programs in containers: with the daemon outside or inside, without /dev/shm, and with system
calls that a container's filter refuses. The containers are bubblewrap's, which needs no image."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled, programs
from suite.command import FOREBAY, environment
from suite.conversation import conversation, opened
from suite.verdict import ensure

pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="no bubblewrap (Debian: bubblewrap)"
)
WHOLE = ("bwrap", "--dev-bind", "/", "/", "--unshare-all", "--share-net", "--proc", "/proc")
"""All files of the machine, but with processes, users and IPC of its own."""
MOUNTS = ("bwrap", "--dev-bind", "/", "/", "--proc", "/proc")
"""All files of the machine, with mounts of its own, where root says so."""
JOINED = {"FOREBAY_POOL_CONTAINERS_JOIN": "true"}
WRITER = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
for at in range(0, 1 << 20, 4096):
    os.pwrite(fd, b"inside".ljust(4096, b"."), at)
assert os.pread(fd, 6, 4096) == b"inside" and os.fstat(fd).st_size == 1 << 20
"""
WRITTEN = b"inside".ljust(4096, b".") * 256
WAITS = WRITER + "print('ready', flush=True)\nsys.stdin.read()\n"
IO_URING = (425, 426, 427)
DOCKERS = (
    # Calls (x86-64's numbers) that Docker's default filter refuses without capabilities.
    *(101, 134, 135, 136, 139, 153, 155, 156, 163, 164, 165, 166, 167, 168, 169, 172, 173, 174),
    *(175, 176, 177, 178, 179, 180, 183, 212, 227, 237, 238, 239, 246, 248, 249, 250, 256, 272),
    *(279, 298, 300, 303, 304, 305, 308, 310, 311, 312, 313, 320, 321, 323, 428, 429, 430, 431),
    *(432, 433, 438, 440, 442),
    *IO_URING,
)


def _apart(folder: Path) -> list[str]:
    """A container that has of /tmp nothing but the folder: not the daemon's socket."""
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"]
    words += ["--tmpfs", "/tmp", "--tmpfs", "/run", "--bind", str(folder), str(folder)]
    libraries = str(m.LIBRARIES)
    return [*words, "--ro-bind", libraries, libraries]


def _without_libraries(folder: Path) -> list[str]:
    """That, and the loader does not find what LD_PRELOAD names."""
    return [*_apart(folder), "--tmpfs", str(m.LIBRARIES)]


def _refused(numbers: Sequence[int], error: int) -> list[str]:
    return [str(pooled.program("refused.c")), str(error), ",".join(map(str, numbers))]


def _run_in_pool(folder: Path, front: Sequence[str]) -> None:
    """`forebay run` behind these words has its daemon there; its bytes are right."""
    pool = folder / "pool"
    pool.mkdir()
    file = pool / "file"
    command = [*front, *FOREBAY, "run", "--pool", pool, "--", sys.executable, "-c", WRITER, file]
    said = pooled.run(command, folder, environment())
    ensure(file.read_bytes() == WRITTEN, "other bytes")
    ensure("through the pool: 1.00 MiB of 1 file" in said, said)


@pytest.mark.parametrize("container", [_apart, _without_libraries])
def test_a_container_that_a_shell_starts_sees_and_keeps_what_was_written(
    container: Callable[[Path], list[str]], folder: Path
) -> None:
    """It read no byte of what was in the pool: the shell had no pool when it was started, so that
    nobody had told the daemon of the container."""
    with pooled.pool(folder) as served, conversation(served) as holder:
        file = served.folder / "file"
        fd = opened(holder, file)
        ensure(holder.ask(f"os.pwrite({fd}, b'outside', 0)") == "7", "fell short")
        ensure(served.taken() == 7, "it is not in the pool")
        code = (
            "import sys; file = open(sys.argv[1], 'r+b'); seen = file.read();"
            " file.write(b' and inside'); print(seen)"
        )
        command = [*container(served.folder), "/usr/bin/python3", "-c", code, file]
        said = pooled.run(command, folder, served.environment())
        ensure(repr(b"outside") in said, said)
        ensure(holder.ask(f"os.pread({fd}, 100, 0)") == repr(b"outside and inside"), "not seen")
        pooled.until(
            lambda: _is_pooled(served, holder.ask(f"os.pwrite({fd}, b'O', 0)")),
            "nothing is in the pool any more",
        )
    ensure(file.read_bytes() == b"Outside and inside", "other bytes")


def _is_pooled(served: pooled.Pool, _: str) -> bool:
    """Whether what was just written is a deposit."""
    return served.taken() > 7


def test_a_container_may_join_the_pool_of_a_daemon_outside(folder: Path) -> None:
    with pooled.pool(folder) as served, conversation(served) as outside:
        file = served.folder / "file"
        command = [*WHOLE, sys.executable, "-c", WRITER, file]
        pooled.run(command, folder, {**served.environment(), **JOINED})
        ensure(served.taken() == len(WRITTEN), f"{served.taken()} bytes were deposited")
        fd = opened(outside, file)
        ensure(outside.ask(f"os.pread({fd}, 6, 1044480)") == repr(b"inside"), "it is not seen")
    ensure(file.read_bytes() == WRITTEN, "other bytes")


def test_a_container_has_a_daemon_of_its_own(folder: Path) -> None:
    _run_in_pool(folder, WHOLE)


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=errno.errorcode.get)
def test_the_pool_does_without_io_uring(error: int, folder: Path) -> None:
    _run_in_pool(folder, _refused(IO_URING, error))


@pytest.mark.full
@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=errno.errorcode.get)
def test_the_pool_does_without_what_dockers_filter_refuses(error: int, folder: Path) -> None:
    _run_in_pool(folder, _refused(DOCKERS, error))


@pytest.mark.full
def test_the_pool_does_without_dev_shm(folder: Path) -> None:
    front = ["bwrap", "--bind", "/", "/", "--tmpfs", "/dev", "--dev-bind", "/dev/null", "/dev/null"]
    _run_in_pool(folder, [*front, "--unshare-all", "--proc", "/proc"])


@pytest.mark.full
def test_what_a_killed_container_has_written_stays(folder: Path) -> None:
    with pooled.pool(folder) as served:
        file = served.folder / "file"
        with subprocess.Popen(
            [*WHOLE, "--die-with-parent", sys.executable, "-c", WAITS, file],
            env={**m.clean_environment(), **served.environment(), **JOINED},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as container:
            ensure(container.stdout is not None, "no output")
            if container.stdout:
                ensure(container.stdout.readline() == b"ready\n", "it did not write")
            ensure(served.taken() == len(WRITTEN), "it is not in the pool")
            container.send_signal(signal.SIGKILL)
    ensure(file.read_bytes() == WRITTEN, "bytes are lost")


SHARED_MEMORY = {"UCX_TLS": "sm,self"}
"""For Debian's MPICH, whose UCX goes by TCP where it may not look into other processes. Then its
MPI_Finalize mostly hangs, also without Forebay."""


def _ranks(mpi: m.Mpi, front: Sequence[str], folder: Path) -> None:
    """Two ranks that write and read back collectively, each behind these words."""
    program = programs.Program(name="views", source="views.c")
    record = folder / "record"
    environment = {**m.forebay(record), **SHARED_MEMORY}
    program.run(mpi, 2, folder / "files", environment, front=front)
    ensure('"kind":"file"' in record.read_text().replace(" ", ""), "no call was taken over")


@pytest.mark.full
@pytest.mark.parametrize("mpi", m.DEBIAN, ids=lambda mpi: mpi.name)
@pytest.mark.skipif(os.geteuid() != 0, reason="else bubblewrap gives each rank users of its own")
def test_collective_calls_of_ranks_in_containers_of_their_own(mpi: m.Mpi, folder: Path) -> None:
    """With mounts of their own, as Apptainer has it. With processes or users of their own neither
    MPI works for two ranks of a node, also without Forebay."""
    _ranks(mpi, MOUNTS, folder)


@pytest.mark.full
@pytest.mark.parametrize("mpi", m.DEBIAN, ids=lambda mpi: mpi.name)
def test_collective_calls_do_without_what_dockers_filter_refuses(mpi: m.Mpi, folder: Path) -> None:
    _ranks(mpi, _refused(DOCKERS, errno.EPERM), folder)
