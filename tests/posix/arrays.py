"""numpy's ways to files."""

# The calls themselves are what is tested:
# ruff: noqa: PTH123

import numpy as np

a = np.arange(100_000, dtype="f8")
np.save("a.npy", a)
b = np.load("a.npy", mmap_mode="r+")
b[1000:2000] = -1
b.flush()
print(np.load("a.npy").sum())
m = np.memmap("m", dtype="i4", mode="w+", shape=(300, 100))
m[:] = np.arange(30_000).reshape(300, 100)
m[17] = 0
del m
print(np.fromfile("m", dtype="i4").sum())
with open("raw", "wb") as raw:
    for i in range(10):
        a[i * 1000 : (i + 1) * 1000].tofile(raw)
    raw.write(b"end")
print(np.fromfile("raw", dtype="f8", count=5000, offset=8000).sum())
with open("raw", "r+b") as raw:
    raw.seek(8 * 500)
    raw.write(np.full(10, 7.0).tobytes())
np.savez("z.npz", a=a[:1000], b=a[1000:3000])
with np.load("z.npz") as z:
    print(z["b"].sum())
np.savetxt("t.txt", a[:200].reshape(20, 10))
print(np.loadtxt("t.txt").sum())
