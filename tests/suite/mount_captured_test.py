"""Captured and uncaptured programs on the same files of a mount: all of them see the same bytes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite import pool as daemon
from suite import pooled
from suite.on import FULL
from suite.posix_forks_test import CALLS
from suite.verdict import ensure

CASES = m.ROOT / "tests" / "posix" / "mount_captured.py"
MIB = 1 << 20
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "kept": pooled.KEPT,
    "eager": pooled.EAGER,
    "usual": {},
}

pytestmark = mo.needs_mount


@pytest.fixture
def mount() -> Iterator[mo.Mounted]:
    with mo.mounted(before_pool=True, captures=True) as served:
        yield served


def _try(settings: Mapping[str, str], *words: str) -> None:
    with mo.mounted(before_pool=True, captures=True, settings=settings) as served:
        mo.run_in(
            served.folder,
            sys.executable,
            str(CASES),
            *words,
            environment={"FOREBAY_TEST_CAPTURE": json.dumps(served.captured())},
            seconds_max=1500,
        )


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=FULL) for seed in range(2, 6))])
def test_random_calls_of_three_processes_agree_with_a_model(
    seed: int, settings: Mapping[str, str]
) -> None:
    _try(settings, "random", str(seed), "500" if seed == 1 else "4000")


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(some, id=name, marks=() if name == "usual" else FULL)
        for name, some in SETTINGS.items()
    ],
)
def test_every_pair_of_calls(settings: Mapping[str, str]) -> None:
    _try(settings, "every", "2", "0", "1")


@FULL
@pytest.mark.parametrize("part", range(8))
def test_every_sequence_of_three_calls(part: int) -> None:
    _try({}, "every", "3", str(part), "8")


def test_a_captured_program_deposits_by_its_own_log(mount: mo.Mounted) -> None:
    script = """
import fcntl, os
fd = os.open("f", os.O_RDWR | os.O_CREAT)
for at in range(8):
    os.write(fd, bytes([at]) * (1 << 20))
said = bytearray(40)
fcntl.ioctl(fd, 0x8028FB02, said)  # FOREBAY_POOL_GET: the capture answers, and not the kernel
assert os.fstat(fd).st_size == 8 << 20
assert all(os.pread(fd, 3, at << 20) == bytes([at]) * 3 for at in range(8))
"""
    mount.run(sys.executable, "-c", script)
    found = (mount.folder / "f").read_bytes()
    ensure(found == b"".join(bytes([at]) * MIB for at in range(8)), "other bytes are there")


def test_the_daemon_never_gets_a_descriptor_of_the_mount(mount: mo.Mounted) -> None:
    pool = mount.pool
    ensure(pool is not None, "there is no pool")
    mount.run("dd", "if=/dev/zero", "of=f", "bs=1M", "count=4", "status=none")
    device = (mount.folder / "f").stat().st_dev
    if pool:
        for link in Path(f"/proc/{pool.process.pid}/fd").iterdir():
            ensure(link.stat().st_dev != device, f"{link.readlink()} is the mount's")


def test_set_id_bits_are_cleared_by_captured_writes(mount: mo.Mounted) -> None:
    script = """
import os
fd = os.open("f", os.O_RDWR | os.O_CREAT)
for _ in range(3):
    os.pwrite(fd, bytes(1 << 20), 0)
    os.chmod("f", 0o6755)
    assert os.fstat(fd).st_mode & 0o7777 == 0o6755
    os.pwrite(fd, bytes(1 << 20), 0)
    assert os.fstat(fd).st_mode & 0o7777 == 0o755, oct(os.fstat(fd).st_mode)
"""
    mount.run(sys.executable, "-c", script)


def test_an_append_by_flag_of_a_call_goes_to_the_end(mount: mo.Mounted) -> None:
    script = """
