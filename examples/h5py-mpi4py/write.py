#!/usr/bin/env python3
"""All ranks write one data set of an HDF5 file together."""

import h5py
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rows, columns = 200, 1000
with h5py.File("data.h5", "w", driver="mpio", comm=world) as file:
    data = file.create_dataset("temperature", (rows * world.size, columns), dtype="f8")
    mine = slice(rows * world.rank, rows * (world.rank + 1))
    with data.collective:
        data[mine, :] = np.full((rows, columns), float(world.rank))
    file.attrs["ranks"] = world.size
