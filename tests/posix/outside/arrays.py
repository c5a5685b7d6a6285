"""Arrays of numpy that are mapped to a file."""

import zlib
from pathlib import Path

import numpy as np


def main() -> None:
    shared = np.memmap("shared", np.uint8, "r+")
    print(len(shared), zlib.crc32(shared))
    shared[100:110] = 7
    shared.flush()
    made = np.memmap("own", np.float64, "w+", shape=(512, 512))
    made[:] = np.arange(512 * 512).reshape(512, 512)
    made[5] *= 2
    del made
    with Path("own").open("r+b", buffering=0) as file:
        file.write(bytes(1 << 20))
        print(np.memmap(file, np.float64, "r")[-3:])
    np.save("saved.npy", np.arange(300_000))
    print(np.load("saved.npy", mmap_mode="r+").sum())


if __name__ == "__main__":
    main()
