"""h5py without ranks: datasets that are written in parts, grown and read again."""

import h5py
import numpy as np

with h5py.File("data.h5", "w") as file:
    plain = file.create_dataset("plain", (300, 70), dtype="f8")
    for row in range(300):
        plain[row] = np.arange(70) * row
    grown = file.create_dataset("grown", (0, 50), maxshape=(None, 50), chunks=(8, 50), dtype="i4")
    packed = file.create_dataset("packed", (200, 200), chunks=(20, 20), compression=1, dtype="i2")
    packed[10:110, 5:195] = 7
    file.attrs["title"] = "ocean"

for step in range(20):  # as a program does that appends to its output
    with h5py.File("data.h5", "r+") as file:
        grown = file["grown"]
        grown.resize(grown.shape[0] + 5, axis=0)
        grown[-5:] = step
        file["plain"][step, ::7] = -1.0
        file.flush()

with h5py.File("data.h5", "r") as file:
    grown, packed, plain = (file[name][:] for name in ("grown", "packed", "plain"))
    print(grown.shape, int(grown.sum()), int(packed.sum()), float(plain.sum()), file.attrs["title"])
