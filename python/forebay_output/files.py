"""Files, grids and variables, over the C functions of the library."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from forebay_output.library import OutputError, checked, library

_TYPES = {"int8": 1, "int16": 2, "int32": 3, "int64": 4, "float32": 5, "float64": 6}
_ARGUMENT = 7


def init(world: Any) -> Any:
    """Begins, collectively over the mpi4py communicator `world`; returns the communicator to use in
    its place. finalize() frees it."""
    made = ctypes.c_int()
    checked(library().fbo_init_fortran(ctypes.c_int(world.py2f()), ctypes.byref(made)))
    return importlib.import_module("mpi4py.MPI").Comm.f2py(made.value)


def finalize() -> None:
    """Closes the files that are still open, and ends."""
    checked(library().fbo_finalize())


def create(comm: Any, path: str, options: str = "") -> OutputFile:
    """Makes a file; `options` as of fbo_create."""
    return OutputFile(_number(library().fbo_create_fortran, comm, path, options))


def open_to_read(comm: Any, path: str) -> OutputFile:
    """Opens a netCDF file to read patches of it, by any number of ranks."""
    return OutputFile(_number(library().fbo_open_fortran, comm, path, ""))


class Grid:
    """This rank's patch of a grid; `local_shape` is its array's, halo included (of a map: None)."""

    def __init__(self, number: int, local_shape: tuple[int, ...] | None, elements: int) -> None:
        self.number = number
        self.local_shape = local_shape
        self.elements = elements


class Variable:
    """A variable of a file on a grid."""

    def __init__(self, number: int, grid: Grid, dtype: np.dtype[Any]) -> None:
        self._number = number
        self._grid = grid
        self._dtype = dtype

    def write(self, array: NDArray[Any]) -> None:
        """Hands this rank's array over; it may be changed afterwards. Not collective."""
        given = np.ascontiguousarray(array)
        checked(
            library().fbo_write_array(
                ctypes.c_int(self._number),
                ctypes.c_int(_type_code(given.dtype)),
                ctypes.c_int64(given.size),
                ctypes.c_void_p(given.ctypes.data),
            )
        )

    def read(self, step: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Reads this rank's patch of a step (from 0) into `out`, whose halo is left as it is, or
        into a new array."""
        if out is None:
            out = np.zeros(self._grid.local_shape or (self._grid.elements,), self._dtype)
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise OutputError("the array to read into is not contiguous. Give one that is.", code=7)
        checked(
            library().fbo_read_array(
                ctypes.c_int(self._number),
                ctypes.c_int64(step),
                ctypes.c_int(_type_code(out.dtype)),
                ctypes.c_int64(out.size),
                ctypes.c_void_p(out.ctypes.data),
            )
        )
        return out


class OutputFile:
    """A file. All methods are collective."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._is_open = True

    def grid(
        self,
        shape: Sequence[int],
        start: Sequence[int],
        count: Sequence[int],
        *,
        halo: Sequence[int] | None = None,
    ) -> Grid:
        """A grid of `shape`, of which this rank has `count` elements from `start` on."""
        width = list(halo) if halo is not None else [0] * len(shape)
        if not len(shape) == len(start) == len(count) == len(width):
            raise OutputError(
                "shape, start, count and halo have different lengths. Give one number for each "
                "dimension.",
                code=_ARGUMENT,
            )
        made = ctypes.c_int()
        checked(
            library().fbo_grid(
                ctypes.byref(made),
                ctypes.c_int(self._number),
                ctypes.c_int(len(shape)),
                *(_numbers(numbers) for numbers in (shape, start, count, width)),
            )
        )
        local = tuple(n + 2 * h for n, h in zip(count, width, strict=True))
        return Grid(made.value, local, 0)

    def grid_map(self, shape: Sequence[int], dof: NDArray[np.integer[Any]]) -> Grid:
        """A grid of `shape`; element i of this rank's arrays is element dof[i] of it, and is left
        out where dof[i] is negative."""
        indices = np.ascontiguousarray(dof, np.int64)
        made = ctypes.c_int()
        checked(
            library().fbo_grid_map(
                ctypes.byref(made),
                ctypes.c_int(self._number),
                ctypes.c_int(len(shape)),
                _numbers(shape),
                ctypes.c_int64(indices.size),
                ctypes.c_void_p(indices.ctypes.data),
            )
        )
        return Grid(made.value, None, indices.size)

    def define(
        self,
        name: str,
        grid: Grid,
        dtype: DTypeLike,
        *,
        dims: str = "",
        units: str = "",
        fixed: bool = False,
    ) -> Variable:
        """A variable; `fixed`: without time, and written in one of the steps."""
        kind = np.dtype(dtype)
        call = library().fbo_define_fixed if fixed else library().fbo_define
        made = ctypes.c_int()
        checked(
            call(
                ctypes.byref(made),
                ctypes.c_int(self._number),
                name.encode(),
                ctypes.c_int(grid.number),
                ctypes.c_int(_type_code(kind)),
                dims.encode(),
                units.encode(),
            )
        )
        return Variable(made.value, grid, kind)

    def attribute(self, variable: str, name: str, text: str) -> None:
        """Sets a text attribute of a variable, of "time", or ("") of the file."""
        checked(
            library().fbo_attribute(
                ctypes.c_int(self._number), variable.encode(), name.encode(), text.encode()
            )
        )

    @contextlib.contextmanager
    def step(self, time: float) -> Iterator[None]:
        """One step, which is written at the end of the block (not after an exception)."""
        checked(library().fbo_begin_step(ctypes.c_int(self._number), ctypes.c_double(time)))
        yield
        checked(library().fbo_end_step(ctypes.c_int(self._number)))

    def steps(self) -> int:
        """The number of steps in the file."""
        made = ctypes.c_int64()
        checked(library().fbo_steps(ctypes.c_int(self._number), ctypes.byref(made)))
        return made.value

    def close(self) -> None:
        """Closes the file; does nothing if it is closed."""
        if self._is_open:
            self._is_open = False
            checked(library().fbo_close(ctypes.c_int(self._number)))

    def __enter__(self) -> OutputFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the file, unless this rank leaves by an exception: the others may not."""
        if kind is None:
            self.close()


def _number(call: Any, comm: Any, path: str, options: str) -> int:
    made = ctypes.c_int()
    checked(
        call(ctypes.byref(made), ctypes.c_int(comm.py2f()), str(path).encode(), options.encode())
    )
    return made.value


def _numbers(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def _type_code(dtype: np.dtype[Any]) -> int:
    code = _TYPES.get(dtype.name)
    if code is None or not dtype.isnative:
        raise OutputError(
            f"arrays of {dtype} cannot be written (known: {', '.join(_TYPES)}, in the machine's "
            "order of bytes). Convert the array.",
            code=_ARGUMENT,
        )
    return code
