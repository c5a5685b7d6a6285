"""Programs that know nothing of Forebay leave the same bytes and say the same with their files in
the pool (libforebay_posix.so) as without."""

from __future__ import annotations

import ctypes.util
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from suite import pooled
from suite.clients_test import NETCDF, PYTHON
from suite.on import FULL
from suite.verdict import ensure

# For each case: the tool whose files are deposited, and a script. None are where files are standard
# input and output, which leave the pool, and where the kernel copies.
SHELL: Mapping[str, tuple[str, str]] = {
    "dd": (
        "",
        """
        dd if=$INPUT of=a bs=4k status=none
        dd if=$INPUT of=b bs=1 count=3000 status=none
        dd if=$INPUT of=c bs=1M status=none
        dd if=$INPUT of=c bs=7777 seek=3 conv=notrunc status=none
        dd if=$INPUT of=a bs=1000 seek=100 count=20 status=none
        dd if=$INPUT of=d bs=64k oflag=append conv=notrunc status=none
        dd if=a of=d bs=64k oflag=append conv=notrunc status=none
        dd if=c of=e bs=32k oflag=sync status=none
        dd if=c of=f bs=32k conv=fsync status=none
        dd if=c of=g bs=32k conv=fdatasync status=none
        dd if=c of=h bs=4k oflag=direct count=16 status=none
        dd if=c of=i bs=64k iflag=direct status=none
        dd if=/dev/zero of=j bs=64k count=10 conv=sparse status=none
        dd if=c of=k ibs=999 obs=4001 status=none
        dd if=c of=l bs=8k skip=3 conv=swab,sync status=none
        sha256sum a b c d e f g h i j k l
        """,
    ),
    "cp": (
        "",
        """
        mkdir -p from/below; cp $INPUT from/a; head -c 100 $INPUT > from/below/b
        truncate -s 2M from/hole; printf end >> from/hole
        ln -s a from/link; ln from/a from/name; chmod 640 from/below/b
        touch -d '2001-02-03 04:05:06.789' from/a from/below/b
        cp -a from to; cp --sparse=always from/hole sparse; cp --sparse=never from/hole full
        cp --reflink=auto from/a again; cp from/a again; cp -p from/below/b times
        stat -c '%n %s %Y %a %h' from/a from/below/b to/a to/below/b times to/name
        cmp from/hole full; cmp from/hole sparse; cmp to/a $INPUT
        install -m 755 from/a installed; stat -c '%a %s' installed
        mv from/a from/moved; cat from/moved | wc -c
        """,
    ),
    "tar": (
        "tar",
        """
        mkdir tree; cp $INPUT tree/a; head -c 5000 $INPUT > tree/b; : > tree/empty; ln -s a tree/l
        touch -hd '2003-02-01 01:02:03' tree/* tree; chmod 600 tree/b
        tar --sort=name -cf x.tar tree; mkdir out; tar -xf x.tar -C out
        tar --sort=name -czf x.tgz tree; tar -tvf x.tgz | awk '{print $1,$3,$4,$6}'
        tar -rf x.tar -C tree b; tar -tf x.tar; tar -df x.tar 2>&1 | grep -v Contents || true
        stat -c '%n %s %Y %a' out/tree/*; cmp out/tree/a $INPUT
        """,
    ),
    "rsync": (
        "rsync",
        """
        mkdir from; cp $INPUT from/a; head -c 70000 $INPUT > from/b; touch -d '2004-05-06' from/*
        rsync -a from/ to; printf more >> from/b; touch -d '2004-05-07' from/b
        rsync -a --no-whole-file from/ to; rsync -ac --inplace --no-whole-file from/ to
        rsync -a --append from/ to; rsync -ai from/ to; stat -c '%n %s %Y' to/*
        cmp from/b to/b; rm from/a; rsync -a --delete from/ to; ls to
        """,
    ),
    "redirections": (
        "",
        """
        for i in 1 2 3; do echo line $i; done > a; echo more >> a; echo other 1>> a
        cat < a > b; cat a b > c; { echo one; echo two >&2; } > d 2>&1
        cat <<END > e
        a here-document of $(cat a | wc -l) lines
END
        exec 5> f; echo first >&5; (echo child >&5); echo second >&5; ls -l f | awk '{print $5}' >&5
        exec 5>&-; exec 6<> f; read -r x <&6; echo over >&6; exec 6>&-
        seq 20000 | sort -rn > sorted; sort -n sorted -o sorted; sed -i s/7/x/ sorted
        tee g h < a > i; echo abc | tee -a g; wc -c a b c d e f g h i sorted; mapfile t < a
        echo ${#t[@]}; set -C; (echo no > a) 2> /dev/null || echo kept; echo yes >| a
        (sleep 0; echo background >> j) & wait; cat j; diff a b || true; grep -c x sorted
        find . -size +10k | sort; awk 'END {print NR > "k"}' sorted
        split -n 3 sorted part; cat part* | sha256sum
        """,
    ),
    "sqlite": (
        "sqlite3",
        """
        sqlite3 a.db 'create table t(x integer primary key, y text);'
        for i in $(seq 5); do
            sqlite3 a.db "insert into t(y) values('row $i'),(hex(zeroblob(3000+$i)));" &
            wait
        done
        sqlite3 a.db 'select count(*),sum(length(y)) from t; pragma integrity_check;'
        sqlite3 a.db 'begin; delete from t where x<3; rollback; vacuum;'
        sqlite3 w.db 'pragma journal_mode=wal; create table t(x); insert into t values(1),(2);'
        sqlite3 w.db 'pragma wal_checkpoint(truncate); select sum(x) from t;'
        sqlite3 a.db .dump | sqlite3 b.db; sqlite3 b.db .dump | sha256sum
        """,
    ),
    "git": (
        "git",
        """
        export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
        export HOME=$PWD GIT_CONFIG_NOSYSTEM=1
        git config --global user.email a@b; git config --global user.name n
        git config --global init.defaultBranch main; git init -q r; cd r
        cp $INPUT blob; mkdir s; for i in $(seq 30); do seq $i > s/$i; done
        git add .; git commit -qm one; git status --porcelain; echo more >> s/3
        git status --porcelain
        git commit -qam two; git log --oneline --stat | tail -3; git tag t; git checkout -q HEAD~1
        cat s/3; git checkout -q main; git gc -q; git fsck 2>&1; cd ..; git clone -q r c; cd c
        git log --format=%H; git status --porcelain; sha256sum blob; git diff HEAD~1 | wc -l
        """,
    ),
    "make": (
        "make",
        """
        for i in 1 2 3 4; do echo "int f$i(void) { return $i; }" > f$i.c; done
        cat > main.c <<'END'
#include <stdio.h>
int f1(void); int f2(void); int f3(void); int f4(void);
int main(void) { printf("%d\\n", f1() + f2() + f3() + f4()); return 0; }
END
        cat > Makefile <<'END'
p: main.o libf.a ; cc -o p main.o -L. -lf
libf.a: f1.o f2.o f3.o f4.o ; ar rcD libf.a f1.o f2.o f3.o f4.o
END
        make -s -j2 CFLAGS=-O1; ./p; make -s; touch -d '2001-01-01' f2.c p; make -s -n | wc -l
        strip p; ./p; cp p q; ./q; nm libf.a | grep -c T
        """,
    ),
}


