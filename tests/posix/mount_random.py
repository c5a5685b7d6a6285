"""Random calls on a few files, through the mount, against a model in memory: every read, size and
mapping has to show what was written last. Arguments: a seed, and how many calls. ORDERS in the
environment is the attribute by which a tier takes orders: then it gets some, and names and times
change that matter to it."""

# The calls themselves are tried, not pathlib's.
# ruff: noqa: PTH101, PTH104, PTH108, PTH116, PTH123

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

LENGTH_MAX = 3 << 20
ORDERS = os.environ.get("ORDERS", "")
FILES = 4


@dataclass
class Model:
    """The expected contents of the files, and the descriptors by which they are used."""

    chance: random.Random
    content: dict[str, bytearray] = field(default_factory=dict)
    descriptors: dict[str, list[int]] = field(default_factory=dict)
    maps: dict[str, list[mmap.mmap]] = field(default_factory=dict)

    def name(self) -> str:
        return f"file{self.chance.randrange(FILES)}"

    def there(self) -> str:
        name = self.name()
        if name not in self.content:
            self.open(name, os.O_CREAT)
        return name

    def open(self, name: str, flags: int = 0) -> int:
        fd = os.open(name, os.O_RDWR | flags)
        if flags & os.O_TRUNC or name not in self.content:
            self.content[name] = bytearray()
        self.descriptors.setdefault(name, []).append(fd)
        return fd

    def descriptor(self, name: str) -> int:
        known = self.descriptors.get(name) or []
        return self.chance.choice(known) if known else self.open(name)

    def data(self) -> bytes:
        size = self.chance.choice([1, 100, 4096, 5000, 70_000, 300_000, 1 << 20])
        return self.chance.randbytes(self.chance.randrange(1, size + 1))

    def put(self, name: str, at: int, data: bytes) -> None:
        content = self.content[name]
        if len(content) < at:
            content.extend(bytes(at - len(content)))
        content[at : at + len(data)] = data


def write(model: Model) -> None:
    name, data = model.there(), model.data()
    at = model.chance.randrange(LENGTH_MAX - len(data))
    assert os.pwrite(model.descriptor(name), data, at) == len(data)
    model.put(name, at, data)


def append(model: Model) -> None:
    name, data = model.there(), model.data()
    if len(model.content[name]) + len(data) > LENGTH_MAX:
        return
    with open(name, "ab", buffering=0) as file:
        assert file.write(data) == len(data)
    model.put(name, len(model.content[name]), data)


def append_by_flag(model: Model) -> None:
    name, data = model.there(), model.data()
    if len(model.content[name]) + len(data) > LENGTH_MAX:
        return
    fd = model.descriptor(name)
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)
    assert os.write(fd, data) == len(data)
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)
    model.put(name, len(model.content[name]), data)


def read(model: Model) -> None:
    name = model.there()
    at, length = model.chance.randrange(LENGTH_MAX), model.chance.randrange(1, 1 << 20)
    got = os.pread(model.descriptor(name), length, at)
    assert got == model.content[name][at : at + length], f"{name}: other bytes from {at} on"


def size(model: Model) -> None:
    name = model.there()
    found = os.stat(name).st_size, os.fstat(model.descriptor(name)).st_size
    assert found == (len(model.content[name]),) * 2, f"{name}: {found}"


def cut(model: Model) -> None:
    name, length = model.there(), model.chance.randrange(LENGTH_MAX)
    if any(len(one) > length for one in model.maps.get(name, [])):
        return
    if model.chance.random() < 0.5:
        os.truncate(name, length)
    else:
        os.ftruncate(model.descriptor(name), length)
    content = model.content[name]
    del content[length:]
    content.extend(bytes(length - len(content)))


def map_file(model: Model) -> None:
    name = model.there()
    if model.content[name] and len(model.maps.get(name, [])) < 2:
        model.maps.setdefault(name, []).append(mmap.mmap(model.descriptor(name), 0))


def look_at_map(model: Model) -> None:
    name = model.there()
    for one in model.maps.get(name, []):
        at = model.chance.randrange(len(one))
        part = one[at : at + 5000]
        assert part == model.content[name][at : at + len(part)], f"{name}: the mapping differs"


