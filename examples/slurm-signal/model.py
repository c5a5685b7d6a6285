#!/usr/bin/env python3
"""A model that would compute for an hour. At SIGUSR1 it writes what it needs to go on, and ends."""

import signal
import sys
import time
from pathlib import Path

is_ending = False


def end_soon(*_: object) -> None:
    global is_ending
    is_ending = True


signal.signal(signal.SIGUSR1, end_soon)
with Path("history.txt").open("w", encoding="ascii") as history:
    for step in range(36_000):
        history.write(f"step {step}\n")
        history.flush()
        time.sleep(0.1)
        if is_ending:
            Path("restart.txt").write_text(f"{step + 1}\n", encoding="ascii")
            sys.exit(0)
