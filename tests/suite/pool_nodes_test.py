"""A pool on several nodes, for which daemons of their own stand in: who sees which bytes, and what
happens when one of them dies, hangs, cannot be reached, or is no part of the job."""

from __future__ import annotations

import array
import contextlib
import errno
import os
import signal
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from suite.conversation import Conversation, conversation, opened
from suite.file_systems import mounted_tmpfs, until
from suite.on import FULL
from suite.pool import Daemon, Pool, introduce, pools
from suite.pooled import KEPT
from suite.verdict import ensure

SILENT_SECONDS = 10
REFUSED = errno.errorcode[errno.EREMOTEIO]


@contextlib.contextmanager
def nodes(
    folder: Path, count: int, settings: Mapping[str, str] = KEPT
) -> Iterator[tuple[list[Pool], list[Conversation]]]:
    """Nodes whose daemons drain only when they must, with a program on each."""
    with pools(folder, count, settings) as daemons, contextlib.ExitStack() as stack:
        yield daemons, [stack.enter_context(conversation(one)) for one in daemons]


def home_of(path: Path, count: int) -> int:
    """As in src/pool/cluster/tokens/token.hpp."""
    product = path.stat().st_ino * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    return (product >> 32) % count


def file_with_home(folder: Path, home: int, count: int) -> Path:
    for number in range(1000):
        path = folder / f"file-{number}"
        path.touch()
        if home_of(path, count) == home:
            return path
    raise AssertionError("no file has this home")


def written(program: Conversation, fd: int, data: bytes, at: int = 0) -> None:
    wrote = program.ask(f"os.pwrite({fd}, {data!r}, {at})")
    ensure(wrote == str(len(data)), f"wrote {wrote}")


def closed(program: Conversation, fd: int) -> None:
    ensure(program.ask(f"os.close({fd})") == "None", "close failed")


@pytest.mark.parametrize("home", [0, 1])
def test_a_node_reads_what_another_has_written_and_closed(home: int, folder: Path) -> None:
    path = file_with_home(folder, home, 2)
    with nodes(folder, 2) as (_, (one, other)):
        fd = opened(one, path)
        written(one, fd, b"x" * 100_000)
        closed(one, fd)
        ensure(path.stat().st_size == 0, "it was written at once: nothing is tested")
        there = opened(other, path)
        read = other.ask(f"os.pread({there}, 200_000, 0) == b'x' * 100_000")
        ensure(read == "True", "other bytes")


def test_a_file_that_two_nodes_have_open_is_written_through(folder: Path) -> None:
    path = folder / "file"
    with nodes(folder, 2) as (daemons, (one, other)):
        mine, theirs = opened(one, path), opened(other, path)
        for part in range(20):
            written(one, mine, bytes([part]) * 10, part * 20)
            written(other, theirs, bytes([100 + part]) * 10, part * 20 + 10)
            read = other.ask(f"os.pread({theirs}, 1, {part * 20})")
            ensure(read == repr(bytes([part])), f"{part}: {read}")
            read = one.ask(f"os.pread({mine}, 1, {part * 20 + 10})")
            ensure(read == repr(bytes([100 + part])), f"{part}: {read}")
        reasons = {file.reason for pool in daemons for file in pool.status().files}
        ensure(reasons == {"other_nodes"}, f"{reasons}")


@pytest.mark.parametrize("times", [100, pytest.param(1000, marks=FULL)])
def test_of_two_nodes_that_write_one_stripe_the_later_wins(times: int, folder: Path) -> None:
    """Each has closed it before the other opens it: their deposits lie in different daemons."""
    path = folder / "file"
    with nodes(folder, 2) as (daemons, programs):
        for number in range(times):
            program = programs[number % 2]
            fd = opened(program, path)
            written(program, fd, number.to_bytes(4, "little") * 16, number % 3 * 32)
            if number > 0:
                before = program.ask(f"os.pread({fd}, 4, {(number - 1) % 3 * 32})")
                # The bytes of the write before, unless this one has just overwritten them.
                wanted = number if (number - 1) % 3 == number % 3 else number - 1
                ensure(before == repr(wanted.to_bytes(4, "little")), f"{number}: {before}")
            closed(program, fd)
        deposits = [pool.taken() for pool in daemons]
        ensure(min(deposits) > 0, f"nothing was deposited: {deposits}")
    last = times - 1
    found = path.read_bytes()[last % 3 * 32 :][:64]
    ensure(found == last.to_bytes(4, "little") * 16, "the last write is not there")


