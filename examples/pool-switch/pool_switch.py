"""Switches one file of Forebay's pool off and on again; see include/forebay_pool.h.

pool_switch.py FILE. It runs anywhere: where there is no pool, the kernel says ENOTTY."""

import errno
import fcntl
import os
import struct
import sys

POOL_SET = 0x4010FB01  # FOREBAY_POOL_SET
POOL_GET = 0x8028FB02  # FOREBAY_POOL_GET
SETTING = struct.Struct("=IIQ")  # mode, durability, window
STATE = struct.Struct("=IIQQQiI")  # mode, durability, window, taken, waiting, error
OFF, ON = 1, 2
GLOBAL = 2


def adjust(fd: int, what: str, *, mode: int = 0, durability: int = 0, window: int = 0) -> None:
    try:
        fcntl.ioctl(fd, POOL_SET, SETTING.pack(mode, durability, window))
        print(f"{what}: done")
    except OSError as error:
        if error.errno != errno.ENOTTY:
            raise
        print(f"{what}: there is no pool")


def tell(fd: int) -> None:
    try:
        state = STATE.unpack(fcntl.ioctl(fd, POOL_GET, bytes(STATE.size)))
    except OSError:
        return
    mode, _, window, taken, waiting, _, _ = state
    switch = "on" if mode == ON else "off"
    print(f"pool {switch}, window {window}, taken {taken}, waiting {waiting}")


fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o644)
adjust(fd, "window", window=64 << 20)
os.write(fd, b"taken by the pool\n")
tell(fd)
adjust(fd, "off", mode=OFF)
os.write(fd, b"written directly\n")
tell(fd)
adjust(fd, "on", mode=ON)
os.write(fd, b"taken again\n")
tell(fd)
adjust(fd, "global", durability=GLOBAL)
os.write(fd, b"with the file system\n")
tell(fd)
os.close(fd)
