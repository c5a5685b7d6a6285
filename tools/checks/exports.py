"""libforebay_mpi.so exports exactly the functions of src/entry/mpi/functions.toml."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from checks import binary
from checks.report import Finding, Outcome, Place, run

TABLE = Path("src/entry/mpi/functions.toml")


def expected_names(text: str) -> frozenset[str]:
    """Every name that the table stands for: MPI_ and PMPI_, and the _c twin of a large one."""
    names: set[str] = set()
    for function in tomllib.loads(text)["function"]:
        stem = f"MPI_File_{function['name'].removeprefix('MPI_File_')}"
        for name in [stem, f"{stem}_c"] if function.get("large", False) else [stem]:
            names |= {name, f"P{name}"}
    return frozenset(names)


def compare(expected: frozenset[str], exported: frozenset[str]) -> Iterator[Finding]:
    """Findings for names that only one side has."""
    for name in sorted(expected - exported):
        yield Finding(
            "libforebay_mpi.so",
            f"{name} is not exported",
            f"{TABLE} names it, so programs would get past us there",
            "Look at the generated trampolines.",
        )
    for name in sorted(exported - expected):
        yield Finding(
            "libforebay_mpi.so",
            f"{name} is exported",
            f"{TABLE} does not name it, and a preloaded library must not add names to strangers",
            "Give it hidden visibility or a row in the table.",
        )


def check(place: Place) -> Outcome:
    """libforebay_mpi.so exports exactly the functions of src/entry/mpi/functions.toml."""
    library = place.build / "lib" / "libforebay_mpi.so"
    table = place.root / TABLE
    if not library.exists() or not table.exists():
        return Outcome(f"no {library} yet: nothing compared", [])
    lines = binary.tool("nm", "-D", "--defined-only", library).splitlines()
    exported = frozenset(line.split()[-1] for line in lines)
    expected = expected_names(table.read_text(encoding="utf-8"))
    return Outcome(f"{len(exported)} exported names", list(compare(expected, exported)))


if __name__ == "__main__":
    sys.exit(run(check))