TREE_BYTES = 24 << 20
FRESH_SECONDS = 0.2


def startup_file(folder: Path) -> Path:
    """Which all nodes read. Different in all places that could be mistaken for one another."""
    path = folder / "input"
    words = array.array(
        "Q", (number * 0x9E3779B97F4A7C15 & (1 << 64) - 1 for number in range(TREE_BYTES // 8))
    )
    path.write_bytes(words.tobytes())
    # A file that was just changed may change again within one tick: nobody passes it on.
    ensure(until(lambda: time.time() - path.stat().st_ctime > FRESH_SECONDS, 60), "no time passes")
    return path


READ_AND_SUM = (
    "(lambda parts: (sum(map(len, parts)), __import__('zlib').crc32(b''.join(parts))))"
    "([os.pread({fd}, {piece}, at) for at in range(0, {whole}, {piece})])"
)


def read_as_a_whole(fd: int, piece: int = 1 << 18) -> str:
    return READ_AND_SUM.format(fd=fd, piece=piece, whole=TREE_BYTES)


def opened_to_read(program: Conversation, path: Path) -> int:
    return int(program.ask(f"os.open({str(path)!r}, os.O_RDONLY)"))


def read_by(daemons: list[Pool]) -> list[tuple[int, int, int]]:
    """For each node: bytes read ahead, of these from other nodes, and passed to other nodes."""
    found = []
    for pool in daemons:
        status = pool.status()
        found.append((status.read_ahead, status.read_from_nodes, status.passed_to_nodes))
    return found


def kernel_reads(program: Conversation) -> int:
    """Bytes that a program has read by calls of its own, from whatever."""
    return int(program.ask("int(open('/proc/self/io').readline().split()[1])"))


@pytest.mark.parametrize("readers", [1, 2])
def test_few_nodes_read_a_file_for_all(readers: int, folder: Path) -> None:
    """All begin at once: the file system delivers the file once to each reader."""
    path = startup_file(folder)
    wanted = repr((TREE_BYTES, zlib.crc32(path.read_bytes())))
    settings = {**KEPT, "pool_readers": str(readers)}
    with nodes(folder, 4, settings) as (daemons, programs):
        fds = [opened_to_read(program, path) for program in programs]
        before = [kernel_reads(program) for program in programs]
        for program, fd in zip(programs, fds, strict=True):
            program.tell(read_as_a_whole(fd))
        for program in programs:
            read = program.answer()
            ensure(read == wanted, f"{read} instead of {wanted}")
        own = [kernel_reads(one) - bytes_ for one, bytes_ in zip(programs, before, strict=True)]
        ensure(max(own) < 1 << 16, f"programs read for themselves: {own}")
        counts = read_by(daemons)
        delivered = sum(ahead - from_nodes for ahead, from_nodes, _ in counts)
        ensure(delivered == readers * TREE_BYTES, f"{counts}")
        ensure(sum(count[1] for count in counts) == sum(count[2] for count in counts), f"{counts}")
        ensure(all(0 < count[0] <= TREE_BYTES for count in counts), f"{counts}")


def test_what_was_passed_on_is_forgotten_when_somebody_writes(folder: Path) -> None:
    path = startup_file(folder)
    with nodes(folder, 3, {**KEPT, "pool_readers": "1"}) as (daemons, (one, two, three)):
        place = 5 << 20
        for part in range(1, 7):
            fds = [opened_to_read(program, path) for program in (one, two, three)]
            for program, fd in zip((one, two, three), fds, strict=True):
                read = program.ask(f"os.pread({fd}, 4, {place})")
                if part > 1:
                    ensure(read == repr((part - 1).to_bytes(4, "little")), f"{part}: {read}")
            if part % 2 == 0:  # else they have it open while it is written
                for program, fd in zip((one, two, three), fds, strict=True):
                    closed(program, fd)
            writer = opened(two, path)
            written(two, writer, part.to_bytes(4, "little"), place)
            closed(two, writer)
            if part % 2 == 1:
                for program, fd in zip((one, two, three), fds, strict=True):
                    read = program.ask(f"os.pread({fd}, 4, {place})")
                    ensure(read == repr(part.to_bytes(4, "little")), f"{part}: {read}")
                    closed(program, fd)
        counts = read_by(daemons)
        ensure(sum(count[1] for count in counts) > 0, f"nothing was passed on: {counts}")


def test_where_who_passes_a_file_on_dies_the_rest_read_it(folder: Path) -> None:
    path = startup_file(folder)
    wanted = repr((TREE_BYTES, zlib.crc32(path.read_bytes())))
    settings = {**KEPT, "pool_readers": "1"}
    with nodes_that_may_die(folder, 3, settings) as (daemons, (one, two, three)):
        opened_to_read(one, path)
        fds = [opened_to_read(two, path), opened_to_read(three, path)]
        daemons[0].process.send_signal(signal.SIGSTOP)
        for program, fd in zip((two, three), fds, strict=True):
            program.tell(read_as_a_whole(fd))
        daemons[0].kill()
        for program in (two, three):
            read = program.answer()
            ensure(read == wanted, f"{read} instead of {wanted}")


def test_what_a_dead_daemon_had_is_lost_on_its_node_only(folder: Path) -> None:
    with nodes_that_may_die(folder, 3) as (daemons, (one, two, three)):
        kept, lost = folder / "kept", folder / "lost"
        mine, theirs = opened(one, kept), opened(three, lost)
        written(one, mine, b"k" * 1000)
        written(three, theirs, b"l" * 1000)
        daemons[2].kill()
        ensure(until(lambda: kept.stat().st_size == 1000, 60), "it was not drained")
        ensure(three.ask(f"os.pwrite({theirs}, b'x', 0)") == "EIO", "no EIO on its node")
        written(one, mine, b"m" * 1500)
        ensure(kept.stat().st_size == 1500, "it is not written through")
        again = opened(two, lost)
        written(two, again, b"n" * 10)
        ensure(lost.read_bytes() == b"n" * 10, "it is not written through elsewhere")
        said = daemons[0].said.read_text()
        ensure("the daemon of another node has died" in said, said)


def test_what_cannot_be_drained_is_refused_elsewhere(folder: Path) -> None:
    """A full disk: the other node would read the bytes that were there before."""
    with (
        mounted_tmpfs(folder / "small", "64m") as small,
        nodes_that_may_die(small, 2) as (daemons, (one, other)),
    ):
        path = small / "file"
        fd = opened(one, path)
        wrote = one.ask(f"os.pwrite({fd}, b'x' * {2 << 20}, 0)")
        ensure(wrote == str(2 << 20), wrote)
        subprocess.run(["mount", "-o", "remount,size=1m", small], check=True)
        answer = other.ask(f"os.open({str(path)!r}, os.O_RDWR)")
        ensure(answer == REFUSED, f"not refused, but {answer}")
        ensure(daemons[0].end() == 1, "nothing was lost")


def answers_no_more_for_a_while(
    folder: Path,
    programs: Sequence[Conversation],
    begin: Callable[[], object],
    end: Callable[[], object],
) -> None:
    """Between them the second daemon cannot be heard, for longer than the first one waits: it
    refuses what it would have to ask for. What is open goes on, and afterwards everything does."""
    one, other = programs
    mine, theirs = file_with_home(folder, 0, 2), file_with_home(folder, 1, 2)
    fd = opened(one, mine)
    begin()
    try:
        begun = time.monotonic()
        answer = one.ask(f"os.open({str(theirs)!r}, os.O_RDWR)")
        waited = time.monotonic() - begun
        ensure(answer == REFUSED, f"not refused, but {answer}")
        ensure(waited > SILENT_SECONDS / 2, f"refused after {waited:.1f} s")
        written(one, fd, b"x" * 100)
    finally:
        end()
    ensure(
        until(lambda: one.ask(f"os.close(os.open({str(theirs)!r}, os.O_RDWR))") == "None", 120),
        "it is still refused",
    )
    closed(one, fd)
    there = opened(other, mine)
    ensure(other.ask(f"len(os.pread({there}, 1000, 0))") == "100", "other bytes")


@FULL
def test_a_daemon_that_does_not_answer_refuses_opening_only(folder: Path) -> None:
    with nodes(folder, 2) as (daemons, programs):
        process = daemons[1].process
        answers_no_more_for_a_while(
            folder,
            programs,
            lambda: process.send_signal(signal.SIGSTOP),
            lambda: process.send_signal(signal.SIGCONT),
        )


HOSTS = ("192.0.2.1", "192.0.2.2")


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


@contextlib.contextmanager
def networks() -> Iterator[tuple[str, str]]:
    """Two network namespaces with a link between them, whose ends are called eth0."""
    one, other = (f"forebay-{os.getpid()}-{number}" for number in (0, 1))
    with contextlib.ExitStack() as stack:
        for name in (one, other):
            ip(f"netns add {name}")
            stack.callback(ip, f"netns del {name}")
        ip(f"-n {one} link add name eth0 type veth peer name eth0 netns {other}")
        for name, host in zip((one, other), HOSTS, strict=True):
            ip(f"-n {name} addr add {host}/30 dev eth0")
            ip(f"-n {name} link set eth0 up")
        yield one, other


@FULL
@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_a_network_that_is_cut_for_a_while_refuses_opening_only(folder: Path) -> None:
    """Two networks stand for nodes. Each daemon goes on, and neither takes the other for dead."""
    with contextlib.ExitStack() as stack:
        names = stack.enter_context(networks())
        daemons = [
            stack.enter_context(
                Daemon.started(
                    KEPT,
                    node=node,
                    nodes=2,
                    host=HOSTS[node],
                    front=("nsenter", f"--net=/run/netns/{name}"),
                )
            )
            for node, name in enumerate(names)
        ]
        introduce(daemons)
        made = [daemon.pool(folder) for daemon in daemons]
        programs = [stack.enter_context(conversation(one)) for one in made]
        answers_no_more_for_a_while(
            folder,
            programs,
            lambda: ip(f"-n {names[1]} link set eth0 down"),
            lambda: ip(f"-n {names[1]} link set eth0 up"),
        )
        for daemon in daemons:
            ensure("died" not in daemon.said.read_text(), daemon.said.read_text())


def test_a_slow_home_is_waited_for(folder: Path) -> None:
    path = file_with_home(folder, 1, 2)
    with nodes(folder, 2) as (daemons, (one, _)):
        daemons[1].process.send_signal(signal.SIGSTOP)
        one.tell(f"os.open({str(path)!r}, os.O_RDWR)")
        ensure(not until(one.has_answered, 1), "nobody was asked")
        daemons[1].process.send_signal(signal.SIGCONT)
        fd = int(one.answer())
        written(one, fd, b"x" * 100)
        ensure(path.stat().st_size == 0, "it is not deposited")


def test_a_daemon_with_another_secret_is_no_part_of_the_job(folder: Path) -> None:
    with contextlib.ExitStack() as stack:
        daemons = [stack.enter_context(Daemon.started(KEPT, node=n, nodes=2)) for n in (0, 1)]
        addresses = [one.address for one in daemons]
        for number, one in enumerate(daemons):
            one.tell(addresses, f"{number}" * 64)
        ensure(daemons[1].process.wait(30) == 1, "it takes part")
        said = daemons[1].said.read_text()
        ensure("cannot take part in the job" in said, said)
        daemons[0].process.kill()


def test_an_order_of_a_job_that_makes_no_sense(folder: Path) -> None:
    for line, problem in (
        ("", "does not say who else does"),
        ('{"schema":"forebay.pool.peers/1","secret":"00","addresses":["a:1","b:2"]}', "its secret"),
        ('{"schema":"forebay.pool.peers/1","secret":"00","addresses":["a:1"]}', "names 1 daemons"),
    ):
        with Daemon.started(KEPT, node=0, nodes=2) as one:
            one.say(line)
            ensure(one.process.wait(30) == 1, "it goes on")
            ensure(problem in one.said.read_text(), one.said.read_text())


@contextlib.contextmanager
def nodes_that_may_die(
    folder: Path, count: int, settings: Mapping[str, str] = KEPT
) -> Iterator[tuple[list[Pool], list[Conversation]]]:
    """How their daemons and programs end is not looked at."""
    with pools(folder, count, settings, judged=False) as daemons, contextlib.ExitStack() as stack:
        yield daemons, [stack.enter_context(conversation(one)) for one in daemons]
