"""Calls that look at a file with deposits by its name; leaves the file `kept` with 3000 bytes."""

# The calls themselves are what is tested:
# ruff: noqa: PTH100, PTH116

import ctypes
import os
import time

before = time.time_ns()
fd = os.open("kept", os.O_CREAT | os.O_WRONLY, 0o644)
os.write(fd, b"x" * 1000)
os.pwrite(fd, b"x" * 2000, 1000)
here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
looks = {
    "fstat": os.fstat(fd),
    "stat": os.stat("kept"),
    "stat of an absolute path": os.stat(os.path.abspath("kept")),
    "lstat": os.lstat("kept"),
    "fstatat": os.stat("kept", dir_fd=here),
    "scandir": next(entry.stat() for entry in os.scandir(".") if entry.name == "kept"),
}
wrong = [name for name, found in looks.items() if found.st_size != 3000]
times = [
    name
    for name, found in looks.items()
    # The kernel's time stamps are up to a tick (10 ms) older than the clock.
    if not before - 10**7 <= found.st_mtime_ns <= time.time_ns()
]
libc = ctypes.CDLL(None, use_errno=True)
statx = ctypes.create_string_buffer(256)
if libc.statx(-100, b"kept", 0, 0x7FF, statx) != 0:
    wrong.append(f"statx: errno {ctypes.get_errno()}")
elif int.from_bytes(statx.raw[40:48], "little") != 3000:
    wrong.append("statx")
os.utime("kept", (1, 2))
if os.stat("kept").st_mtime != 2:
    wrong.append("utime")
os.truncate("kept", 0)
if os.stat("kept").st_size != 0 or os.fstat(fd).st_size != 0:
    wrong.append("truncate")
os.pwrite(fd, b"x" * 3000, 0)
os.close(fd)
if os.stat("kept").st_size != 3000:
    wrong.append("stat once it is closed")
print("ok" if not wrong and not times else f"wrong sizes: {wrong}; wrong times: {times}")