ALSO_EAGER = ("dd", "redirections", "sqlite")


def _cases() -> Iterator[ParameterSet]:
    for name, (tool, script) in SHELL.items():
        for how, settings in (("kept", pooled.KEPT), ("eager", pooled.EAGER)):
            yield pytest.param(
                *(tool, script, settings),
                id=f"{name}-{how}",
                marks=FULL if how == "eager" and name not in ALSO_EAGER else (),
            )


def _input(folder: Path, bytes_: int = 700_001) -> Path:
    path = folder / "input"
    path.write_bytes(random.Random(16).randbytes(bytes_))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def _no_index(name: str) -> bool:
    """git's index holds times and inodes, a clone's configuration its log what was cloned."""
    return name.endswith((".git/index", "c/.git/config")) or "c/.git/logs/" in name


@pytest.mark.parametrize(("tool", "script", "settings"), list(_cases()))
def test_shell(tool: str, script: str, settings: Mapping[str, str], folder: Path) -> None:
    if tool and shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}. Install it.")
    _input(folder)
    pooled.Twice(
        command=["bash", "-euc", script],
        environment={"INPUT": str(folder / "input"), "LC_ALL": "C"},
        left_out=_no_index,
        deposits=tool != "",
    ).ensure_same(folder, settings)


@pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
def test_python(settings: Mapping[str, str], folder: Path) -> None:
    _input(folder)
    pooled.Twice(
        command=[sys.executable, pooled.SOURCES / "files.py", folder / "input"],
    ).ensure_same(folder, settings)


