#!/usr/bin/env python3
"""A model of several ranks. Each computes, writes a piece of its output, and so on."""

import os
from pathlib import Path

rank = int(os.environ.get("SLURM_PROCID", "0"))
value = float(rank)
with Path(f"output-{rank}.bin").open("wb", buffering=0) as output:
    for _ in range(10):
        for _ in range(100_000):
            value = value * 0.999 + 1.0
        output.write(f"{value:.9f}\n".encode() * 10_000)
