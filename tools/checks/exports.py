"""The preloaded libraries export exactly the functions of their tables (functions.toml), and the
cores one function: a C++ library that is linked into them stays theirs."""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from checks import binary
from checks.report import Finding, Outcome, Place, run


def mpi_names(text: str) -> frozenset[str]:
    """The MPI_ and PMPI_ names of all functions in the table, with their large-count _c twins."""
    names: set[str] = set()
    for function in tomllib.loads(text)["function"]:
        stem = f"MPI_File_{function['name'].removeprefix('MPI_File_')}"
        for name in [stem, f"{stem}_c"] if function.get("large", False) else [stem]:
            names |= {name, f"P{name}"}
    return frozenset(names)


def libc_names(text: str) -> frozenset[str]:
    """The names of all libc functions in the table, and the function that Forebay's own libraries
    look up by dlsym."""
    names = {"forebay_pool_calls"}
    for function in tomllib.loads(text)["function"]:
        if not function.get("number_only", False):
            names |= {function["name"], *function.get("also", [])}
    return frozenset(names)


@dataclass(frozen=True, kw_only=True)
class Preloaded:
    """A preloaded library, its table, and the function that reads the table."""

    library: str
    table: Path
    names: Callable[[str], frozenset[str]]


CORES = "libforebay_core_*.so"
# Which functions these export, the installed mpi.h says; tests/suite/io_ranks_test.py compares.
IO_RANKS = "libforebay_io_ranks.so"
_OF_AN_MPI = re.compile(r"(P?MPI[IX]?_|p?mpi_|ompi_)\w+")
OF_A_CORE = frozenset({"forebay_core_table"})
ALL = (
    Preloaded(
        library="libforebay_mpi.so",
        table=Path("src/collective/mpi/functions.toml"),
        names=mpi_names,
    ),
    Preloaded(
        library="libforebay_posix.so",
        table=Path("src/pool/capture/functions.toml"),
        names=libc_names,
    ),
)


def compare(
    one: Preloaded, expected: frozenset[str], exported: frozenset[str]
) -> Iterator[Finding]:
    """Findings for names that only one of the two sets has."""
    for name in sorted(expected - exported):
        yield Finding(
            one.library,
            f"{name} is not exported",
            f"{one.table} names it, so programs would get past us there",
            "Look at the generated functions.",
        )
    for name in sorted(exported - expected):
        yield Finding(
            one.library,
            f"{name} is exported",
            f"{one.table} does not name it, and a preloaded library must not add names to "
            "strangers",
            "Give it hidden visibility or a row in the table.",
        )


def exported_by(library: Path) -> frozenset[str]:
    """The names that a shared library defines for others, without their versions."""
    lines = binary.tool("nm", "-D", "--defined-only", library).splitlines()
    return frozenset(line.split()[-1] for line in lines)


def core_findings(core: Path) -> Iterator[Finding]:
    """Findings for a core that exports anything but its one function."""
    exported = exported_by(core)
    for name in sorted(OF_A_CORE ^ exported):
        verb = "is" if name in exported else "is not"
        yield Finding(
            core.name,
            f"{name} {verb} exported",
            "the preloaded library looks up forebay_core_table, and any other name could take the "
            "place of the program's",
            "Give it hidden visibility, or link its archive with --exclude-libs.",
        )


def io_ranks_findings(library: Path) -> Iterator[Finding]:
    """Findings for a library of the I/O ranks that exports anything but functions of an MPI."""
    for name in sorted(exported_by(library)):
        if not _OF_AN_MPI.fullmatch(name):
            yield Finding(
                library.name,
                f"{name} is exported",
                "a preloaded library must not add names to strangers",
                "Give it hidden visibility.",
            )


def check(place: Place) -> Outcome:
    """The preloaded libraries export exactly the functions of their tables, and each core one."""
    found: list[Finding] = []
    counts: list[str] = []
    for one in ALL:
        library = place.build / "lib" / one.library
        table = place.root / one.table
        if not library.exists() or not table.exists():
            counts.append(f"no {library} yet: nothing compared")
            continue
        exported = exported_by(library)
        found += compare(one, one.names(table.read_text(encoding="utf-8")), exported)
        counts.append(f"{len(exported)} exported names of {one.library}")
    cores = sorted((place.build / "lib").glob(CORES))
    found += [finding for core in cores for finding in core_findings(core)]
    counts += [f"{len(cores)} cores"] * bool(cores)
    of_families = sorted((place.build / "lib").rglob(IO_RANKS))
    found += [finding for library in of_families for finding in io_ranks_findings(library)]
    return Outcome(", ".join(counts), found)


if __name__ == "__main__":
    sys.exit(run(check))
