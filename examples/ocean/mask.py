#!/usr/bin/env python3
"""Regrid the land mask of the PyPI package `global-land-mask` for the ocean model.

The source holds one value for each 1/120 degree of the globe (GLOBE, about 1 km). A cell of the
model is ocean if at least half of it is, and if water joins it to the open ocean. The result is
raw bytes, one per cell, 1 for ocean and 0 for land, longitude fastest, from south to north.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CELLS_PER_DEGREE = 120
OPEN_OCEAN_LATITUDE, OPEN_OCEAN_LONGITUDE = 0.5, -140.0


def load_source() -> NDArray[np.bool_]:
    """True for ocean; rows from north to south, columns from 180 W to 180 E.

    Reads the archive of the package directly: importing the package holds a second copy.
    """
    spec = find_spec("global_land_mask")
    if spec is None or spec.origin is None:
        sys.exit(
            "no land mask (the Python package global-land-mask is not installed). "
            "Run: pip install global-land-mask"
        )
    archive = Path(spec.origin).parent / "globe_combined_mask_compressed.npz"
    with np.load(archive) as arrays:
        ocean: NDArray[np.bool_] = arrays["mask"]
    return ocean


def regrid(
    ocean: NDArray[np.bool_], *, columns: int, rows: int, south: float, north: float
) -> NDArray[np.bool_]:
    """Ocean where at least half of the source cells within a model cell are; from south up."""
    across, across_rest = divmod(ocean.shape[1], columns)
    along, along_rest = divmod(round((north - south) * CELLS_PER_DEGREE), rows)
    if across_rest or along_rest:
        sys.exit(
            f"cannot regrid to {columns} x {rows} cells (a cell is not a whole number of "
            f"1/{CELLS_PER_DEGREE} degrees). Choose for example 1440 x 640 from -80 to 80."
        )
    top = round((90.0 - north) * CELLS_PER_DEGREE)
    band = ocean[top : top + along * rows]
    share = band.reshape(rows, along, columns, across).mean(axis=(1, 3))
    return np.ascontiguousarray((share >= 0.5)[::-1])


def joined_to_open_ocean(
    ocean: NDArray[np.bool_], *, south: float, north: float
) -> NDArray[np.bool_]:
    """Keep the cells that share edges, cell by cell, with the middle of the Pacific."""
    rows, columns = ocean.shape
    start = (
        int((OPEN_OCEAN_LATITUDE - south) / (north - south) * rows),
        int((OPEN_OCEAN_LONGITUDE + 180.0) / 360.0 * columns),
    )
    reached = np.zeros_like(ocean)
    reached[start] = True
    edge = [start]
    while edge:
        row, column = edge.pop()
        for r, c in (
            (row - 1, column),
            (row + 1, column),
            (row, (column - 1) % columns),
            (row, (column + 1) % columns),
        ):
            if 0 <= r < rows and ocean[r, c] and not reached[r, c]:
                reached[r, c] = True
                edge.append((r, c))
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--columns", type=int, default=1440, help="cells around the globe")
    parser.add_argument("--rows", type=int, default=640, help="cells from south to north")
    parser.add_argument("--south", type=float, default=-80.0, help="degrees")
    parser.add_argument("--north", type=float, default=80.0, help="degrees")
    options = parser.parse_args()

    source = load_source()
    coarse = regrid(
        source,
        columns=options.columns,
        rows=options.rows,
        south=options.south,
        north=options.north,
    )
    ocean = joined_to_open_ocean(coarse, south=options.south, north=options.north)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(ocean.astype(np.int8).tobytes())
    print(
        f"{options.output}: {options.columns} x {options.rows} cells, "
        f"{ocean.mean():.1%} ocean, {int(coarse.sum() - ocean.sum())} cells of inland water filled"
    )


if __name__ == "__main__":
    main()
