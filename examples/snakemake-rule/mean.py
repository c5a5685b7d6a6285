#!/usr/bin/env python3
"""The mean of a file of doubles, as text."""

import array
import sys
from pathlib import Path

values = array.array("d", Path(sys.argv[1]).read_bytes())
Path(sys.argv[2]).write_text(f"{sum(values) / len(values):.6f}\n")
