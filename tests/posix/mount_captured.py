"""Captured and uncaptured processes on the same files of a mount, against a model in memory.

    mount_captured.py random SEED COUNT       random calls of three processes
    mount_captured.py every LENGTH PART PARTS  all sequences of so many calls; one part of them

The environment's FOREBAY_TEST_CAPTURE has what captured processes need, as JSON."""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from mount_workers import Content, Worker

LENGTH_MAX = 3 << 20
FILES = 3
LARGE = 300_000


@dataclass
class World:
    """Two captured processes and one that is not."""

    workers: list[Worker]
    chance: random.Random
    model: Content = field(default_factory=Content)
    joined: int = 0

    def worker(self) -> Worker:
        return self.chance.choice(self.workers)

    def name(self) -> str:
        return f"file{self.chance.randrange(FILES)}"

    def there(self, worker: Worker) -> str:
        name = self.name()
        if name not in self.model.files:
            self.open(worker, name, os.O_CREAT)
        return name

    def open(self, worker: Worker, name: str, flags: int = 0) -> int:
        fd: int = worker.do("open", name, os.O_RDWR | flags)
        if flags & os.O_TRUNC or name not in self.model.files:
            self.model.files[name] = bytearray()
        worker.descriptors.setdefault(name, []).append(fd)
        return fd

    def descriptor(self, worker: Worker, name: str) -> int:
        known = worker.descriptors.get(name) or []
        return self.chance.choice(known) if known else self.open(worker, name)

    def data(self) -> bytes:
        size = self.chance.choice([1, 100, 4096, 5000, 70_000, LARGE, LARGE, 1 << 20])
        return self.chance.randbytes(self.chance.randrange((size + 1) // 2, size + 1))

    def mapped_to(self, name: str) -> int:
        return max((n for w in self.workers for _, n in w.maps.get(name, [])), default=0)


def write(world: World) -> None:
    worker = world.worker()
    name, data = world.there(worker), world.data()
    at = world.chance.randrange(LENGTH_MAX - len(data))
    how = world.chance.choice(["pwrite", "pwrite", "write_at_offset", "write_vector"])
    fd = world.descriptor(worker, name)
    assert worker.do(how, fd, data, at) == len(data)
    world.model.put(name, at, data)
    if worker.label == "captured" and world.chance.random() < 0.3:
        world.joined += worker.do("is_joined", fd)


def write_in_child(world: World) -> None:
    worker = world.worker()
    name, data = world.there(worker), world.data()
    at = world.chance.randrange(LENGTH_MAX - len(data))
    how = world.chance.choice(["pwrite", "write_at_offset"])
    fd = world.descriptor(worker, name)
    assert worker.do("in_child", how, fd, data, at) == len(data)
    world.model.put(name, at, data)


def read_in_child(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    at, length = world.chance.randrange(LENGTH_MAX), world.chance.randrange(1, 1 << 20)
    got = worker.do("in_child", "pread", world.descriptor(worker, name), length, at)
    assert got == world.model.files[name][at : at + length], f"{name}: a child reads other bytes"


def write_by_program(world: World) -> None:
    worker = world.worker()
    name, data = world.there(worker), world.data()
    at = world.chance.randrange(LENGTH_MAX - len(data))
    words = world.chance.choice([["cat"], ["dd", "bs=100k", "iflag=fullblock", "status=none"]])
    clean = world.chance.random() < 0.5
    worker.do("by_program", words, world.descriptor(worker, name), at, data, clean)
    world.model.put(name, at, data)


def read_by_program(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    at, clean = world.chance.randrange(LENGTH_MAX), world.chance.random() < 0.5
    got = worker.do("by_program", ["cat"], world.descriptor(worker, name), at, b"", clean)
    assert got == world.model.files[name][at:], f"{name}: a program reads other bytes from {at}"


def append(world: World) -> None:
    worker = world.worker()
    name, data = world.there(worker), world.data()
    if len(world.model.files[name]) + len(data) > LENGTH_MAX:
        return
    fd = worker.do("open", name, os.O_WRONLY | os.O_APPEND)
    assert worker.do("write", fd, data) == len(data)
    worker.do("close", fd)
    world.model.put(name, len(world.model.files[name]), data)


def append_by_flag(world: World) -> None:
    worker = world.worker()
    name, data = world.there(worker), world.data()
    if len(world.model.files[name]) + len(data) > LENGTH_MAX:
        return
    fd = world.descriptor(worker, name)
    worker.do("set_flags", fd, os.O_APPEND)
    assert worker.do("write", fd, data) == len(data)
    worker.do("set_flags", fd, 0)
    world.model.put(name, len(world.model.files[name]), data)


def read(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    at, length = world.chance.randrange(LENGTH_MAX), world.chance.randrange(1, 1 << 20)
    how = world.chance.choice(["pread", "read_at_offset"])
    got = worker.do(how, world.descriptor(worker, name), length, at)
    assert got == world.model.files[name][at : at + length], f"{name}: other bytes from {at} on"


def read_by_stream(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    got = worker.do("read_by_stream", name)
    assert got == world.model.files[name], f"{name}: a stream reads other bytes"


def size(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    found = worker.do("size", world.descriptor(worker, name), name)
    wanted = len(world.model.files[name])
    assert tuple(found) == (wanted,) * 3, f"{name}: {found}, and not {wanted}"


def cut(world: World) -> None:
    worker = world.worker()
    name, length = world.there(worker), world.chance.randrange(LENGTH_MAX)
    if world.mapped_to(name) > length:
        return
    if world.chance.random() < 0.5:
        worker.do("truncate", name, length)
    else:
        worker.do("ftruncate", world.descriptor(worker, name), length)
    world.model.cut(name, length)


def empty(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    if world.mapped_to(name) == 0:
        world.open(worker, name, os.O_TRUNC)


def map_file(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    length = len(world.model.files[name])
    if length > 0 and len(worker.maps.get(name, [])) < 2:
        fd = world.descriptor(worker, name)
        worker.do("size", fd, name)  # who maps a file knows how long it is
        worker.maps.setdefault(name, []).append((worker.do("map", fd, length), length))


def look_at_map(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    for number, length in worker.maps.get(name, []):
        at = world.chance.randrange(length)
        part = worker.do("look", number, at, 5000)
        wanted = world.model.files[name][at : at + len(part)]
        assert part == wanted, f"{name}: the mapping differs from {at} on"


def store(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    for number, length in worker.maps.get(name, [])[:1]:
        data = world.data()[:length]
        at = world.chance.randrange(length - len(data) + 1)
        worker.do("store", number, at, data, world.chance.random() < 0.3)
        world.model.put(name, at, data)


def unmap(world: World) -> None:
    worker = world.worker()
    for number, _ in worker.maps.pop(world.name(), []):
        worker.do("unmap", number)


def close(world: World) -> None:
    worker = world.worker()
    for fd in worker.descriptors.pop(world.name(), []):
        worker.do("close", fd)


def close_everywhere(world: World) -> None:
    for name in world.model.files:
        forget(world, name)


def forget(world: World, name: str) -> None:
    for worker in world.workers:
        for number, _ in worker.maps.pop(name, []):
            worker.do("unmap", number)
        for fd in worker.descriptors.pop(name, []):
            worker.do("close", fd)


def open_again(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    if len(worker.descriptors.get(name, [])) < 4:
        world.open(worker, name)


def duplicate(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    known = worker.descriptors.setdefault(name, [])
    fd = world.descriptor(worker, name)
    if len(known) < 4:
        known.append(worker.do("duplicate", fd))


def replace(world: World) -> None:
    worker = world.worker()
    name, other = world.there(worker), world.there(worker)
    old = worker.descriptors.get(other) or []
    if name == other or not old:
        return
    fd = old.pop()
    worker.do("replace", world.descriptor(worker, name), fd)
    worker.descriptors[name].append(fd)


def sync(world: World) -> None:
    worker = world.worker()
    worker.do("fsync", world.descriptor(worker, world.there(worker)))


def set_mode(world: World) -> None:
    worker = world.worker()
    worker.do("chmod", world.there(worker), 0o644)


def set_times(world: World) -> None:
    worker = world.worker()
    wanted = world.chance.randrange(10**18, 2 * 10**18)
    found = worker.do("utime", world.there(worker), wanted)
    assert found == wanted, f"the time is {found}, and not {wanted}"


def rename(world: World) -> None:
    worker = world.worker()
    old, new = world.there(worker), world.name()
    if old == new:
        return
    forget(world, new)
    worker.do("rename", old, new)
    world.model.files[new] = world.model.files.pop(old)
    for one in world.workers:
        one.descriptors[new] = one.descriptors.pop(old, [])
        one.maps[new] = one.maps.pop(old, [])


def remove(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    forget(world, name)
    worker.do("unlink", name)
    del world.model.files[name]


def allocate(world: World) -> None:
    worker = world.worker()
    name = world.there(worker)
    at, length = world.chance.randrange(LENGTH_MAX // 2), world.chance.randrange(1, 1 << 20)
    worker.do("fallocate", world.descriptor(worker, name), at, length)
    world.model.cut(name, max(len(world.model.files[name]), at + length))


def copy(world: World) -> None:
    worker = world.worker()
    source, target = world.there(worker), world.there(worker)
    length = min(len(world.model.files[source]), 500_000)
    if source == target or length == 0:
        return
    at = world.chance.randrange(LENGTH_MAX - length)
    how = world.chance.choice(["copy", "send"])
    fds = world.descriptor(worker, source), world.descriptor(worker, target)
    worker.do("size", fds[0], source)  # who copies a file knows how long it is
    moved = worker.do(how, *fds, length, at)
    assert moved > 0, "nothing was copied"
    world.model.put(target, at, bytes(world.model.files[source][:moved]))


def kill(world: World) -> None:
    worker = world.worker()
    worker.kill()
    worker.start()


# Behind these, files go through the pool.
POOLED: list[Callable[[World], None]] = [
    write, write, write, write, write, write, write_in_child, read_in_child, write_by_program,
    read_by_program, read, read, read, read, read_by_stream, size, size, cut, close,
    open_again, open_again, duplicate, replace, empty, set_mode, set_times, rename, remove, kill,
]  # fmt: skip
# Each of these keeps the file out of the pool until nobody has it open any more.
OTHERS: list[Callable[[World], None]] = [
    append,
    append_by_flag,
    map_file,
    look_at_map,
    store,
    unmap,
    sync,
    allocate,
    copy,
]
SPELL = 40  # so many calls of one kind follow each other


def at_random(world: World, seed: int, count: int) -> None:
    calls = POOLED
    for number in range(count):
        if number % SPELL == 0:
            calls = POOLED if calls is not POOLED else [*POOLED, *OTHERS, *OTHERS]
            close_everywhere(world)
        call = world.chance.choice(calls)
        try:
            call(world)
        except (AssertionError, OSError, EOFError) as error:
            sys.exit(f"call {number} of seed {seed}, {call.__name__}: {error!r}")
    finish(world, f"seed {seed}")
    if count >= 400 and world.joined == 0:
        sys.exit(f"seed {seed}: nobody was captured")


def finish(world: World, what: str) -> None:
    for name in list(world.model.files):
        for worker in world.workers:
            for number, _ in worker.maps.pop(name, []):
                worker.do("unmap", number)
        for worker in world.workers:
            if worker.do("read_by_stream", name) != world.model.files[name]:
                sys.exit(f"{what}: {name} differs at the end")


# -- every sequence of a few calls
NAME = "one"
STEPS = ("write", "grow", "read", "map", "store", "cut", "append", "fork", "exec", "close", "kill")


def step(world: World, worker: Worker, what: str, number: int) -> None:
    model = world.model.files[NAME]
    data = bytes([number + 1]) * LARGE
    if what == "kill":
        worker.kill()
        worker.start()
        return
    if what == "close":
        for fd in worker.descriptors.pop(NAME, []):
            worker.do("close", fd)
        return
    fd = world.descriptor(worker, NAME)
    maps = worker.maps.setdefault(NAME, [])
    if what == "write":
        assert worker.do("pwrite", fd, data, 1000) == LARGE
        world.model.put(NAME, 1000, data)
    elif what == "grow":
        at = len(model) + 5
        assert worker.do("pwrite", fd, data, at) == LARGE
        world.model.put(NAME, at, data)
    elif what == "fork":
        assert worker.do("in_child", "pwrite", fd, data[:5], 3) == 5
        world.model.put(NAME, 3, data[:5])
    elif what == "exec":
        worker.do("by_program", ["cat"], fd, 2000, data[:7], True)
        world.model.put(NAME, 2000, data[:7])
    elif what == "cut":
        length = max(len(model) // 2, world.mapped_to(NAME))
        worker.do("ftruncate", fd, length)
        world.model.cut(NAME, length)
    elif what == "append":
        append_to(world, worker, data[:100])
    elif what in ("map", "store"):
        if not maps:
            length = worker.do("size", fd, NAME)[0]
            maps.append((worker.do("map", fd, length), length))
        if what == "store":
            worker.do("store", maps[0][0], 10, data[:20], number % 2 == 0)
            world.model.put(NAME, 10, data[:20])
        part = worker.do("look", maps[0][0], 0, 5000)
        assert part == model[: len(part)][:5000], "the mapping differs"
    elif what == "read":
        pass
    check(world)


def append_to(world: World, worker: Worker, data: bytes) -> None:
    fd = worker.do("open", NAME, os.O_WRONLY | os.O_APPEND)
    assert worker.do("write", fd, data) == len(data)
    worker.do("close", fd)
    world.model.put(NAME, len(world.model.files[NAME]), data)


def check(world: World) -> None:
    """Everybody sees the same."""
    model = world.model.files[NAME]
    for worker in world.workers:
        fd = world.descriptor(worker, NAME)
        found = worker.do("size", fd, NAME)
        assert tuple(found) == (len(model),) * 3, f"sizes {found}, and not {len(model)}"
        got = worker.do("pread", fd, len(model) + 10, 0)
        assert got == model, f"worker {world.workers.index(worker)} reads other bytes"
        for number, length in worker.maps.get(NAME, []):
            part = worker.do("look", number, 0, length)
            who = world.workers.index(worker)
            assert part == model[: len(part)], f"the mapping of {who} differs"


def every(world: World, length: int, part: int, parts: int) -> None:
    one = list(itertools.product(range(len(world.workers)), STEPS))
    for count, sequence in enumerate(itertools.product(one, repeat=length)):
        # The two captured workers are alike: the first one that acts is worker 0.
        actors = [actor for actor, _ in sequence if actor < 2]
        if count % parts != part or (actors and actors[0] == 1):
            continue
        first = world.workers[0]
        fd = world.open(first, NAME, os.O_CREAT | os.O_TRUNC)
        try:
            assert first.do("pwrite", fd, bytes(LARGE), 0) == LARGE
            world.model.put(NAME, 0, bytes(LARGE))
            world.joined += first.do("is_joined", fd)
            for number, (actor, what) in enumerate(sequence):
                step(world, world.workers[actor], what, number)
            check(world)
        except (AssertionError, OSError, EOFError) as error:
            sys.exit(f"{sequence}: {error!r}")
        forget(world, NAME)
        first.do("unlink", NAME)
        del world.model.files[NAME]
    if world.joined == 0:
        sys.exit("nobody was captured")


def main(words: list[str]) -> None:
    captured = json.loads(os.environ["FOREBAY_TEST_CAPTURE"])
    seed = int(words[1])
    workers = [
        Worker("captured", captured),
        Worker("captured", captured),
        Worker("plain", {}),
    ]
    world = World(workers, random.Random(seed))
    try:
        if words[0] == "random":
            at_random(world, seed, int(words[2]))
        else:
            every(world, seed, int(words[2]), int(words[3]))
    finally:
        for worker in workers:
            worker.end()


if __name__ == "__main__":
    main(sys.argv[1:])
