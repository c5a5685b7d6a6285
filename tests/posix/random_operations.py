"""Random operations on files by several processes, each compared with a model of what files are.

random_operations.py SEED COUNT FOLDER, in the folder whose files are meant. The operations are done
one after the other, each by one of the processes, so that what each has to return is known. What
the files must hold at the end is left in FOLDER."""

# The calls themselves are what is tested:
# ruff: noqa: PTH116

from __future__ import annotations

import mmap
import os
import pickle
import random
import shutil
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROCESSES = 4
NAMES = [f"f{i}" for i in range(6)]
BYTES_MAX = 300_000
HEADER = struct.Struct("=Q")


# -- the processes --------------------------------------------------------------------------------


def _mapped(fd: int, at: int, data: bytes) -> int:
    with mmap.mmap(fd, 0) as mapping:
        mapping[at : at + len(data)] = data
    return len(data)


def _by_child(fd: int, data: bytes) -> int:
    """A child writes by the parent's descriptor; both have one offset."""
    child = os.fork()
    if child == 0:
        os._exit(0 if os.write(fd, data) == len(data) else 1)
    return os.waitpid(child, 0)[1]


def _preadv(fd: int, sizes: list[int], at: int) -> bytes:
    rooms = [bytearray(size) for size in sizes]
    got = os.preadv(fd, rooms, at)
    return b"".join(rooms)[:got]


CALLS: dict[str, Callable[..., Any]] = {
    "open": os.open,
    "close": os.close,
    "dup": os.dup,
    "dup2": lambda fd, other: os.dup2(fd, other),
    "read": os.read,
    "pread": os.pread,
    "preadv": _preadv,
    "write": os.write,
    "pwrite": os.pwrite,
    "pwritev": os.pwritev,
    "lseek": os.lseek,
    "ftruncate": os.ftruncate,
    "truncate": os.truncate,
    "rename": os.rename,
    "unlink": os.unlink,
    "link": os.link,
    "fsync": os.fsync,
    "size": lambda name: os.stat(name).st_size,
    "fsize": lambda fd: os.fstat(fd).st_size,
    "sendfile": os.sendfile,
    "copy_file_range": os.copy_file_range,
    "mapped": _mapped,
    "by_child": _by_child,
}


def _serve(line: socket.socket) -> None:
    while True:
        head = line.recv(HEADER.size, socket.MSG_WAITALL)
        if len(head) < HEADER.size:
            os._exit(0)
        name, arguments = pickle.loads(line.recv(HEADER.unpack(head)[0], socket.MSG_WAITALL))
        if name == "end":
            os._exit(0)
        try:
            result = CALLS[name](*arguments)
        except OSError as error:
            result = ("errno", error.errno)
        reply = pickle.dumps(result)
        line.sendall(HEADER.pack(len(reply)) + reply)


class Process:
    def __init__(self) -> None:
        self.line, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self.line.close()
            _serve(theirs)
        theirs.close()
        self.descriptors: dict[int, Description] = {}

    def call(self, name: str, *arguments: Any) -> Any:
        question = pickle.dumps((name, arguments))
        self.line.sendall(HEADER.pack(len(question)) + question)
        head = self.line.recv(HEADER.size, socket.MSG_WAITALL)
        if len(head) < HEADER.size:
            raise SystemExit(f"process {self.pid} died in {name}")
        return pickle.loads(self.line.recv(HEADER.unpack(head)[0], socket.MSG_WAITALL))

    def end(self) -> None:
        """With everything open; others hold copies of its line, so it is told."""
        question = pickle.dumps(("end", ()))
        self.line.sendall(HEADER.pack(len(question)) + question)
        self.line.close()
        os.waitpid(self.pid, 0)


# -- the model ------------------------------------------------------------------------------------


@dataclass(eq=False)
class File:
    data: bytearray = field(default_factory=bytearray)

    def write(self, at: int, data: bytes) -> None:
        if data:
            self.data.extend(bytes(max(0, at - len(self.data))))
            self.data[at : at + len(data)] = data

    def resize(self, size: int) -> None:
        del self.data[size:]
        self.data.extend(bytes(size - len(self.data)))


@dataclass(eq=False)
class Description:
    file: File
    at: int = 0
    reads: bool = True
    writes: bool = True
    appends: bool = False


