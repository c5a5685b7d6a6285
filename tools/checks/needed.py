"""All that users get needs no libc newer than 2.28 and no library of C++, wherever it was linked;
the preloaded libraries depend on libc (and libdl) only.

LD_PRELOAD loads these into every program, also into shells and launchers, and the cores are loaded
into programs with MPI. A program that finds an older libstdc++ (from a module or conda environment)
would not start, or would run without Forebay, if they needed a newer one. The systems of many
clusters have glibc 2.28 (RHEL 8).

forebay_sim is the exception: SimGrid is a library of C++, so both have this machine's libstdc++. Of
it is checked that each function has an older version, too, in the libc of this machine: linked with
an older glibc, it is bound to that one.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from checks import binary
from checks.report import Finding, Outcome, Place, run

PRELOADED = ("libforebay_mpi.so", "libforebay_posix.so")
PRELOADED_OF_FAMILIES = ("libforebay_io_ranks.so",)
"""Preloaded libraries of which there is one per MPI family, and none where no MPI was found."""
CORES = ("libforebay_core_*.so",)
PROGRAMS = ("forebayd", "forebay-*", "libforebay_output.so", "spank_forebay.so")
SIMULATOR = ("forebay_sim",)
GLIBC_MAX = (2, 28)
# glibc's libraries; before version 2.34, parts of libc were separate libraries.
_OF_LIBC = re.compile(r"^(libc|libdl|libpthread|ld-linux.*)\.so\.\d+$")
_LIBM = re.compile(r"^libm\.so\.\d+$")
# Libraries of which a program has to find the user's own.
_THE_USERS_OWN = re.compile(r"^lib(mpi|mpich|open-\w+|hdf5\w*|pnetcdf|fuse3)\.so")
# Three names of libc itself have the prefix __cxa_ of the C++ run time. _ZGTt begins names that
# libstdc++.a asks for weakly, for transactional memory.
_OF_CPP = re.compile(
    r"^(_Z(?!GTt)|__gxx_|__cxa_(?!finalize|atexit|thread_atexit_impl))|@(GLIBCXX|CXXABI|GCC)_"
)
_VERSION = re.compile(r"^(\w+)@+GLIBC_(\d+(?:\.\d+)+)$")
# Names that headers choose, of libc's or of libstdc++'s, only where libc has them.
_CHOSEN_BY_HEADERS = re.compile(
    r"^(([fl]?stat|fstatat|mknod(at)?)(64)?|__isoc23_\w+|__libc_single_threaded|_dl_find_object"
    r"|pthread_cond_clockwait|pthread_mutex_clocklock|pthread_rwlock_clock\w+|sem_clockwait)$"
)
_PRELOADED_WHY = "programs without it, or with an older one, do not start where it is preloaded"
_PRELOADED_TODO = "See forebay_preloaded_library in cmake/layer.cmake."
_WHY = "users have it not, or an older one, and would have to do without Forebay"
_TODO = "See cmake/portable.cmake."

Version = tuple[int, ...]


def _split(symbol: str) -> tuple[str, Version] | None:
    """The name and the version of one of glibc's symbols, as nm writes it."""
    found = _VERSION.match(symbol)
    return (found[1], tuple(map(int, found[2].split(".")))) if found else None


def preloaded_findings(library: Path) -> Iterator[Finding]:
    """The faults of one preloaded library."""
    for soname in binary.needed(library):
        if not _OF_LIBC.match(soname):
            yield Finding(library.name, f"{soname} is needed", _PRELOADED_WHY, _PRELOADED_TODO)
    for name in filter(_OF_CPP.search, binary.undefined(library)):
        problem = f"{name} is left to the program"
        yield Finding(library.name, problem, _PRELOADED_WHY, _PRELOADED_TODO)
    header = (
        "Bind it to an older one in src/foundation/kernel/older_libc.hpp, or make the system call."
    )
    yield from newer_versions(library, header)


def portable_findings(built: Path, *, is_program: bool) -> Iterator[Finding]:
    """The faults of one core or program."""
    for soname in binary.needed(built):
        is_known = _OF_LIBC.match(soname) or _LIBM.match(soname)
        if not is_known and not (is_program and _THE_USERS_OWN.match(soname)):
            yield Finding(built.name, f"{soname} is needed", _WHY, _TODO)
    for name in filter(_OF_CPP.search, binary.undefined(built)):
        yield Finding(built.name, f"{name} is needed", _WHY, _TODO)
    yield from newer_versions(
        built, "Name it in src/foundation/kernel/older_libc/functions.S, or make the system call."
    )


def newer_versions(built: Path, todo: str) -> Iterator[Finding]:
    """The symbols of a libc newer than 2.28 that a file needs."""
    for name in binary.undefined(built):
        glibc = _split(name)
        if glibc and glibc[1] > GLIBC_MAX:
            why = "glibc 2.28 has no such version, and nothing that needs one starts there"
            yield Finding(built.name, f"{name} is needed", why, todo)


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
    """The functions of libc that a program needs, and that glibc 2.28 lacks."""
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


def _all_of(folder: Path, names: Iterable[str]) -> list[Path]:
    return sorted(path for name in names for path in folder.rglob(name) if _is_elf(path))


def check(place: Place) -> Outcome:
    """All that users get, below a folder (--build), needs a libc no newer than 2.28, and nothing of
    a C++ library; preloaded libraries need libc only."""
    is_build = (place.build / "CMakeCache.txt").exists()
    folder = place.build / "lib" if is_build else place.build
    findings: list[Finding] = []
    counts: list[str] = []
    for name in (*PRELOADED, *PRELOADED_OF_FAMILIES):
        libraries = sorted(folder.rglob(name))
        for library in libraries:
            findings += preloaded_findings(library)
            counts.append(f"what {name} needs (glibc {_highest([library])})")
        if not libraries and is_build:
            counts.append(f"no {name} yet: not looked at")
        elif not libraries and name in PRELOADED:
            findings.append(
                Finding(name, "it is missing", f"it is not below {folder}", "Install it.")
            )
    for kind, names in (("cores", CORES), ("programs", PROGRAMS)):
        if files := _all_of(folder, names):
            counts.append(f"{len(files)} {kind} (glibc {_highest(files)})")
        for file in files:
            findings += portable_findings(file, is_program=kind == "programs")
    simulators = _all_of(folder, SIMULATOR)
    oldest = oldest_versions() if simulators else {}
    findings += [finding for file in simulators for finding in newer_functions(file, oldest)]
    return Outcome(", ".join(counts), findings)


if __name__ == "__main__":
    sys.exit(run(check))