import os
fd = os.open("f", os.O_RDWR | os.O_CREAT)
os.write(fd, bytes(3 << 20))
os.pwritev(fd, [b"end"], 0, os.RWF_APPEND)
assert os.pread(fd, 10, 3 << 20) == b"end", os.fstat(fd).st_size
"""
    mount.run(sys.executable, "-c", script)


def test_a_mapping_reaches_what_was_just_written(mount: mo.Mounted) -> None:
    script = """
import mmap, os
fd = os.open("f", os.O_RDWR | os.O_CREAT)
data = os.urandom(3 << 20)
os.write(fd, data)
seen = mmap.mmap(fd, 3 << 20)
assert seen[:] == data
seen[5:9] = b"text"
os.pwrite(fd, b"more", 9)
assert seen[5:13] == b"textmore" and os.pread(fd, 8, 5) == b"textmore"
"""
    mount.run(sys.executable, "-c", script)


def test_what_captured_programs_wrote_is_below_when_all_has_ended() -> None:
    with mo.mounted(before_pool=True, captures=True) as mount:
        data = random.Random(1).randbytes(20 * MIB)
        mount.run("dd", "of=f", "bs=1M", "iflag=fullblock", "status=none", given="x" * len(data))
        pool = mount.pool
        ensure(pool is not None and pool.taken() > len(data) // 2, "nothing was deposited")
        mo.unmount(mount.folder)
        ensure(mount.has_ended() == 0, "the mount does not end")
        if pool is not None:
            pool.stop()
        ensure((mount.folder / "f").read_bytes() == b"x" * len(data), "not all is there")


# A script knows whether the capture deposits the writes of a descriptor: then the capture answers
# this, and otherwise the mount refuses it.
JOINED = """
import errno, fcntl, mmap, os, signal, struct, subprocess, sys
POOL_SET, POOL_GET = 0x4010fb01, 0x8028fb02
MIB = 1 << 20
def joined(fd):
    try:
        fcntl.ioctl(fd, POOL_GET, bytearray(40))
    except OSError as error:
        assert error.errno == errno.ENOTTY, error
        return False
    return True
def made(name="f", flags=0):
    fd = os.open(name, os.O_RDWR | os.O_CREAT | flags)
    os.write(fd, bytes(MIB))
    return fd
"""


def _script(mount: mo.Mounted, script: str, *words: str) -> str:
    return mount.run(sys.executable, "-c", JOINED + script, *words).stdout


def test_descriptions_of_other_processes_are_not_captured(mount: mo.Mounted) -> None:
    # A process that is killed within a write at a shared offset would leave a gap.
    script = """
assert joined(made())
os.write(1, bytes(MIB))
assert not joined(1), "standard output"
fd = made("g")
child = os.fork()
if child == 0:
    os.write(fd, bytes(MIB))
    os._exit(1 if joined(fd) else 0)
assert os.waitpid(child, 0)[1] == 0, "a child's"
assert joined(fd)
"""
    mount.run("sh", "-c", 'exec "$0" -c "$1" > out', sys.executable, JOINED + script)
    ensure((mount.folder / "out").stat().st_size == MIB, "not all is there")
    ensure((mount.folder / "g").stat().st_size == 2 * MIB, "the offset is not shared")


def test_another_process_lets_a_description_append(mount: mo.Mounted) -> None:
    script = """
fd = made()
assert joined(fd)
program = "import fcntl, os; fcntl.fcntl(int(os.environ['FD']), fcntl.F_SETFL, os.O_APPEND)"
subprocess.run([sys.executable, "-c", program], env={"FD": str(fd)}, pass_fds=[fd], check=True)
os.lseek(fd, 0, os.SEEK_SET)
os.write(fd, b"end")
assert os.fstat(fd).st_size == MIB + 3, os.fstat(fd).st_size
assert os.pread(fd, 9, MIB) == b"end"
"""
    _script(mount, script)


def test_a_mapping_that_is_made_before_the_file_grows_reaches_the_rest(mount: mo.Mounted) -> None:
    script = """
