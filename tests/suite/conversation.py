"""Python programs that go through a pool, and do what a test tells them, line by line."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from suite import mpi as m
from suite.pool import Pool
from suite.verdict import ensure


class Conversation:
    """A Python program that goes through a pool, and does what it is told line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, code: str) -> str:
        """Runs a line; what it printed, or the name of the error it met."""
        self.tell(code)
        return self.answer()

    def tell(self, code: str) -> None:
        ensure(self._process.stdin is not None, "no standard input")
        if self._process.stdin:
            self._process.stdin.write(code + "\n")
            self._process.stdin.flush()

    def has_answered(self) -> bool:
        stdout = self._process.stdout
        return stdout is None or bool(select.select([stdout], [], [], 0)[0])

    def answer(self) -> str:
        stdout = self._process.stdout
        ensure(not stdout or bool(select.select([stdout], [], [], 100)[0]), "no answer in 100 s")
        line = stdout.readline() if stdout else ""
        ensure(line != "", "the program ended")
        return line.rstrip("\n")


LISTENER = """
import errno, os, sys
for line in sys.stdin:
    try:
        print(eval(line), flush=True)
    except OSError as error:
        print(errno.errorcode[error.errno], flush=True)
"""


@contextlib.contextmanager
def conversation(one: Pool) -> Iterator[Conversation]:
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**m.clean_environment(), **one.environment()},
    )
    try:
        yield Conversation(process)
        if process.stdin:
            process.stdin.close()
        ensure(process.wait(60) == 0, f"the program ended with {process.returncode}")
    finally:
        process.kill()
        process.wait()


def opened(program: Conversation, path: Path) -> int:
    flags = os.O_CREAT | os.O_RDWR
    return int(program.ask(f"os.open({str(path)!r}, {flags}, 0o644)"))
