"""A program switches its own file (include/forebay_pool.h), from C, Fortran and Python."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled
from suite.verdict import ensure

EXAMPLES = m.ROOT / "examples" / "pool-switch"
TEXT = b"taken by the pool\nwritten directly\ntaken again\nwith the file system\n"
STEPS = ("window", "off", "on", "global")


def _command(language: str) -> Sequence[str | Path]:
    source = f"pool_switch.{language}"
    if language == "py":
        return [sys.executable, EXAMPLES / source]
    compiler = ["gfortran", *m.FORTRAN_FLAGS] if language == "f90" else ["cc", *m.C_FLAGS]
    include = ["-I", str(m.ROOT / "include")] if language == "c" else []
    return [
        m.build_with(
            [*compiler, *include],
            str(EXAMPLES / source),
            m.BUILD / "bin" / f"posix-{language}",
            target="pool_switch",
        )
    ]


@pytest.mark.parametrize("language", ["c", "f90", "py"])
def test_switch(language: str, folder: Path) -> None:
    command = [*_command(language), "file"]
    plain = folder / "plain"
    plain.mkdir()
    said = pooled.run(command, plain, {})
    ensure(said.splitlines() == [f"{step}: there is no pool" for step in STEPS], said)
    with pooled.pool(folder) as served:
        said = pooled.run(command, served.folder, served.environment())
        steps = [line for line in said.splitlines() if not line.startswith("pool ")]
        ensure(steps == [f"{step}: done" for step in STEPS], said)
        # The pool took no writes while it was off, or global.
        ensure(served.taken() == len(b"taken by the pool\ntaken again\n"), f"{served.status()}")
        told = [line.split(",")[0] for line in said.splitlines() if line.startswith("pool ")]
        ensure(not told or told == ["pool on", "pool off", "pool on", "pool off"], said)
        ensure(not told or "window 67108864, taken 18, waiting 18" in said, said)
        ensure((served.folder / "file").read_bytes() == TEXT, "it is not with the file system")
    for one in (plain, served.folder):
        ensure((one / "file").read_bytes() == TEXT, f"{one} has something else")


def test_switch_of_a_file_in_use(folder: Path) -> None:
    """A switch does not undo other reasons that keep a file out of the pool."""
    program = pooled.program("switched.c", f"-I{m.ROOT / 'include'}")
    with pooled.pool(folder) as served:
        said = pooled.run([program], served.folder, served.environment())
        ensure(said.split() == ["ok"], said)
    ensure((served.folder / "file").read_bytes() == b"child and more", "the file is another")
