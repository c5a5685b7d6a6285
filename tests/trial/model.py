#!/usr/bin/env python3
"""As model.c, in Python."""

import time
from pathlib import Path

STEPS, STEP_BYTES = 4, 8 << 20

for step in range(STEPS):
    time.sleep(0.2)  # it computes
    Path(f"step-{step}.bin").write_bytes(bytes([step]) * STEP_BYTES)