def store(model: Model) -> None:
    name = model.there()
    for one in model.maps.get(name, [])[:1]:
        data = model.data()[: len(one)]
        at = model.chance.randrange(len(one) - len(data) + 1)
        one[at : at + len(data)] = data
        if model.chance.random() < 0.3:
            one.flush()
        model.put(name, at, data)


def unmap(model: Model) -> None:
    for one in model.maps.pop(model.name(), []):
        one.close()


def close(model: Model) -> None:
    for fd in model.descriptors.pop(model.name(), []):
        os.close(fd)


def open_again(model: Model) -> None:
    name = model.there()
    if len(model.descriptors.get(name, [])) < 5:
        model.open(name)


def empty(model: Model) -> None:
    name = model.there()
    if not model.maps.get(name):
        model.open(name, os.O_TRUNC)
        model.content[name] = bytearray()


def sync(model: Model) -> None:
    os.fsync(model.descriptor(model.there()))


def set_mode(model: Model) -> None:
    os.chmod(model.there(), 0o644)


def rename(model: Model) -> None:
    old, new = model.there(), model.name()
    if old == new:
        return
    drop(model, new)
    os.rename(old, new)
    follow(model, old, new)


def follow(model: Model, old: str, new: str) -> None:
    model.content[new] = model.content.pop(old)
    model.descriptors[new] = model.descriptors.pop(old, [])
    model.maps[new] = model.maps.pop(old, [])


def drop(model: Model, name: str) -> None:
    for one in model.maps.pop(name, []):
        one.close()
    for fd in model.descriptors.pop(name, []):
        os.close(fd)
    model.content.pop(name, None)


def remove(model: Model) -> None:
    name = model.there()
    drop(model, name)
    os.unlink(name)


def allocate(model: Model) -> None:
    name = model.there()
    at, length = model.chance.randrange(LENGTH_MAX // 2), model.chance.randrange(1, 1 << 20)
    os.posix_fallocate(model.descriptor(name), at, length)
    content = model.content[name]
    content.extend(bytes(max(0, at + length - len(content))))


def copy(model: Model) -> None:
    source, target = model.there(), model.there()
    length = min(len(model.content[source]), 500_000)
    if source == target or length == 0:
        return
    at = model.chance.randrange(LENGTH_MAX - length)
    moved = os.copy_file_range(model.descriptor(source), model.descriptor(target), length, 0, at)
    model.put(target, at, bytes(model.content[source][:moved]))


CALLS: list[Callable[[Model], None]] = [
    write, write, write, write, append, append, append_by_flag, read, read, read, read, size, size,
    cut, map_file, look_at_map, store, unmap, unmap, close, close, open_again, open_again, empty,
    sync, set_mode, rename, remove, allocate, copy,
]  # fmt: skip


def give_order(model: Model) -> None:
    what = model.chance.choice(["move", "move", "evict", "fill"])
    try:
        os.setxattr(model.chance.choice([model.there(), "."]), ORDERS, what.encode())
    except OSError as error:
        # It is a folder, or is written; or there is no room.
        if error.errno not in (errno.EINVAL, errno.EBUSY, errno.ENOSPC):
            raise


def set_time(model: Model) -> None:
    os.utime(model.there(), (1e9, model.chance.randrange(10**9)))


def link_and_unlink(model: Model) -> None:
    old, new = model.there(), model.name()
    if old == new:
        return
    known = new in model.content
    drop(model, new)
    if known:
        os.unlink(new)
    os.link(old, new)
    os.unlink(old)
    follow(model, old, new)


def empty_to_read(model: Model) -> None:
    name = model.there()
    if not model.maps.get(name):
        os.close(os.open(name, os.O_RDONLY | os.O_TRUNC))
        model.content[name] = bytearray()


def main(seed: int, count: int) -> None:
    model = Model(random.Random(seed))
    if ORDERS:
        CALLS.extend([give_order, give_order, set_time, link_and_unlink, empty_to_read])
    for number in range(count):
        call = model.chance.choice(CALLS)
        try:
            call(model)
        except (AssertionError, OSError) as error:
            sys.exit(f"call {number} of seed {seed}, {call.__name__}: {error!r}")
    for name in list(model.content):
        for one in model.maps.pop(name, []):
            one.close()
        if Path(name).read_bytes() != model.content[name]:
            sys.exit(f"seed {seed}: {name} differs at the end")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