@pytest.mark.parametrize(
    "settings", [pooled.KEPT, pytest.param(pooled.EAGER, marks=FULL)], ids=["kept", "eager"]
)
def test_numpy(settings: Mapping[str, str], folder: Path) -> None:
    pooled.Twice(command=[sys.executable, pooled.SOURCES / "arrays.py"]).ensure_same(
        folder, settings
    )


@pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
def test_fortran(settings: Mapping[str, str], folder: Path) -> None:
    pooled.Twice(command=[pooled.program("units.f90")]).ensure_same(folder, settings)


@pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
def test_netcdf_without_ranks(settings: Mapping[str, str], folder: Path) -> None:
    """Classic files and those of HDF5."""
    program = pooled.program("netcdf_serial.c", *NETCDF)
    pooled.Twice(command=[program]).ensure_same(folder, settings)


@pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
def test_h5py_without_ranks(settings: Mapping[str, str], folder: Path) -> None:
    pooled.Twice(command=[PYTHON, pooled.SOURCES / "h5py_serial.py"]).ensure_same(folder, settings)


def test_the_kernels_aio_reads_what_was_written(folder: Path) -> None:
    if ctypes.util.find_library("aio") is None:
        pytest.skip("no libaio")
    with pooled.pool(folder) as served:
        command = [sys.executable, pooled.SOURCES / "kernel_aio.py"]
        said = pooled.run(command, served.folder, served.environment())
        ensure(said.split() == ["True"], said)
        ensure([one.reason for one in served.status().files] == ["async"], "it is still pooled")


def test_size_and_times_are_those_with_deposits(folder: Path) -> None:
    """By every call that looks at a file by its name: stat gave a size of 0."""
    with pooled.pool(folder) as served:
        before = time.time()
        said = pooled.run(
            [sys.executable, pooled.SOURCES / "sizes.py"], served.folder, served.environment()
        )
        ensure(said.split() == ["ok"], said)
        ensure((served.folder / "kept").stat().st_size == 0, "it was drained: nothing is shown")
        listed = pooled.run(["ls", "-l"], served.folder, served.environment())
        ensure(" 3000 " in listed, f"ls says {listed}")
        pooled.run(["truncate", "-s", "2000", "kept"], served.folder, served.environment())
        listed = pooled.run(["stat", "-c", "%s %Y", "kept"], served.folder, served.environment())
        size, modified = listed.split()
        ensure(size == "2000", f"stat says {listed} once it is truncated")
        ensure(int(before) <= int(modified) <= time.time() + 1, f"modified at {modified}")
    ensure((served.folder / "kept").read_bytes() == b"x" * 2000, "the file has something else")


def _python(served: pooled.Pool, script: str, status: int = 0) -> str:
    command = [sys.executable, "-c", f"import os\n{script}"]
    return pooled.run(command, served.folder, served.environment(), status=status)


def test_deposits_of_a_process_that_has_ended_are_read(folder: Path) -> None:
    """By one that came later: it looked for a log that it was not given, again and again, until
    the file was drained."""
    with pooled.pool(folder) as served:
        _python(served, "os.write(os.open('file', os.O_CREAT | os.O_WRONLY), b'deposited')")
        said = _python(served, "print(os.pread(os.open('file', os.O_RDONLY), 100, 0))")
        ensure(said.split() == ["b'deposited'"], said)
        ensure((served.folder / "file").stat().st_size == 0, "it was drained: nothing is shown")


def test_file_that_was_opened_for_reading_first_is_truncated(folder: Path) -> None:
    """The daemon kept the first descriptor, which may not truncate: EINVAL."""
    script = """
os.close(os.open('file', os.O_CREAT | os.O_WRONLY))
reading = os.open('file', os.O_RDONLY)
os.truncate('file', 1000)
writing = os.open('file', os.O_RDWR)
os.pwrite(writing, b'x' * 500, 900)
os.ftruncate(writing, 950)
print(os.fstat(reading).st_size, len(os.pread(reading, 5000, 0)))
"""
    with pooled.pool(folder) as served:
        said = _python(served, script)
        ensure(said.split() == ["950", "950"], said)
    ensure((served.folder / "file").read_bytes() == bytes(900) + b"x" * 50, "other bytes")


