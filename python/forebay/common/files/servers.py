"""Starts programs that go on in the background and print something once they are ready."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO

from forebay.common.model.launcher import PRELOAD_VARIABLE

_PR_SET_PDEATHSIG = 1


def ending_with_parent() -> Callable[[], object]:
    """A function to run in a new process before exec, so that the process gets SIGTERM when the
    thread that started it dies."""
    prctl = ctypes.CDLL(None).prctl  # looked up here: a child of fork() must not load anything
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def without_preload(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment for programs whose own file calls must not be captured."""
    return {name: text for name, text in environment.items() if name != PRELOAD_VARIABLE}


def start_mount(
    words: Sequence[str], errors: BinaryIO, prepare: Callable[[], object] | None = None
) -> subprocess.Popen[bytes]:
    """Starts forebay-mount in a session of its own, with standard error in the file `errors`;
    `prepare` is called in the new process before exec. Raises OSError if it cannot be started."""
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=without_preload(os.environ),
        start_new_session=True,
        preexec_fn=prepare,
    )


def is_ready(process: subprocess.Popen[bytes], seconds_max: float) -> bool:
    """Waits until the program prints something: then it is ready. False if it ends before, or if
    that takes longer."""
    assert process.stdout is not None
    with process.stdout as output:
        came = select.select([output], [], [], seconds_max)[0]
        return bool(came and os.read(output.fileno(), 1 << 12))
