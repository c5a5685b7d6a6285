"""No mutable statics in the archives, except in process.cpp of the libraries that programs load."""

import re
import sys
from collections.abc import Iterable, Iterator

from checks import binary
from checks.binary import DataSymbol
from checks.report import Finding, Outcome, Place, run

_MUTABLE = re.compile(r"^\.(bss|data|tbss|tdata)(?!\.rel\.ro)")
# Symbols that the loader writes once, or that the compiler or another library defines.
_NOT_OURS = re.compile(
    r"^(guard variable for |vtable|typeinfo|VTT|construction vtable|DW\.ref\."
    r"|(guard variable for )?(std|fmt|nlohmann|toml|CLI|tl)::|std::__ioinit|__odr_asan|\.L)"
)

_LOADED = ("libforebay_collective_mpi_", "libforebay_output_mpi_", "libforebay_pool_capture.")


def mutable(symbols: Iterable[DataSymbol]) -> Iterator[tuple[DataSymbol, str]]:
    """The mutable objects among `symbols`, with their demangled names."""
    kept = [symbol for symbol in symbols if _MUTABLE.match(symbol.section)]
    names = binary.demangle([symbol.name for symbol in kept])
    for symbol, name in zip(kept, names, strict=True):
        if not _NOT_OURS.match(name):
            yield symbol, name


def check(place: Place) -> Outcome:
    """No mutable statics in the archives, outside process.cpp of what programs load."""
    archives = sorted((place.build / "archives").glob("libforebay_*.a"))
    findings = [
        Finding(
            f"{archive.name}({symbol.member})",
            f"{name} can change (section {symbol.section})",
            "a simulator runs thousands of ranks in one process and they would all share it",
            "Make it constexpr, or a member of an object that the caller owns. (GCC 12 takes"
            " `constexpr std::array x{…}` for changeable: write its type arguments.)",
        )
        for archive in archives
        for symbol, name in mutable(binary.data_symbols(archive))
        if not (symbol.member == "process.cpp.o" and archive.name.startswith(_LOADED))
    ]
    return Outcome(f"statics of {len(archives)} archives", findings)


if __name__ == "__main__":
    sys.exit(run(check))
