"""Programs that no library captures, through the mount: they find what a captured program has just
written, and leave what they leave in a plain folder."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

pytestmark = mo.needs_mount

SOURCES = m.ROOT / "tests" / "posix" / "outside"
KINDS = {"uncaptured": False, "captured": True}
# The file that the program finds is still written to, and has not been drained.
AROUND = """
import os, subprocess, sys
fd = os.open("shared", os.O_RDWR | os.O_CREAT)
os.write(fd, bytes(range(256)) * 8192)
program = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True, check=True)
print(program.stdout)
os.pwrite(fd, b"between", 12345)
size = os.fstat(fd).st_size
print(size, os.pread(fd, 100, size - 30))
"""


@pytest.fixture(scope="module", params=KINDS)
def mount(request: pytest.FixtureRequest) -> Iterator[mo.Mounted]:
    captures = KINDS[request.param]
    with mo.mounted(before_pool=True, captures=captures, settings=pooled.KEPT) as served:
        yield served


def ensure_same(mount: mo.Mounted, folder: Path, words: Sequence[object]) -> None:
    """The command says and leaves the same in a plain folder and in one of the mount."""
    made: Mapping[Path, Mapping[str, str]] = {
        folder / "plain": {},
        mount.folder / folder.name: mount.captured() if mount.captures else {},
    }
    said, left = [], []
    for one, environment in made.items():
        one.mkdir()
        said.append(pooled.run(words, one, environment))
        left.append(pooled.tree(one))
    ensure(said[0] == said[1], f"plain:\n{said[0][-1500:]}\nin the mount:\n{said[1][-1500:]}")
    ensure(not pooled.first_difference(*left), pooled.first_difference(*left))
    shutil.rmtree(mount.folder / folder.name)


def _needed(*programs: str) -> None:
    for one in programs:
        if shutil.which(one) is None:
            pytest.skip(f"no {one}. Install it.")


def _go(made: Path) -> Sequence[object]:
    _needed("go")
    told = {**os.environ, "CGO_ENABLED": "0", "GOCACHE": str(made / "cache"), "GOFLAGS": ""}
    words = ["go", "build", "-o", str(made / "go"), str(SOURCES / "calls.go")]
    subprocess.run(words, check=True, env=told, cwd=made)
    return [made / "go"]


def _rust(made: Path) -> Sequence[object]:
    _needed("rustc")
    words = ["rustc", "-C", "target-feature=+crt-static", "-o", str(made / "rust")]
    words.append(str(SOURCES / "calls.rs"))
    subprocess.run(words, check=True)
    return [made / "rust"]


def _java(made: Path) -> Sequence[object]:
    _needed("javac", "java")
    subprocess.run(["javac", "-d", made, SOURCES / "Calls.java"], check=True)
    return ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", made, "Calls"]


def _numpy(_: Path) -> Sequence[object]:
    pytest.importorskip("numpy", reason="no numpy. Install it.")
    return [sys.executable, SOURCES / "arrays.py"]


PROGRAMS: Mapping[str, Callable[[Path], Sequence[object]]] = {
    "go": _go,
    "rust": _rust,
    "java": _java,
    "numpy": _numpy,
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Sequence[object]]:
    """The words that start a program, which is built once."""
    return functools.cache(lambda name: PROGRAMS[name](tmp_path_factory.mktemp(name)))


@FULL
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_other_run_times(
    name: str, built: Callable[[str], Sequence[object]], mount: mo.Mounted, tmp_path: Path
) -> None:
    ensure_same(mount, tmp_path, [sys.executable, "-c", AROUND, *built(name)])


@pytest.mark.parametrize("case", ["ring", "leases", "spawned"])
def test_calls_that_are_not_captured(case: str, mount: mo.Mounted, tmp_path: Path) -> None:
    ensure_same(mount, tmp_path, [pooled.program("ring.c"), case])


SHELLS: Mapping[str, str] = {
    "appending": "for i in 1 2 3; do head -c 700000 /dev/zero >> out; echo $i >> out; done;"
    " env -i sh -c 'wc -c < out; tail -c 5 out >> out; seq 90000 >> out'; cksum out",
    "both_ends": "exec 3<> file; seq 100000 >&3; echo more >&3; (env -i seq 9 >&3); exec 3>&-;"
    " cksum file; env -i sh -c 'cat file | tee copy > other'; cmp copy other",
    "clobbering": "seq 100000 > file; (sleep 0.1; seq 5) > file; env -i sh -c ': > file; wc file';"
    " seq 200000 >> file; truncate -s 1000000 file; cksum file",
    "in_place": "seq 200000 > file; env -i sed -i s/7/seven/ file; dd if=/dev/zero of=file bs=1000"
    " seek=100 count=500 conv=notrunc status=none; sort -o file file; cksum file",
    "children": "seq 200000 > file; env -i sh -c 'exec 4>> file; (seq 9 >&4) ; wait; seq 9 >&4';"
    " env -u LD_PRELOAD split -n 3 file part.; cat part.* | cmp - file; cksum file",
}


@pytest.mark.parametrize("name", SHELLS)
def test_shells(name: str, mount: mo.Mounted, tmp_path: Path) -> None:
    ensure_same(mount, tmp_path, ["sh", "-c", SHELLS[name]])
