#!/usr/bin/env python3
"""mean.py TITLE: the mean of the model's output. It reads what may still be in the pool."""

import sys
from pathlib import Path

numbers = [int(line) for line in Path("output.txt").read_text("ascii").split()]
Path("mean.txt").write_text(f"{sys.argv[1]}: {sum(numbers) / len(numbers):.3f}\n", "ascii")
