#!/usr/bin/env python3
"""Appends a line to a log in each step, and writes a large field now and then."""

from pathlib import Path

with Path("run.log").open("a", encoding="ascii") as log:
    for step in range(100):
        log.write(f"step {step}: residual {1.0 / (step + 1):.6f}\n")
        log.flush()
        if step % 20 == 0:
            Path(f"field-{step}.bin").write_bytes(bytes([step]) * 2_000_000)
