#!/usr/bin/env python3
"""Computes the range of each time step of the history file. It reads lazily: opening the file reads
names and shapes, and a time step is read when it is its turn, so a file may be larger than memory.
By xarray, which needs dask for chunks; where that is not installed, by netCDF4."""

from collections.abc import Iterator
from pathlib import Path

import netCDF4


def ranges() -> Iterator[tuple[float, float]]:
    """The least and the largest height of each time step."""
    try:
        import dask  # noqa: F401 - xarray imports it
        import xarray
    except ModuleNotFoundError:
        with netCDF4.Dataset("history.nc") as file:
            height = file["height"]
            for step in range(len(height)):
                one = height[step, :]
                yield float(one.min()), float(one.max())
    else:
        with xarray.open_dataset("history.nc", engine="netcdf4", chunks={"time": 1}) as data:
            least, largest = data.height.min("x"), data.height.max("x")  # nothing is read here
            yield from zip(least.values.tolist(), largest.values.tolist(), strict=True)


lines = [
    f"{step:3} {least:9.6f} {largest:9.6f}\n" for step, (least, largest) in enumerate(ranges())
]
Path("ranges.txt").write_text("".join(lines), encoding="ascii")