import ctypes
fd = made()
assert joined(fd)
mmap = ctypes.CDLL(None).mmap
mmap.restype = ctypes.c_void_p
mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
at = mmap(None, 2 * MIB, 1, 1, fd, 0)
os.write(fd, b"more" * (MIB // 4))
assert ctypes.string_at(at + MIB, 8) == b"moremore"
"""
    _script(mount, script)


def test_a_process_asks_how_many_bytes_are_left(mount: mo.Mounted) -> None:
    script = """
fd = made()
os.fstat(fd)
os.write(fd, bytes(MIB))
assert joined(fd)
os.lseek(fd, 5, os.SEEK_SET)
left = bytearray(4)
fcntl.ioctl(fd, 0x541b, left)  # FIONREAD
assert struct.unpack("i", left)[0] == 2 * MIB - 5, left
"""
    _script(mount, script)


def test_a_lock_from_the_end_is_where_the_file_ends(mount: mo.Mounted) -> None:
    script = """
fd = made()
os.fstat(fd)
os.write(fd, bytes(MIB))
assert joined(fd)
fcntl.lockf(fd, fcntl.LOCK_EX, 5, -10, os.SEEK_END)
child = os.fork()
if child == 0:
    wanted = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    found = struct.unpack("hhqqi", fcntl.fcntl(fd, fcntl.F_GETLK, wanted))
    print(found)
    os._exit(0 if found[0] == fcntl.F_WRLCK and found[2] == 2 * MIB - 10 else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    _script(mount, script)


def test_who_has_the_file_open_may_copy_what_was_written_and_closed(mount: mo.Mounted) -> None:
    (mount.folder / "f").write_bytes(b"")
    with (mount.folder / "f").open("rb", buffering=0) as file:
        _script(mount, "fd = made(); assert joined(fd); os.close(fd)")
        with (mount.folder / "copy").open("wb", buffering=0) as copy:
            moved = os.copy_file_range(file.fileno(), copy.fileno(), 2 * MIB, 0)
    ensure(moved == MIB, f"{moved} bytes were copied")


def test_a_file_that_a_program_switches_off_is_written_through_by_all() -> None:
    script = """
fd, other = made(), made()
assert joined(fd) and joined(other)
fcntl.ioctl(fd, POOL_SET, struct.pack("IIQ", 1, 0, 0))
os.pwrite(other, b"text", 0)
print(os.read(os.open(sys.argv[1], os.O_RDONLY), 4))
"""
    with mo.mounted(before_pool=True, captures=True, settings=pooled.KEPT) as mount:
        ensure("b'text'" in _script(mount, script, str(mount.below("f"))), "it is not below")


def test_bytes_that_another_program_wants_synced_at_once_are_below() -> None:
    script = """
def elsewhere(words):
    program = [sys.executable, "-c", "import os; " + words]
    return subprocess.run(program, env={}, check=True, capture_output=True).stdout
def below(count):
    return elsewhere(f"os.write(1, os.read(os.open({sys.argv[1]!r}, os.O_RDONLY), {count}))")
fd = made()
assert joined(fd)
os.pwrite(fd, b"text", 0)
elsewhere("fd = os.open('f', os.O_WRONLY); os.pwritev(fd, [b'one'], 4, os.RWF_DSYNC)")
assert below(8) == b"textone" + bytes(1)
os.pwrite(fd, b"more", 8)
assert below(12) == b"textone" + bytes(5), "it has left the pool"
elsewhere("fd = os.open('f', os.O_WRONLY | os.O_DSYNC); os.pwrite(fd, b'two', 12)")
assert below(16) == b"textone" + bytes(1) + b"moretwo" + bytes(1)
os.pwrite(fd, b"last", 0)
assert below(4) == b"last", "it has not left the pool"
"""
    with mo.mounted(before_pool=True, captures=True, settings=pooled.KEPT) as mount:
        _script(mount, script, str(mount.below("f")))


def test_a_program_that_becomes_another_one_leaves_its_bytes_and_its_offset(
    mount: mo.Mounted,
) -> None:
    script = """
fd = made()
assert joined(fd)
os.write(fd, b"text")
os.set_inheritable(fd, True)
program = f"import os; os.write({fd}, b'more'); print(os.pread({fd}, 9, {MIB}))"
os.execv(sys.executable, [sys.executable, "-c", program])
"""
    said = _script(mount, script)
    ensure(said == "b'textmore'\n", said)


def test_a_number_that_was_closed_among_others_means_another_file(mount: mo.Mounted) -> None:
    script = """
import ctypes
fd = made()
assert joined(fd)
assert ctypes.CDLL(None).close_range(fd, fd + 5, 0) == 0
other = os.open("other", os.O_RDWR | os.O_CREAT)
assert other == fd
os.write(other, b"more")
assert os.stat("other").st_size == 4 and os.stat("f").st_size == MIB
copy = os.dup(made())
assert joined(copy)
os.dup2(other, copy)
assert not joined(copy)
os.write(copy, b"text")
assert os.pread(other, 9, 0) == b"moretext"
"""
    _script(mount, script)


def test_the_program_of_another_daemon_is_not_captured() -> None:
    # Both daemons know the file by the same slot and generation.
    hold = "made(sys.argv[1]); print(flush=True); input()"
    with mo.mounted(before_pool=True, captures=True) as mount, daemon.pool(mount.folder) as other:
        below = mount.below("f")
        with subprocess.Popen(
            [sys.executable, "-c", JOINED + hold, str(below)],
            env={
                **os.environ,
                **other.environment(),
                "FOREBAY_POOL_PATHS": f"{below.parent},{mount.folder}",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as first:
            if first.stdout:
                first.stdout.readline()
            mount.run(
                sys.executable,
                "-c",
                JOINED + "assert not joined(made())",
                environment=other.environment(),
            )
            first.communicate(b"\n")
        ensure(other.taken() == MIB, "only the one below deposits by the other daemon")


def test_what_a_killed_program_was_told_to_be_written_is_there(mount: mo.Mounted) -> None:
    script = """
fd = made()
assert joined(fd)
for number in range(1, 10**6):
    at = number % 20 * MIB
    os.pwrite(fd, number.to_bytes(8, "little") * (MIB // 8), at)
    os.write(1, number.to_bytes(8, "little"))
"""
    for kills in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", JOINED + script],
            cwd=mount.folder,
            env={**os.environ, **mount.captured()},
            stdout=subprocess.PIPE,
        ) as program:
            ensure(program.stdout is not None, "it has no output")
            if program.stdout:
                last = 0
                while last < 30 + 7 * kills:
                    last = int.from_bytes(program.stdout.read(8), "little")
                program.kill()
                told = program.stdout.read()
                last = int.from_bytes(told[-8:], "little") if told else last
        found = (mount.folder / "f").read_bytes()
        # The next one, of which a part may be there, overwrites number `last - 19`.
        for number in range(last - 18, last + 1):
            at = number % 20 * MIB
            wanted = number.to_bytes(8, "little") * (MIB // 8)
            ensure(found[at : at + MIB] == wanted, f"write {number} is lost")


def test_the_mount_is_killed_while_a_captured_program_writes(mount: mo.Mounted) -> None:
    script = """
fd = made()
assert joined(fd)
mount = os.pidfd_open(int(sys.argv[1]))
os.kill(int(sys.argv[1]), signal.SIGKILL)
import select
select.select([mount], [], [])
os.pwrite(fd, b"x" * MIB, MIB)
for call in (lambda: os.fsync(fd), lambda: os.close(fd)):
    try:
        call()
    except OSError as error:
        assert error.errno in (errno.ENOTCONN, errno.EIO, errno.ECONNABORTED), error
        continue
    raise SystemExit("no error was told")
"""
    pid = mount.process.pid
    mount.run(sys.executable, "-c", JOINED + script, str(pid))
    pooled.until(lambda: not mo.is_mounted(mount.folder), "it is still mounted")
    if mount.pool:
        mount.pool.stop()
    found = (mount.folder / "f").read_bytes()
    ensure(found == bytes(MIB) + b"x" * MIB, "what was acknowledged is not there")


def test_a_killed_daemon_is_reported_at_the_next_write_and_at_close(mount: mo.Mounted) -> None:
    script = """
import os, select, signal, sys
fd = os.open("f", os.O_RDWR | os.O_CREAT)
os.write(fd, bytes(4 << 20))
daemon = os.pidfd_open(int(sys.argv[1]))
os.kill(int(sys.argv[1]), signal.SIGKILL)
select.select([daemon], [], [])
for call in (lambda: os.write(fd, bytes(1 << 20)), lambda: os.fsync(fd), lambda: os.close(fd)):
    try:
        call()
    except OSError:
        continue
    raise SystemExit("no error was told")
"""
    pid = str(mount.pool.process.pid) if mount.pool else ""
    mount.run(sys.executable, "-c", script, pid)


def test_a_program_that_has_met_the_mount_is_captured_below_it_when_it_has_ended() -> None:
    # It knew no pool behind the mount any more, and read the file below past all deposits.
    read = """
folder = sys.argv[1]
made(os.path.join(folder, "small"))
print(flush=True)
input()
print(os.read(os.open(os.path.join(folder, "f"), os.O_RDONLY), 4))
"""
    write = """
fd = os.open(os.path.join(sys.argv[1], "f"), os.O_RDWR | os.O_CREAT)
os.write(fd, b"text" * MIB)
assert joined(fd)
"""
    with mo.mounted(before_pool=True, captures=True, settings=pooled.KEPT) as mount:
        words = [sys.executable, "-c", JOINED + read, str(mount.folder)]
        environment = mount.captured()
        with subprocess.Popen(
            words,
            cwd="/",
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as first:
            if first.stdout:
                first.stdout.readline()
            mount.process.kill()
            mo.until_unmounted(mount.folder)
            words = [sys.executable, "-c", JOINED + write, str(mount.folder)]
            mo.run_in(Path("/"), *words, environment=environment)
            said, _ = first.communicate("\n", timeout=mo.SECONDS_MAX)
        ensure("b'text'" in said, f"it has read {said}")


def test_a_program_that_is_not_captured_finds_no_old_bytes_when_the_path_is_back() -> None:
    # Only what the mount itself had deposited was waited for.
    script = """
import select
folder, mount = sys.argv[1], int(sys.argv[2])
path = os.path.join(folder, "f")
fd = made(path)
assert joined(fd)
reads = '''
import os, sys
input()
while True:
    try:
        fd = os.open(sys.argv[1], os.O_RDONLY)
        print(os.pread(fd, 4, int(sys.argv[2])))
        break
    except OSError:
        pass
'''
program = subprocess.Popen(
    [sys.executable, "-c", reads, path, str(60 * MIB)], env={}, stdin=subprocess.PIPE
)
for at in range(61):
    os.pwrite(fd, b"text" * (MIB // 4), at * MIB)
served = os.pidfd_open(mount)
os.kill(mount, signal.SIGKILL)
select.select([served], [], [])
program.communicate(b"\\n")
"""
    with mo.mounted(before_pool=True, captures=True, settings=pooled.KEPT) as mount:
        words = [sys.executable, "-c", JOINED + script, str(mount.folder), str(mount.process.pid)]
        said = mo.run_in(Path("/"), *words, environment=mount.captured()).stdout
        mo.until_unmounted(mount.folder)
        warned = mount.process.stderr.read() if mount.process.stderr else ""
        # A slow disk is not waited for for longer than 0.9 s.
        ensure(said == "b'text'\n" or "older than what was written" in warned, f"it finds {said}")


FORKS = (*CALLS, "handlers")


@pytest.mark.parametrize("call", FORKS)
@pytest.mark.parametrize("children", [100, pytest.param(1000, marks=FULL)])
def test_children_return_into_the_call_in_which_a_signal_handler_forked_them(
    children: int, call: str, mount: mo.Mounted
) -> None:
    program = pooled.program("handler_forks.c", "-pthread")
    said = mount.run(str(program), call, str(children), seconds_max=600).stdout
    ensure(said == f"wrong: 0\nmissing: 0\nforks: {children}\n", said)
    ensure(mount.pool is not None and mount.pool.taken() > 0, "nothing was deposited")


PROGRAMS: Mapping[str, str] = {
    "cp": "cp --reflink=never {source} a && cp a b && cp -p b c",
    "dd": "dd if={source} of=a bs=64k status=none; dd if={source} of=a bs=1000 count=777"
    " conv=notrunc status=none; dd if=a bs=100k status=none | cat > b",
    "sed": "seq 300000 > a; sed -i s/9/nine/ a; sed s/1/one/ a > b",
    "redirections": "seq 200000 > a; seq 5 >> a; (seq 200000; cat {source}; seq 7) > b;"
    " tee c < {source} > d; head -c 1000000 {source} 1<>d",
    "tar": "mkdir t; cp {source} t/x; seq 9 > t/y; tar cf t.tar --sort=name --mtime=@0"
    " --owner=0 --group=0 t; mkdir u; tar xf t.tar -C u; tar cSf s.tar t; tar df s.tar; rm s.tar",
    "sqlite": "sqlite3 d.db 'create table t(a, b); with recursive n(i) as (select 1 union all"
    " select i + 1 from n where i < 3000) insert into t select i, hex(zeroblob(300)) from n;"
    " update t set b = 5 where a % 7 = 0;' && sqlite3 d.db .dump > dump",
    "git": "mkdir w && cd w && git init -q . && cp {source} x && seq 90000 > y && git add . &&"
    " git -c user.name=n -c user.email=e commit -qm one && git gc -q && git fsck --strict &&"
    " git ls-files -s > ../listed",
    "python": '{python} -c \'import mmap; d = open("{source}", "rb").read();'
    ' f = open("m", "w+b"); f.write(d); f.flush(); v = mmap.mmap(f.fileno(), 0);'
    ' v[7:9] = b"ab"; f.seek(0, 2); f.write(d); f.close()\'',
    "sort": "seq 100000 | sort -R --random-source={source} > a; sort -n -S 1M -T . a -o a",
    "compress": "cp {source} a; gzip -1nk a; gzip -t a.gz; gunzip -c a.gz > b",
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_leave_what_they_leave_without_it(
    name: str, settings: Mapping[str, str], tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.write_bytes(random.Random(2).randbytes(5 * MIB))
    script = PROGRAMS[name].format(source=source, python=sys.executable)
    plain = tmp_path / "plain"
    plain.mkdir()
    expected = mo.run_in(plain, "sh", "-c", script).stdout
    with mo.mounted(before_pool=True, captures=True, settings=settings) as mount:
        said = mount.run("sh", "-c", script)
        ensure("forebay:" not in said.stderr, said.stderr)
        ensure(said.stdout == expected, "it says something else")
        left_out = (".git", "d.db") if name in ("git", "sqlite") else ()
        both = [
            {
                file: what
                for file, what in pooled.tree(folder).items()
                if not any(one in file for one in left_out)
            }
            for folder in (plain, mount.folder)
        ]
        ensure(not pooled.first_difference(*both), pooled.first_difference(*both))
    ensure(os.listdir(plain) != [], "the program left nothing")  # noqa: PTH208
