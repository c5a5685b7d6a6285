"""The records of a Darshan module as a numpy array, filled by Darshan's C library: a log may have
a hundred thousand records, and PyDarshan's own interface makes a Python object of each."""

import importlib
from typing import Any

_ROWS = 4096
_BYTES_MOST = 1 << 60
"""Bytes of a record: nobody moves more (an EiB), so that the record is broken."""
_BEHIND_FILE = ("H5D", "PNETCDF_VAR")
"""Modules whose records have 8 more bytes after the base record: the id of the file, which is the
column `file`. (In other modules that column is the rank.)"""


class Table:
    """All records of a module as a structured array `rows`, with the names of their counters.
    `broken` is the number of records whose counts of bytes are impossible; these are set to 0."""

    def __init__(self, report: Any, module: str) -> None:
        backend: Any = importlib.import_module("darshan.backend.cffi_backend")
        numpy: Any = importlib.import_module("numpy")
        structure = backend._structdefs[module].removesuffix(" **")
        self.module = module
        self._numpy = numpy
        self.counters: list[str] = backend.counter_names(module)
        self.times: list[str] = backend.fcounter_names(module)
        self.prefix = "MPIIO_" if module == "MPI-IO" else f"{module}_"
        first = 24 if module in _BEHIND_FILE else 16
        behind = first + 8 * len(self.counters)
        size = backend.ffi.sizeof(structure)
        if behind + 8 * len(self.times) > size:
            raise ValueError(f"records of {module} have another size than this PyDarshan says")
        formats = ["u8", "i8", ("i8", (len(self.counters),)), ("f8", (len(self.times),)), "u8"]
        kind = numpy.dtype(
            {
                "names": ["id", "rank", "counters", "times", "file"],
                "formats": formats,
                "offsets": [0, 8, first, behind, first - 8],
                "itemsize": size,
            }
        )
        self.rows = _records(backend, numpy, report, module, kind)
        if not len(self.rows):
            raise ValueError(f"it ends before the records of {module}")
        self.broken = self._without_impossible_bytes()

    def _without_impossible_bytes(self) -> int:
        wrong = self._numpy.zeros(len(self.rows), bool)
        for noun in ("READ", "WRITTEN"):
            if self.has(f"BYTES_{noun}"):
                column = self.column(f"BYTES_{noun}")
                bad = (column < -1) | (column > _BYTES_MOST)  # -1: a converted log lacks it
                column[bad] = 0
                wrong |= bad
        return int(wrong.sum())

    def has(self, name: str) -> bool:
        """Whether the module has a counter or time `name` (without the module's prefix)."""
        return self.prefix + name in self.counters or self.prefix + name in self.times

    def column(self, name: str, rows: Any = None) -> Any:
        """The counter or time `name` in all records, or in `rows`; zeros if the module lacks it."""
        numpy = self._numpy
        rows = self.rows if rows is None else rows
        name = self.prefix + name
        if name in self.counters:
            return rows["counters"][:, self.counters.index(name)]
        if name in self.times:
            found = rows["times"][:, self.times.index(name)]
            return numpy.where(numpy.isfinite(found), found, 0.0)
        return numpy.zeros(len(rows), "i8")

    def bytes(self, rows: Any = None) -> Any:
        """Bytes read and written, per record."""
        return sum(self.column(f"BYTES_{noun}", rows).clip(0) for noun in ("READ", "WRITTEN"))

    def seconds(self, rows: Any = None) -> Any:
        """Seconds in reads, writes and metadata calls, per record."""
        kinds = ("READ", "WRITE", "META")
        return sum(self.column(f"F_{kind}_TIME", rows).clip(0) for kind in kinds)

    def slowest(self, rows: Any, ranks: int) -> Any:
        """Seconds of the slowest rank, per record of `rows`. A record of all `ranks` of the job
        (its rank is -1) says them; they are no less than the mean."""
        seconds = self.seconds(rows)
        told = self.column("F_SLOWEST_RANK_TIME", rows).clip(0)
        of_all = self._numpy.maximum(told, seconds / max(1, ranks))
        return self._numpy.where(rows["rank"] < 0, of_all, seconds)


class Names:
    """The paths of all files in the log, by record id.

    Darshan's library compares each file with each id that is asked for, and PyDarshan makes an
    object of each file. So the library is asked once for all files, and what it answers is looked
    up here as an array of ids and addresses."""

    def __init__(self, report: Any) -> None:
        backend: Any = importlib.import_module("darshan.backend.cffi_backend")
        numpy: Any = importlib.import_module("numpy")
        ffi = backend.ffi
        into, count = ffi.new("struct darshan_name_record **"), ffi.new("int *")
        backend.libdutil.darshan_log_get_name_records(report.log["handle"], into, count)
        if count[0] > 0:
            pairs = numpy.frombuffer(ffi.buffer(into[0], count[0] * ffi.sizeof(into[0][0])), "u8")
            pairs = pairs.reshape(count[0], -1)[:, :2]
        else:
            pairs = numpy.zeros((0, 2), "u8")
        self._ffi = ffi
        self._numpy = numpy
        self._pairs = pairs[numpy.argsort(pairs[:, 0], kind="stable")]

    def of(self, ids: list[int]) -> dict[int, str]:
        """The names of those of `ids` that have one; `ids` is sorted."""
        ids = self._numpy.array(ids, "u8")
        rows = self._pairs[among(self._pairs[:, 0], ids)].tolist()
        text = self._ffi.typeof("char *")
        cast, string = self._ffi.cast, self._ffi.string
        return {key: string(cast(text, at)).decode("utf-8", "replace") for key, at in rows}


def among(ids: Any, ascending: Any) -> Any:
    """Which of `ids` are in the sorted array `ascending`. (`numpy.isin` would import masked arrays,
    which takes longer than to read most logs.)"""
    numpy: Any = importlib.import_module("numpy")
    if not len(ascending):
        return numpy.zeros(len(ids), bool)
    places = numpy.searchsorted(ascending, ids).clip(max=len(ascending) - 1)
    return ascending[places] == ids


def _records(backend: Any, numpy: Any, report: Any, module: str, kind: Any) -> Any:
    parts = []
    into = backend.ffi.new("void **")
    number, handle = report.modules[module]["idx"], report.log["handle"]
    read_record, size = backend.libdutil.darshan_log_get_record, kind.itemsize
    more = True
    while more:
        rows = numpy.zeros(_ROWS, kind)
        first = backend.ffi.cast("char *", rows.ctypes.data)
        count = 0
        while count < _ROWS and more:
            into[0] = first + count * size
            found = read_record(handle, number, into)
            if found < 0:
                raise ValueError(f"it is cut off or damaged amid the records of {module}")
            more = found > 0
            count += more
        parts.append(rows[:count])
    return numpy.concatenate(parts)
