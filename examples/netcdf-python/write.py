#!/usr/bin/env python3
"""Writes ten time steps to a history file by netCDF4. Started again, it appends ten more."""

from pathlib import Path

import netCDF4
import numpy as np

POINTS, STEPS = 100_000, 10
path = Path("history.nc")
begun = path.exists()
x = np.linspace(0.0, 2.0 * np.pi, POINTS)
with netCDF4.Dataset(path, "a" if begun else "w") as file:
    if not begun:
        file.createDimension("time", None)  # unlimited: time steps can be appended
        file.createDimension("x", POINTS)
        file.createVariable("time", "f8", ("time",)).units = "hours since 2000-01-01"
        # A time step is one chunk, so that it is written, and read, without the others.
        file.createVariable("height", "f4", ("time", "x"), chunksizes=(1, POINTS))
    first = len(file.dimensions["time"])
    for step in range(first, first + STEPS):
        file["time"][step] = step
        file["height"][step, :] = np.sin(x + 0.1 * step)
        file.sync()  # NetCDF and HDF5 write what they keep in memory, but nothing waits for a disk
