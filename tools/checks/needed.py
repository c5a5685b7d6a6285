"""The preloaded libraries depend on libc only, on no library of C++ and on no libc newer than
2.28, wherever they are; nothing else that was built needs a function that glibc 2.28 lacks.

LD_PRELOAD loads them into every program, also into shells and launchers. A program that finds an
older libstdc++ (from a module or conda environment) would not start if they needed a newer one, and
every program would start later. The systems of many clusters have glibc 2.28 (RHEL 8).

The cores and programs are bound to the versions of the libc that they are linked with. So of them
it is checked that each function has an older version, too, in the libc of this machine: linked with
an older glibc, they are bound to that one.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from checks import binary
from checks.report import Finding, Outcome, Place, run

PRELOADED = ("libforebay_mpi.so", "libforebay_posix.so")
OTHERS = ("libforebay_core_*.so", "libforebay_output.so", "forebayd", "forebay-*", "forebay_sim")
GLIBC_MAX = (2, 28)
# glibc's libraries; before version 2.34, parts of libc were separate libraries.
_OF_LIBC = re.compile(r"^(libc|libdl|libpthread|ld-linux.*)\.so\.\d+$")
# Three names of libc itself have the prefix __cxa_ of the C++ run time.
_OF_CPP = re.compile(
    r"^(_Z|__gxx_|__cxa_(?!finalize|atexit|thread_atexit_impl))|@(GLIBCXX|CXXABI|GCC)_"
)
_VERSION = re.compile(r"^(\w+)@+GLIBC_(\d+(?:\.\d+)+)$")
# Names that headers choose, of libc's or of libstdc++'s, only where libc has them.
_CHOSEN_BY_HEADERS = re.compile(
    r"^(([fl]?stat|fstatat|mknod(at)?)(64)?|__isoc23_\w+|__libc_single_threaded|_dl_find_object"
    r"|pthread_cond_clockwait|pthread_mutex_clocklock|pthread_rwlock_clock\w+|sem_clockwait)$"
)
_WHY = "programs without it, or with an older one, do not start where it is preloaded"
_TODO = "See forebay_preloaded_library in cmake/layer.cmake."

Version = tuple[int, ...]


def _split(symbol: str) -> tuple[str, Version] | None:
    """The name and the version of one of glibc's symbols, as nm writes it."""
    found = _VERSION.match(symbol)
    return (found[1], tuple(map(int, found[2].split(".")))) if found else None


def complaints(library: Path) -> Iterator[Finding]:
    """The faults of one preloaded library."""
    for soname in binary.needed(library):
        if not _OF_LIBC.match(soname):
            yield Finding(library.name, f"{soname} is needed", _WHY, _TODO)
    for name in binary.undefined(library):
        if _OF_CPP.search(name):
            yield Finding(library.name, f"{name} is left to the program", _WHY, _TODO)
        glibc = _split(name)
        if glibc and glibc[1] > GLIBC_MAX:
            yield Finding(
                library.name,
                f"{name} is needed",
                "glibc 2.28 has no such version, and programs there would not start",
                "Bind it to an older one in src/foundation/kernel/older_libc.hpp, or make the "
                "system call.",
            )


def oldest_versions() -> dict[str, Version]:
    """The oldest version of each function of this machine's libc and libm."""
    oldest: dict[str, Version] = {}
    for name in ("libc.so.6", "libm.so.6"):
        library = Path(binary.tool("cc", f"-print-file-name={name}").strip())
        lines = binary.tool("nm", "-D", "--defined-only", library).splitlines()
        for split in filter(None, (_split(line.split()[-1]) for line in lines)):
            oldest[split[0]] = min(split[1], oldest.get(split[0], split[1]))
    return oldest


def newer_functions(built: Path, oldest: Mapping[str, Version]) -> Iterator[Finding]:
    """The functions of libc that a core or a program needs, and that glibc 2.28 lacks."""
    for split in filter(None, map(_split, binary.undefined(built))):
        name, version = split
        version = oldest.get(name, version)
        if version > GLIBC_MAX and not _CHOSEN_BY_HEADERS.match(name):
            yield Finding(
                built.name,
                f"{name} is needed",
                f"glibc has it since {'.'.join(map(str, version))} only, and Forebay is built with "
                "2.28, too",
                "Make the system call in src/foundation/kernel.",
            )


def _highest(built: Iterable[Path]) -> str:
    """The highest version of glibc that any of the files needs."""
    symbols = (symbol for file in built for symbol in binary.undefined(file))
    versions = [split[1] for split in filter(None, map(_split, symbols))]
    return ".".join(map(str, max(versions, default=())))


def _is_elf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def check(place: Place) -> Outcome:
    """The preloaded libraries below a folder (--build) need a libc no newer than 2.28, and nothing
    of a C++ library; the other libraries and programs need nothing that glibc 2.28 lacks."""
    is_build = (place.build / "CMakeCache.txt").exists()
    folder = place.build / "lib" if is_build else place.build
    findings: list[Finding] = []
    counts: list[str] = []
    for name in PRELOADED:
        libraries = sorted(folder.rglob(name))
        for library in libraries:
            findings += complaints(library)
            counts.append(f"what {name} needs (glibc {_highest([library])})")
        if not libraries and is_build:
            counts.append(f"no {name} yet: not looked at")
        elif not libraries:
            findings.append(
                Finding(name, "it is missing", f"it is not below {folder}", "Install it.")
            )
    others = sorted(path for name in OTHERS for path in folder.rglob(name) if _is_elf(path))
    oldest = oldest_versions() if others else {}
    findings += [finding for other in others for finding in newer_functions(other, oldest)]
    if others:
        counts.append(f"{len(others)} others (glibc {_highest(others)})")
    return Outcome(", ".join(counts), findings)


if __name__ == "__main__":
    sys.exit(run(check))