class World:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: dict[str, File] = {}
        self.processes = [Process() for _ in range(PROCESSES)]
        self.process = self.processes[0]
        self.done = 0

    def data(self) -> bytes:
        most = self.random.choice([1, 20, 5000, 70_000])
        return self.random.randbytes(self.random.randint(0 if most == 20 else 1, most))

    def place(self) -> int:
        return self.random.randint(0, BYTES_MAX)

    def expect(self, expected: Any, name: str, *arguments: Any) -> Any:
        result = self.process.call(name, *arguments)
        failed = isinstance(result, tuple) and result[0] == "errno" and expected is None
        if failed or (expected is not None and result != expected):
            shown = [repr(a)[:60] for a in arguments]
            at = ""
            if isinstance(result, bytes) and isinstance(expected, bytes):
                pairs = enumerate(zip(result, expected, strict=False))
                least = min(len(result), len(expected))
                first = next((i for i, (a, b) in pairs if a != b), least)
                at = f", byte {first} of {len(result)} and {len(expected)}"
            print(
                f"operation {self.done}: {name}({', '.join(shown)}) of process "
                f"{self.processes.index(self.process)} gave {repr(result)[:80]} instead of "
                f"{repr(expected)[:80]}{at}"
            )
            raise SystemExit(1)
        return result

    def descriptor(
        self, *, reads: bool = False, writes: bool = False
    ) -> tuple[int, Description] | None:
        fits = [
            (fd, one)
            for fd, one in self.process.descriptors.items()
            if one.reads >= reads and one.writes >= writes
        ]
        return self.random.choice(fits) if fits else None

    # -- operations -------------------------------------------------------------------------------

    def open(self) -> None:
        if len(self.process.descriptors) > 12:
            return self.close()
        name = self.random.choice(NAMES)
        flags = self.random.choice(
            [os.O_RDWR, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_CREAT, os.O_RDONLY]
            + [os.O_RDWR | os.O_CREAT | os.O_TRUNC, os.O_RDWR | os.O_CREAT | os.O_EXCL]
            + ([os.O_RDWR | os.O_APPEND] if self.random.random() < 0.1 else [])
        )
        there = name in self.names
        if (flags & os.O_EXCL and there) or (not there and not flags & os.O_CREAT):
            self.expect(("errno", 17 if there else 2), "open", name, flags, 0o644)
            return None
        fd = self.expect(None, "open", name, flags, 0o644)
        file = self.names.setdefault(name, File())
        if flags & os.O_TRUNC:
            file.data.clear()
        self.process.descriptors[fd] = Description(
            file,
            reads=flags & os.O_ACCMODE != os.O_WRONLY,
            writes=flags & os.O_ACCMODE != os.O_RDONLY,
            appends=bool(flags & os.O_APPEND),
        )
        return None

    def close(self) -> None:
        if found := self.descriptor():
            self.expect(None, "close", found[0])
            del self.process.descriptors[found[0]]

    def dup(self) -> None:
        if (found := self.descriptor()) and len(self.process.descriptors) < 12:
            self.process.descriptors[self.expect(None, "dup", found[0])] = found[1]

    def dup2(self) -> None:
        found, other = self.descriptor(), self.descriptor()
        if found and other:
            self.expect(other[0], "dup2", found[0], other[0])
            self.process.descriptors[other[0]] = found[1]

    def write(self) -> None:
        if found := self.descriptor(writes=True):
            fd, one = found
            data = self.data()
            name = "by_child" if self.random.random() < 0.02 else "write"
            self.expect(len(data) if name == "write" else 0, name, fd, data)
            if one.appends and data:  # a write of nothing moves nothing
                one.at = len(one.file.data)
            one.file.write(one.at, data)
            one.at += len(data)

    def pwrite(self) -> None:
        if found := self.descriptor(writes=True):
            fd, one = found
            data, at = self.data(), self.place()
            if self.random.random() < 0.2:
                half = len(data) // 2
                self.expect(len(data), "pwritev", fd, [data[:half], data[half:]], at)
            else:
                self.expect(len(data), "pwrite", fd, data, at)
            one.file.write(len(one.file.data) if one.appends else at, data)

    def read(self) -> None:
        if found := self.descriptor(reads=True):
            fd, one = found
            count = self.random.randint(1, 100_000)
            expected = bytes(one.file.data[one.at : one.at + count])
            self.expect(expected, "read", fd, count)
            one.at += len(expected)

    def pread(self) -> None:
        if found := self.descriptor(reads=True):
            fd, one = found
            count, at = self.random.randint(1, 200_000), self.place()
            expected = bytes(one.file.data[at : at + count])
            if self.random.random() < 0.2:
                self.expect(expected, "preadv", fd, [count // 3, count - count // 3], at)
            else:
                self.expect(expected, "pread", fd, count, at)

    def lseek(self) -> None:
        if found := self.descriptor():
            fd, one = found
            whence = self.random.choice([os.SEEK_SET, os.SEEK_CUR, os.SEEK_END])
            by = self.random.randint(-BYTES_MAX // 2, BYTES_MAX // 2)
            base = [0, one.at, len(one.file.data)][whence]
            if base + by < 0 or base + by > BYTES_MAX:
                self.expect(one.at, "lseek", fd, 0, os.SEEK_CUR)
            else:
                one.at = self.expect(base + by, "lseek", fd, by, whence)

    def ftruncate(self) -> None:
        if found := self.descriptor(writes=True):
            size = self.place()
            self.expect(None, "ftruncate", found[0], size)
            found[1].file.resize(size)

    def truncate(self) -> None:
        if self.names:
            name, size = self.random.choice(sorted(self.names)), self.place()
            self.expect(None, "truncate", name, size)
            self.names[name].resize(size)

    def rename(self) -> None:
        if self.names:
            name, other = self.random.choice(sorted(self.names)), self.random.choice(NAMES)
            self.expect(None, "rename", name, other)
            if name != other and self.names.get(other) is not self.names[name]:
                self.names[other] = self.names.pop(name)

    def unlink(self) -> None:
        if self.names:
            name = self.random.choice(sorted(self.names))
            self.expect(None, "unlink", name)
            del self.names[name]

    def link(self) -> None:
        free = [name for name in NAMES if name not in self.names]
        if self.names and free:
            name = self.random.choice(sorted(self.names))
            self.expect(None, "link", name, free[0])
            self.names[free[0]] = self.names[name]

    def fsync(self) -> None:
        if found := self.descriptor(writes=True):
            self.expect(None, "fsync", found[0])

    def size(self) -> None:
        if self.names:
            name = self.random.choice(sorted(self.names))
            self.expect(len(self.names[name].data), "size", name)
        if found := self.descriptor():
            self.expect(len(found[1].file.data), "fsize", found[0])

    def copy(self) -> None:
        found, other = self.descriptor(reads=True), self.descriptor(writes=True)
        if not found or not other or found[1].file is other[1].file or other[1].appends:
            return
        (fd, one), (to, target) = found, other
        at, count = self.place(), self.random.randint(1, 50_000)
        data = bytes(one.file.data[at : at + count])
        if self.random.random() < 0.5:
            self.expect(len(data), "sendfile", to, fd, at, count)
            target.file.write(target.at, data)
            target.at += len(data)
        else:
            there = self.place()
            self.expect(len(data), "copy_file_range", fd, to, count, at, there)
            target.file.write(there, data)

    def mapped(self) -> None:
        found = self.descriptor(reads=True, writes=True)
        if found and self.random.random() < 0.3 and found[1].file.data:
            fd, one = found
            at = self.random.randrange(len(one.file.data))
            data = self.data()[: len(one.file.data) - at]
            self.expect(len(data), "mapped", fd, at, data)
            one.file.write(at, data)

    def replace(self) -> None:
        """A process ends with everything open, and another one begins."""
        if self.random.random() < 0.3:
            self.process.end()
            self.processes[self.processes.index(self.process)] = Process()

    def look_at_all(self) -> None:
        """By a process that has nothing open."""
        self.process = Process()
        self.processes.append(self.process)
        for name, file in sorted(self.names.items()):
            self.expect(len(file.data), "size", name)
            fd = self.expect(None, "open", name, os.O_RDONLY)
            self.expect(bytes(file.data), "pread", fd, BYTES_MAX * 10, 0)
            self.expect(None, "close", fd)
        self.processes.pop().end()

    def run(self, count: int) -> None:
        often = [self.write, self.pwrite, self.read, self.pread] * 6
        rare = [self.open] * 4 + [self.lseek, self.close, self.size] * 2
        rare += [self.dup, self.dup2, self.ftruncate, self.truncate, self.rename, self.unlink]
        rare += [self.link, self.fsync, self.copy, self.mapped, self.replace]
        for self.done in range(count):
            self.process = self.random.choice(self.processes)
            self.random.choice(often + rare)()
            if self.done % 500 == 499:
                self.look_at_all()


def main() -> None:
    seed, count, expected = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    world = World(seed)
    world.run(count)
    world.look_at_all()
    for process in world.processes:
        process.end()
    shutil.rmtree(expected, ignore_errors=True)
    expected.mkdir()
    for name, file in world.names.items():
        (expected / name).write_bytes(file.data)
    print("ok")


main()
