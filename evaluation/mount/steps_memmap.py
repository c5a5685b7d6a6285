"""The same as steps.c, by numpy: a new file is mapped in each step, and filled by assignment."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

MIB = 1 << 20


def main() -> None:
    """Takes FILE STEPS MIB MILLISECONDS. The null device cannot be mapped: memory is filled."""
    path, steps, mebibytes, milliseconds = sys.argv[1], *map(int, sys.argv[2:])
    for step in range(steps):
        if path == os.devnull:
            array = np.zeros(mebibytes * MIB, dtype=np.uint8)
        else:
            array = np.memmap(f"{path}.{step}", np.uint8, "w+", shape=(mebibytes * MIB,))
        array[:] = ord("x")
        del array
        if step + 1 < steps:
            time.sleep(milliseconds / 1000)


if __name__ == "__main__":
    main()
