#!/usr/bin/env python3
"""Writes what the next step reads."""

from pathlib import Path

with Path("output.txt").open("w", encoding="ascii") as output:
    for number in range(100_000):
        output.write(f"{number * number % 9973}\n")
