"""Writes from Python what output.c writes: output_case.py FILE OPTIONS; reads it: FILE."""

import sys

import numpy as np
from mpi4py import MPI

import forebay_output as fbo

DEPTHS, LATS, LONS, STEPS, ICE_LATS = 40, 100, 131, 3, 40
SHAPE = (DEPTHS, LATS, LONS)


def whole(step: int) -> np.ndarray:
    return (600000.0 * step + np.arange(DEPTHS * LATS * LONS) + 0.5).reshape(SHAPE)


def write(comm: MPI.Comm, path: str, options: str) -> None:
    ranks, rank = comm.Get_size(), comm.Get_rank()
    first, last = LATS * rank // ranks, LATS * (rank + 1) // ranks
    count = last - first
    icy = max(0, min(count, ICE_LATS - first))
    dof = np.arange(DEPTHS * LATS * LONS)[rank::ranks][::-1]
    with fbo.create(comm, path, options) as file:
        flat = file.grid(SHAPE[1:], (first, 0), (count, LONS))
        full = file.grid(SHAPE, (0, first, 0), (DEPTHS, count, LONS), halo=(1, 0, 2))
        mapped = file.grid_map(SHAPE, dof)
        ice_grid = file.grid(SHAPE[1:], (first, 0), (icy, LONS))
        area = file.define("area", flat, "f8", dims="lat lon", units="m2", fixed=True)
        temp = file.define("temp", full, "f8", dims="depth lat lon", units="degC")
        salt = file.define("salt", mapped, np.float32, dims="depth lat lon")
        ice = file.define("ice", ice_grid, "i4", dims="lat lon", units="1")
        file.attribute("time", "units", "days since 2000-01-01")
        file.attribute("", "title", "a test")
        for step in range(STEPS):
            data = whole(step)
            mine = data[:, first:last]
            with file.step(0.25 * step):
                if step == 0:
                    area.write(mine[0])
                temp.write(np.pad(mine, ((1, 1), (0, 0), (2, 2))))
                salt.write(data.reshape(-1)[dof].astype(np.float32))
                code = 0
                try:
                    ice.write(mine[0])
                except fbo.OutputError as error:
                    code = error.code
                assert code == (7 if icy else 0)
                if icy:
                    ice.write(mine[0, :icy].astype(np.int32))


def read(comm: MPI.Comm, path: str) -> None:
    ranks, rank = comm.Get_size(), comm.Get_rank()
    first, last = LONS * rank // ranks, LONS * (rank + 1) // ranks
    with fbo.open_to_read(comm, path) as file:
        grid = file.grid(SHAPE, (0, 0, first), (DEPTHS, LATS, last - first))
        temp = file.define("temp", grid, "f8")
        assert file.steps() == STEPS
        for step in range(STEPS):
            assert np.array_equal(temp.read(step), whole(step)[:, :, first:last])


def main() -> None:
    comm = fbo.init(MPI.COMM_WORLD)
    if len(sys.argv) > 2:
        write(comm, sys.argv[1], sys.argv[2])
    else:
        read(comm, sys.argv[1])
    fbo.finalize()


main()
