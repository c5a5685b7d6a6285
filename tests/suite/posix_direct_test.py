"""Descriptors with O_DIRECT: Intel MPI opens each file by such a one, too, and does not use it. The
file left the pool, and nothing of what its ranks wrote was deposited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import pooled
from suite.conversation import Conversation, conversation
from suite.pool import Pool
from suite.verdict import ensure

BLOCK = 4096
COUNT = 3 * BLOCK
# O_DIRECT wants aligned memory, as mmap's is.
ALIGNED = "__import__('mmap').mmap(-1, {bytes})"


@pytest.fixture
def daemon(folder: Path) -> Iterator[Pool]:
    with pooled.pool(folder) as one:
        yield one


def opened_twice(program: Conversation, path: Path) -> tuple[int, int]:
    """The file's descriptor, and one with O_DIRECT; the first has written COUNT bytes."""
    fd = int(program.ask(f"os.open({str(path)!r}, os.O_RDWR | os.O_CREAT)"))
    direct = int(program.ask(f"os.open({str(path)!r}, os.O_RDWR | os.O_DIRECT)"))
    ensure(program.ask(f"os.write({fd}, b'a' * {COUNT})") == str(COUNT), "it is not written")
    return fd, direct


def state(one: Pool, path: Path) -> tuple[str, str]:
    (file,) = (file for file in one.status().files if file.path == str(path))
    return file.state, file.reason


def test_a_file_stays_in_the_pool_until_a_direct_descriptor_is_used(daemon: Pool) -> None:
    path = daemon.folder / "file"
    with conversation(daemon) as program:
        fd, direct = opened_twice(program, path)
        ensure(path.stat().st_size == 0, "it is not in the pool")
        ensure(state(daemon, path) == ("pooled", ""), f"{state(daemon, path)}")
        program.ask(f"os.close({direct})")
        ensure(state(daemon, path) == ("pooled", ""), f"{state(daemon, path)}")
        ensure(program.ask(f"os.pread({fd}, {COUNT}, 0).count(b'a')") == str(COUNT), "other bytes")
    with conversation(daemon) as other:
        ensure(other.ask(f"open({str(path)!r}, 'rb').read().count(b'a')") == str(COUNT), "lost")


@pytest.mark.parametrize(
    ("use", "result"),
    [
        (f"os.preadv({{direct}}, [{ALIGNED.format(bytes=COUNT)}], 0)", COUNT),
        (f"os.pwritev({{direct}}, [{ALIGNED.format(bytes=BLOCK)}], {BLOCK})", BLOCK),
        ("os.fstat({direct}).st_size", COUNT),
        ("os.lseek({direct}, 0, os.SEEK_END)", COUNT),
        ("len(__import__('mmap').mmap({direct}, 0, access=1))", COUNT),
        (f"os.sendfile({{out}}, {{direct}}, 0, {COUNT})", COUNT),
        (f"os.system('test $(wc -c < /proc/self/fd/{{kept}}) = {COUNT}')", 0),
    ],
    ids=["read", "write", "fstat", "lseek", "mmap", "sendfile", "a child"],
)
def test_who_uses_a_direct_descriptor_sees_all_deposits(
    use: str, result: int, daemon: Pool
) -> None:
    path = daemon.folder / "file"
    with conversation(daemon) as program:
        fd, direct = opened_twice(program, path)
        kept = program.ask(f"os.dup2({direct}, 90, inheritable=True)")
        out = program.ask("os.memfd_create('out')")
        said = program.ask(use.format(direct=direct, kept=kept, out=out))
        ensure(said == str(result), f"{use} gave {said}")
        wrote = "pwritev" in use
        ensure(program.ask(f"os.pwrite({fd}, b'b', 0)") == "1", "it is not written")
        expected = b"b" + b"a" * (BLOCK - 1) + (bytes(BLOCK) if wrote else b"a" * BLOCK)
        said = program.ask(f"os.pread({fd}, {2 * BLOCK}, 0) == {expected!r}")
        ensure(said == "True", "its own bytes are not seen")
    with conversation(daemon) as other:
        said = other.ask(f"open({str(path)!r}, 'rb').read({2 * BLOCK}) == {expected!r}")
        ensure(said == "True", "other bytes are in the file")


def test_a_program_that_only_has_a_direct_descriptor(daemon: Pool) -> None:
    path = daemon.folder / "file"
    path.write_bytes(b"c" * COUNT)
    with conversation(daemon) as one, conversation(daemon) as other:
        fd = int(one.ask(f"os.open({str(path)!r}, os.O_RDWR)"))
        direct = int(other.ask(f"os.open({str(path)!r}, os.O_RDONLY | os.O_DIRECT)"))
        ensure(one.ask(f"os.pwrite({fd}, b'd' * {BLOCK}, 0)") == str(BLOCK), "not written")
        other.ask(f"globals().update(memory={ALIGNED.format(bytes=COUNT)})")
        ensure(other.ask(f"os.preadv({direct}, [memory], 0)") == str(COUNT), "not read")
        ensure(other.ask("memory[:].count(b'd')") == str(BLOCK), "deposits are not seen")
        ensure(state(daemon, path) == ("through", "direct"), f"{state(daemon, path)}")


def test_a_direct_descriptor_of_a_file_that_lost_deposits(daemon: Pool) -> None:
    """It must not read what was in the file before the daemon's death."""
    path = daemon.folder / "file"
    with conversation(daemon) as program:
        _, direct = opened_twice(program, path)
        daemon.kill()
        program.ask(f"globals().update(memory={ALIGNED.format(bytes=COUNT)})")
        said = program.ask(f"os.preadv({direct}, [memory], 0)")
        ensure(said == "EIO", f"reading gave {said}")
        said = program.ask(f"os.open({str(path)!r}, os.O_RDWR | os.O_DIRECT)")
        ensure(said == "EIO", f"opening gave {said}")
