"""h5py over mpi4py, which loads libmpi by dlopen: collective writes of interleaved columns."""

import sys
from pathlib import Path

import h5py
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
folder = Path(sys.argv[1])
mine = np.arange(40, dtype="f8").reshape(8, 5) + 1000 * rank

with h5py.File(folder / "data.h5", "w", driver="mpio", comm=world) as file:
    data = file.create_dataset("columns", (8, 5 * ranks), dtype="f8", track_times=False)
    with data.collective:
        data[:, rank::ranks] = mine
    rows = file.create_dataset("rows", (ranks, 3), dtype="i4", track_times=False)
    rows[rank] = [rank, 2 * rank, 3 * rank]

with h5py.File(folder / "data.h5", "r", driver="mpio", comm=world) as file:
    data = file["columns"]
    with data.collective:
        right = bool((data[:, rank::ranks] == mine).all())

right = world.allreduce(right, MPI.LAND)
if rank == 0:
    lines = [
        "expect some data.h5",
        f"check h5py: {'ok' if right else 'WRONG something else was read'}",
    ]
    (folder / "out.txt").write_text("\n".join([*lines, "end", ""]))
