#!/usr/bin/env python3
"""Writes a history file by netCDF4, one record in each step, and reads it by xarray if it can."""

import netCDF4
import numpy as np

with netCDF4.Dataset("history.nc", "w") as file:
    file.createDimension("time", None)
    file.createDimension("x", 100_000)
    height = file.createVariable("height", "f4", ("time", "x"))
    for step in range(10):
        height[step, :] = np.arange(100_000, dtype="f4") + step
try:
    import xarray
except ModuleNotFoundError:
    pass
else:
    with xarray.open_dataset("history.nc") as data:
        data.height.mean("x").to_netcdf("mean.nc")
