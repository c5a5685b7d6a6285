"""Processes that use files of a mount at once, some of them captured.

A controller tells its workers what to do, one call after the other, so that a model in memory knows
the outcome of each. Run by mount_captured.py; a worker is this file as a program."""

# The calls themselves are tried, not pathlib's.
# ruff: noqa: PTH101, PTH104, PTH108, PTH116, PTH123

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import pickle
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

POOL_GET = 0x8028FB02  # FOREBAY_POOL_GET of include/forebay_pool.h
PAGE = mmap.PAGESIZE


def _send(pipe: IO[bytes], what: object) -> None:
    data = pickle.dumps(what)
    pipe.write(struct.pack("I", len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(4)
    if len(head) < 4:
        raise EOFError
    return pickle.loads(pipe.read(struct.unpack("I", head)[0]))


class Hands:
    """The operations of a worker, done when it is told to. Descriptors and mappings are its own."""

    def __init__(self) -> None:
        self.maps: dict[int, mmap.mmap] = {}
        self.next_map = 0

    def open(self, name: str, flags: int) -> int:
        return os.open(name, flags, 0o644)

    def close(self, fd: int) -> None:
        os.close(fd)

    def pwrite(self, fd: int, data: bytes, at: int) -> int:
        return os.pwrite(fd, data, at)

    def write_at_offset(self, fd: int, data: bytes, at: int) -> int:
        os.lseek(fd, at, os.SEEK_SET)
        done = os.write(fd, data)
        assert os.lseek(fd, 0, os.SEEK_CUR) == at + done, "the offset is elsewhere"
        return done

    def write_vector(self, fd: int, data: bytes, at: int) -> int:
        half = len(data) // 2
        return os.pwritev(fd, [data[:half], data[half:]], at)

    def write(self, fd: int, data: bytes) -> int:
        return os.write(fd, data)

    def pread(self, fd: int, count: int, at: int) -> bytes:
        return os.pread(fd, count, at)

    def read_at_offset(self, fd: int, count: int, at: int) -> bytes:
        os.lseek(fd, at, os.SEEK_SET)
        got = os.read(fd, count)
        assert os.lseek(fd, 0, os.SEEK_CUR) == at + len(got), "the offset is elsewhere"
        return got

    def read_by_stream(self, name: str) -> bytes:
        with open(name, "rb") as file:
            return file.read()

    def size(self, fd: int, name: str) -> tuple[int, int, int]:
        return os.fstat(fd).st_size, os.stat(name).st_size, os.lseek(fd, 0, os.SEEK_END)

    def blocks(self, name: str) -> int:
        return os.stat(name).st_blocks

    def truncate(self, name: str, length: int) -> None:
        os.truncate(name, length)

    def ftruncate(self, fd: int, length: int) -> None:
        os.ftruncate(fd, length)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def fallocate(self, fd: int, at: int, length: int) -> None:
        os.posix_fallocate(fd, at, length)

    def chmod(self, name: str, mode: int) -> None:
        os.chmod(name, mode)

    def utime(self, name: str, ns: int) -> int:
        os.utime(name, ns=(ns, ns))
        return os.stat(name).st_mtime_ns

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def unlink(self, name: str) -> None:
        os.unlink(name)

    def set_flags(self, fd: int, flags: int) -> None:
        fcntl.fcntl(fd, fcntl.F_SETFL, flags)

    def copy(self, source: int, target: int, count: int, at: int) -> int:
        return os.copy_file_range(source, target, count, 0, at)

    def send(self, source: int, target: int, count: int, at: int) -> int:
        os.lseek(target, at, os.SEEK_SET)
        return os.sendfile(target, source, 0, count)

    def map(self, fd: int, length: int) -> int:
        self.next_map += 1
        self.maps[self.next_map] = mmap.mmap(fd, length)
        return self.next_map

    def look(self, number: int, at: int, count: int) -> bytes:
        return self.maps[number][at : at + count]

    def store(self, number: int, at: int, data: bytes, flushes: bool) -> None:
        self.maps[number][at : at + len(data)] = data
        if flushes:
            self.maps[number].flush()

    def unmap(self, number: int) -> None:
        self.maps.pop(number).close()

    def duplicate(self, fd: int) -> int:
        return os.dup(fd)

    def replace(self, fd: int, other: int) -> int:
        return os.dup2(fd, other)

    def in_child(self, name: str, *rest: Any) -> Any:
        """The same by a forked child, which shares the descriptors."""
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os.write(writable, pickle.dumps(_outcome(getattr(self, name), rest)))
            os._exit(0)
        os.close(writable)
        with open(readable, "rb") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        return _value(pickle.loads(said))

    def by_program(self, words: list[str], fd: int, at: int, given: bytes, clean: bool) -> bytes:
        """A program whose standard input or output the descriptor is, perhaps not captured."""
        os.lseek(fd, at, os.SEEK_SET)
        environment = {} if clean else dict(os.environ)
        writes = bool(given)
        done = subprocess.run(
            words,
            input=given if writes else None,
            stdin=None if writes else fd,
            stdout=fd if writes else subprocess.PIPE,
            check=True,
            env={**environment, "PATH": os.environ["PATH"]},
        )
        return b"" if writes else done.stdout

    def is_joined(self, fd: int) -> bool:
        """Whether the pool knows the descriptor, so that the capture answers and not the kernel."""
        try:
            fcntl.ioctl(fd, POOL_GET, bytearray(256))
        except OSError:
            return False
        return True


def _outcome(call: Callable[..., Any], rest: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return True, call(*rest)
    except (OSError, AssertionError, ValueError, subprocess.CalledProcessError) as error:
        return False, repr(error)


def _value(outcome: tuple[bool, Any]) -> Any:
    done, what = outcome
    if not done:
        raise AssertionError(what)
    return what


class Worker:
    """The controller's side of a worker."""

    def __init__(self, label: str, environment: Mapping[str, str]) -> None:
        self.label = label
        self.environment = environment
        self.descriptors: dict[str, list[int]] = {}
        self.maps: dict[str, list[tuple[int, int]]] = {}
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **self.environment},
        )
        self.descriptors.clear()
        self.maps.clear()

    def do(self, name: str, *rest: Any) -> Any:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        _send(stdin, (name, rest))
        return _value(_receive(stdout))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        self.process.wait()


@dataclass
class Content:
    """The expected contents of the files."""

    files: dict[str, bytearray] = field(default_factory=dict)

    def put(self, name: str, at: int, data: bytes) -> None:
        content = self.files[name]
        if len(content) < at:
            content.extend(bytes(at - len(content)))
        content[at : at + len(data)] = data

    def cut(self, name: str, length: int) -> None:
        content = self.files[name]
        del content[length:]
        content.extend(bytes(length - len(content)))


def serve() -> None:
    hands = Hands()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError):
        while True:
            name, rest = _receive(requests)
            _send(answers, _outcome(getattr(hands, name), rest))


if __name__ == "__main__":
    serve()
