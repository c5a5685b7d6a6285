"""Reads what the pictures need of a CDF-5 file (NetCDF classic with 64-bit sizes), by numpy alone:
the NetCDF libraries on the machine may belong to another MPI than this process can load.

Format: https://parallel-netcdf.github.io/doc/c-reference/pnetcdf-c/CDF_002d5-File-Format.html
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demo.errors import DemoError
from forebay.common.model.frozen import frozen

_HEADER_BYTES_MAX = 1 << 20
_TYPES = {1: ">i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8", 7: ">u1", 10: ">i8"}


@frozen
class Variable:
    """Where a variable lies. `shape` is that of one record where `has_records`."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    bytes: int
    has_records: bool


@frozen
class Cdf5File:
    """An opened header; values are read when they are asked for."""

    path: Path
    records: int
    record_bytes: int
    variables: dict[str, Variable]

    def read(self, name: str, *, record: int = 0) -> NDArray[Any]:
        """A variable, or one record of it (negative: from the end), in native byte order."""
        variable = self.variables[name]
        record = record % self.records if variable.has_records else 0
        values = np.fromfile(
            self.path,
            dtype=variable.dtype,
            count=int(np.prod(variable.shape, dtype=np.int64)),
            offset=variable.begin + record * self.record_bytes,
        )
        return values.reshape(variable.shape).astype(np.dtype(variable.dtype).newbyteorder("="))


class _Cursor:
    """Walks through a header."""

    def __init__(self, header: bytes) -> None:
        self._header = header
        self._at = 4

    def integer(self) -> int:
        return self._take(">q", 8)

    def short(self) -> int:
        return self._take(">i", 4)

    def name(self) -> str:
        length = self.integer()
        text = self._header[self._at : self._at + length].decode()
        self.skip(length)
        return text

    def skip(self, length: int) -> None:
        self._at += -(-length // 4) * 4

    def list_length(self) -> int:
        self.short()  # the tag: absent, dimensions, attributes or variables
        return self.integer()

    def attributes(self) -> None:
        for _ in range(self.list_length()):
            self.name()
            size = np.dtype(_TYPES[self.short()]).itemsize
            self.skip(size * self.integer())

    def _take(self, form: str, length: int) -> int:
        value: int = struct.unpack_from(form, self._header, self._at)[0]
        self._at += length
        return value


def open_cdf5(path: Path) -> Cdf5File:
    """The file's header as a value. DemoError: not a CDF-5 file."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES_MAX)
    if header[:4] != b"CDF\x05":
        raise DemoError(f"cannot read {path} (not a CDF-5 file). Run the model again.")
    try:
        return _decode(path, _Cursor(header))
    except (struct.error, KeyError, IndexError, UnicodeDecodeError) as error:
        raise DemoError(
            f"cannot read {path} (its header is damaged: {error}). Run the model again."
        ) from error


def _decode(path: Path, cursor: _Cursor) -> Cdf5File:
    records = cursor.integer()
    lengths = []
    for _ in range(cursor.list_length()):
        cursor.name()
        lengths.append(cursor.integer())
    cursor.attributes()
    variables = [_variable(cursor, lengths) for _ in range(cursor.list_length())]
    return Cdf5File(
        path=path,
        records=records,
        record_bytes=sum(variable.bytes for variable in variables if variable.has_records),
        variables={variable.name: variable for variable in variables},
    )


def _variable(cursor: _Cursor, lengths: list[int]) -> Variable:
    name = cursor.name()
    shape = tuple(lengths[cursor.integer()] for _ in range(cursor.integer()))
    cursor.attributes()
    dtype = _TYPES[cursor.short()]
    size = cursor.integer()
    begin = cursor.integer()
    has_records = bool(shape) and shape[0] == 0  # the unlimited dimension has length 0
    return Variable(
        name=name,
        dtype=dtype,
        shape=shape[1:] if has_records else shape,
        begin=begin,
        bytes=size,
        has_records=has_records,
    )
