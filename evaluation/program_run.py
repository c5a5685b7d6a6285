"""Runs one program of a measurement to its end, and says what it took."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.frozen import frozen

SECONDS_MAX = 1800
SAID_MAX = 1500
"""Characters of what a program that failed has said, from the end."""


@frozen
class ProgramRun:
    """A program that has ended with 0."""

    seconds: float
    output: str


def run_program(
    name: str,
    words: Sequence[str | Path],
    *,
    at: Path | None = None,
    more: Mapping[str, str] | None = None,
) -> ProgramRun:
    """Runs `words` in the folder `at` (this process' own if None), with variables `more` than this
    process has. Raises RuntimeError, with `name` and the end of what it said, if it fails."""
    begin = time.monotonic()
    done = subprocess.run(
        words,
        cwd=at,
        env={**os.environ, **(more or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        said = (done.stderr or done.stdout)[-SAID_MAX:]
        raise RuntimeError(f"{name} ended with {done.returncode}: {said}")
    return ProgramRun(seconds=seconds, output=done.stdout)
