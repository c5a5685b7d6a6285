"""Reads by the kernel's AIO what was just written by write()."""

import ctypes
import os

COUNT = 4096


class Block(ctypes.Structure):
    """struct iocb."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("key", ctypes.c_uint32),
        ("flags_of_call", ctypes.c_uint32),
        ("operation", ctypes.c_int16),  # 0: pread
        ("priority", ctypes.c_int16),
        ("descriptor", ctypes.c_int32),
        ("buffer", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("event", ctypes.c_int32),
    )


ctypes.CDLL("libaio.so.1", mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(None)  # as a program that is linked to it finds its functions
fd = os.open("file", os.O_CREAT | os.O_RDWR)
os.write(fd, b"deposited" * 1000)
context = ctypes.c_void_p()
assert library.io_setup(4, ctypes.byref(context)) == 0
buffer = ctypes.create_string_buffer(COUNT)
block = Block(descriptor=fd, buffer=ctypes.addressof(buffer), bytes=COUNT)
assert library.io_submit(context, 1, ctypes.byref(ctypes.pointer(block))) == 1
assert library.io_getevents(context, 1, 1, ctypes.create_string_buffer(32), None) == 1
print(buffer.raw == (b"deposited" * 1000)[:COUNT])