def test_streams_on_doubled_descriptors_keep_their_place(folder: Path) -> None:
    """libc's standard streams write inside of libc: what they wrote was overwritten by whoever
    wrote to the same description next."""
    script = """
libc = __import__('ctypes').CDLL(None)
fd = os.open('file', os.O_CREAT | os.O_RDWR)
os.write(fd, b'pool ')
kept = os.dup(1)
os.dup2(fd, 1)
libc.printf(b'stream ')
libc.fflush(None)
os.dup2(kept, 1)
os.write(fd, b'again')
"""
    with pooled.pool(folder) as served:
        _python(served, script)
    ensure((served.folder / "file").read_bytes() == b"pool stream again", "other bytes")


def _crowd(folder: Path, script: str, pieces: int, *, apart: int = 65536) -> list[int]:
    """As many programs as processors, so that new memory of the pool is filled (decision 0035).

    Each writes `pieces` of 64 KiB, which begin `apart` bytes from each other, to a file of its own,
    which is seen to be right. How many bytes the kernel has written for each."""
    programs = max(2, os.cpu_count() or 2)
    begin = """
import os, resource, signal, sys, threading, time
own, programs, apart = map(int, sys.argv[1:])
fd = os.open(f'file{own}', os.O_CREAT | os.O_WRONLY)
def meet(where):
    open(f'../{where}{own}', 'w').close()
    while not all(os.path.exists(f'../{where}{i}') for i in range(programs)):
        time.sleep(0.001)
def piece(i):
    os.pwrite(fd, bytes([i % 251]) * 65536, i * apart)
meet('begin')
"""
    end = """
with open(f'../written{own}', 'w') as said:
    said.write(open('/proc/self/io').read().split()[3])
meet('end')
"""
    with pooled.pool(folder) as served:
        (served.folder / "script.py").write_text(begin + script + end)
        one = f"{sys.executable} script.py $i {programs} {apart}"
        command = (
            f'for i in $(seq 0 {programs - 1}); do {one} & all="$all $!"; done; '
            "for one in $all; do wait $one || exit 1; done"
        )
        pooled.run(["sh", "-c", command], served.folder, served.environment())
    last = bytes([(pieces - 1) % 251]) * 65536
    wanted = b"".join(bytes([i % 251]) * apart for i in range(pieces - 1)) + last
    for i in range(programs):
        ensure((served.folder / f"file{i}").read_bytes() == wanted, f"other bytes of {i}")
    return [int((folder / f"written{i}").read_text()) for i in range(programs)]


def test_new_memory_is_written_by_the_kernel(folder: Path) -> None:
    written = _crowd(folder, "for i in range(400): piece(i)", 400)
    ensure(max(written) > 200 * 65536, f"it was mapped: {written}")


def test_what_the_pool_keeps_open_gives_way(folder: Path) -> None:
    """A program wants the numbers of the pool's own descriptors, and keeps them, while another
    thread of it writes through one of them into memory of the pool."""
    script = """
side = os.open('../side', os.O_CREAT | os.O_RDWR)
some = threading.Event()
def write():
    for i in range(600):
        piece(i)
        if i == 50:
            some.set()
writer = threading.Thread(target=write)
writer.start()
some.wait()
for number in (*range(100, 104), *range(512, 520)):
    os.dup2(side, number)
    os.pwrite(number, b'side', 0)
writer.join()
"""
    _crowd(folder, script, 600)
    ensure((folder / "side").read_bytes() == b"side", "written to by mistake")


def test_a_limit_for_files_that_is_set_later_kills_nobody(folder: Path) -> None:
    """Memory of the pool lies behind what such a program may write to."""
    script = """
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
for i in range(200):
    piece(i)
    if i == 50:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
child = os.fork()
if child == 0:
    piece(199)
    os._exit(0)
if os.waitpid(child, 0)[1] != 0:
    sys.exit('the child failed')
"""
    _crowd(folder, script, 200, apart=16)


@pytest.mark.parametrize("hash_style", ["gnu", "sysv"])
def test_a_library_behind_is_called(hash_style: str, folder: Path) -> None:
    """Also one whose names are in a table of the old kind, which we leave to the loader."""
    options, target = f"-Wl,--hash-style={hash_style}", f"behind-{hash_style}.so"
    pooled.ensure_called(pooled.library("behind.c", options, target=target), folder)
