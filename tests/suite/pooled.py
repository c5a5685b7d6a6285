"""A daemon of the pool for a test, programs whose libc calls are captured, and what they leave."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from suite import mpi as m
from suite import pool as daemon
from suite.pool import Pool as Pool
from suite.verdict import Failed, ensure

SOURCES = m.ROOT / "tests" / "posix"
SECONDS_MAX = 200
COMPILERS: Mapping[str, Sequence[str]] = {
    ".c": ("cc", *m.C_FLAGS),
    ".cpp": ("c++", "-std=c++20", *m.C_FLAGS[1:]),
    ".f90": ("gfortran", *m.FORTRAN_FLAGS),
}

# How a daemon is started. Where nothing is drained before somebody asks, every read meets deposits;
# where everything is drained at once, and little may be held, every write meets draining.
KEPT: Mapping[str, str] = {"pool_quiet": "60000", "pool_age": "3600", "pool_window": "256 MiB"}
EAGER: Mapping[str, str] = {"pool_quiet": "0", "pool_window": "1 MiB"}


@contextlib.contextmanager
def pool(folder: Path, settings: Mapping[str, str] = KEPT) -> Iterator[Pool]:
    """A daemon for `folder`/pool, which rescues to `folder`; drained and ended behind."""
    below = folder / "pool"
    below.mkdir(parents=True, exist_ok=True)
    with daemon.pool(below, settings, rescue=folder) as made:
        yield made


def run(
    command: Sequence[object],
    folder: Path,
    environment: Mapping[str, str],
    *,
    seconds_max: float = SECONDS_MAX,
    status: int | None = 0,
) -> str:
    """The output of a command in `folder`; `status` None takes any."""
    words = [str(word) for word in command]
    seconds_max *= m.SLOWER
    try:
        ended = subprocess.run(
            words,
            cwd=folder,
            env={**m.clean_environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds_max,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace")
        raise Failed(f"not done after {seconds_max:.0f} s: {words[:4]}\n{said[-1500:]}") from late
    text = ended.stdout.decode(errors="replace")
    if status is not None:
        ensure(ended.returncode == status, f"exit {ended.returncode}: {words[:4]}\n{text[-2500:]}")
    return text


def program(source: str, *libraries: str) -> Path:
    """A program of tests/posix."""
    return m.build_with(
        COMPILERS[Path(source).suffix],
        str(SOURCES / source),
        m.BUILD / "bin" / "posix",
        libraries=libraries,
        target=Path(source).stem,
    )


def fortified(source: str) -> Path:
    """A program of tests/posix as distributions compile theirs: it calls libc's functions that
    know the sizes of buffers (`__read_chk` …)."""
    folder = m.BUILD / "bin" / "posix"
    words = [*COMPILERS[".c"], "-O2", "-D_FORTIFY_SOURCE=2"]
    return m.build_with(
        words, str(SOURCES / source), folder, target=f"{Path(source).stem}-fortified"
    )


def library(source: str, *options: str, target: str = "") -> Path:
    """A shared library of tests/posix, compiled with these options, too."""
    return m.build_with(
        [*COMPILERS[".c"], "-shared", "-fPIC", *options],
        str(SOURCES / source),
        m.BUILD / "bin" / "posix",
        target=target or f"{Path(source).stem}.so",
    )


def ensure_called(behind: Path, folder: Path) -> None:
    """A program's write() goes through the library behind the capture, which says that it saw it
    (tests/posix/behind.h)."""
    with pool(folder) as served:
        script = "import os; os.write(1, b'this')"
        environment = served.environment(behind=str(behind))
        said = run([sys.executable, "-c", script], folder, environment)
    ensure(said == "seen this", said)


def tree(folder: Path) -> dict[str, tuple[str, int, bytes]]:
    """Everything in a folder: what it is, its mode, and what it holds."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if path.is_symlink():
            found[name] = ("link", 0, os.fsencode(path.readlink()))
        elif path.is_dir():
            found[name] = ("folder", mode, b"")
        elif path.is_file():
            found[name] = (f"file of {status.st_nlink} names", mode, path.read_bytes())
        else:
            found[name] = ("other", mode, b"")
    return found


def first_difference(
    plain: Mapping[str, tuple[str, int, bytes]], pooled: Mapping[str, tuple[str, int, bytes]]
) -> str:
    """Empty where both trees are the same."""
    for name in sorted({*plain, *pooled}):
        if name not in plain or name not in pooled:
            return f"{name} is there {'plain' if name in plain else 'with the pool'} only"
        (kind, mode, bytes_), (other_kind, other_mode, other) = plain[name], pooled[name]
        if (kind, mode) != (other_kind, other_mode):
            return f"{name}: {kind} {mode:o} plain, {other_kind} {other_mode:o} with the pool"
        if bytes_ != other:
            pairs = enumerate(zip(bytes_, other, strict=False))
            at = next((i for i, (a, b) in pairs if a != b), min(len(bytes_), len(other)))
            return f"{name}: byte {at} of {len(bytes_)} plain, {len(other)} with the pool"
    return ""


@dataclass(frozen=True, kw_only=True)
class Twice:
    """A command that is run plain, and in the pool, each in an empty folder of its own."""

    command: Sequence[object]
    environment: Mapping[str, str] = field(default_factory=dict)
    left_out: Callable[[str], bool] = lambda _: False
    """Names of files that are not to be the same."""
    deposits: bool = True
    """Whether anything is to be deposited: else the test could not fail."""
    seconds_max: float = SECONDS_MAX

    def ensure_same(self, folder: Path, settings: Mapping[str, str] = KEPT) -> None:
        plain = folder / "plain"
        plain.mkdir(parents=True)
        expected = run(self.command, plain, self.environment, seconds_max=self.seconds_max)
        with pool(folder, settings) as served:
            environment = {**self.environment, **served.environment()}
            said = run(self.command, served.folder, environment, seconds_max=self.seconds_max)
            ensure("forebay:" not in said, f"the capture complains:\n{said[-1500:]}")
            ensure(said == expected, f"it says\n{said[-1500:]}\nand plain\n{expected[-1500:]}")
            ensure(not self.deposits or served.taken() > 0, "nothing was deposited")
        self._compare(plain, served.folder)

    def _compare(self, plain: Path, pooled: Path) -> None:
        both = [
            {name: what for name, what in tree(folder).items() if not self.left_out(name)}
            for folder in (plain, pooled)
        ]
        ensure(both[0], "the program left nothing")
        ensure(not first_difference(*both), first_difference(*both))


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + SECONDS_MAX
    while not holds():
        ensure(time.monotonic() < end, f"waited in vain: {what}")
        time.sleep(0.01)
