"""Forebay's output API for Python with numpy: a program's arrays to files, without a gather to one
rank. forebay_output.h says what the functions do; errors are raised as OutputError here.

    comm = fbo.init(MPI.COMM_WORLD)
    with fbo.create(comm, "ocean.nc") as file:
        grid = file.grid(shape, start, count, halo=(0, 1, 1))
        temp = file.define("temp", grid, "f8", dims="depth lat lon", units="degC")
        with file.step(time):
            temp.write(array)
    fbo.finalize()

Dimensions are in numpy's order, the last one is that whose elements are neighbours; indices are
from 0. Arrays are whole local arrays, halo and all.
"""

from forebay_output.files import (
    Grid,
    OutputFile,
    Variable,
    create,
    finalize,
    init,
    open_to_read,
)
from forebay_output.library import OutputError

__all__ = [
    "Grid",
    "OutputError",
    "OutputFile",
    "Variable",
    "create",
    "finalize",
    "init",
    "open_to_read",
]
