#!/usr/bin/env python3
"""model.py INPUT: computes from an input file, and writes output.txt into its task's folder."""

import os
import sys
from pathlib import Path

start = int(Path(sys.argv[1]).read_text("ascii"))
folder = Path(f"task-{os.environ['SLURM_ARRAY_TASK_ID']}")
lines = [f"{number * start % 9973}\n" for number in range(100_000)]
(folder / "output.txt").write_text("".join(lines), "ascii")
