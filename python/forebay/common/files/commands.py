"""Short commands of which only the words are wanted, whatever became of them."""

import os
import subprocess
from collections.abc import Mapping, Sequence


def unloaded_environment() -> dict[str, str]:
    """That of this process, without libraries that are preloaded."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def answer_of(
    words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
) -> subprocess.CompletedProcess[str] | None:
    """The output of a command that reads no input; None: it could not be started, or took too
    long."""
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
