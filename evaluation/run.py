#!/usr/bin/env python3
"""As `python -m evaluation`, from any directory: `evaluation/run.py all --quick`."""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parent.parent
    sys.path[:1] = [str(root), str(root / "python")]
    runpy.run_module("evaluation", run_name="__main__")
