#!/usr/bin/env python3
"""A model that writes a field of doubles, one row in each step."""

import array
import sys
from pathlib import Path

with Path(sys.argv[1]).open("wb", buffering=0) as file:
    for step in range(50):
        file.write(array.array("d", [step + at / 1000 for at in range(20_000)]).tobytes())
