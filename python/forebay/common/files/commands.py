"""Runs short commands for their output. A failure is an answer, too, and never an exception."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence


def unloaded_environment() -> dict[str, str]:
    """This process's environment without LD_PRELOAD."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def answer_of(
    words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
) -> subprocess.CompletedProcess[str] | None:
    """The finished command with its output; its standard input is empty. Returns None if it could
    not be started or took longer than `seconds_max`."""
    try:
        return subprocess.run(
            list(words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds_max,
            env=dict(environment),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
