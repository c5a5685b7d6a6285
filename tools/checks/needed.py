"""The preloaded libraries depend on libc only, and on no library of C++, wherever they are.

LD_PRELOAD loads them into every program, also into shells and launchers. A program that finds an
older libstdc++ (from a module or conda environment) would not start if they needed a newer one, and
every program would start later.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from checks import binary
from checks.report import Finding, Outcome, Place, run

PRELOADED = ("libforebay_mpi.so", "libforebay_posix.so")
# glibc's libraries; before version 2.34, parts of libc were separate libraries.
_OF_LIBC = re.compile(r"^(libc|libdl|libpthread|ld-linux.*)\.so\.\d+$")
# Three names of libc itself have the prefix __cxa_ of the C++ run time.
_OF_CPP = re.compile(
    r"^(_Z|__gxx_|__cxa_(?!finalize|atexit|thread_atexit_impl))|@(GLIBCXX|CXXABI|GCC)_"
)
_WHY = "programs without it, or with an older one, do not start where it is preloaded"
_TODO = "See forebay_preloaded_library in cmake/layer.cmake."


def complaints(library: Path) -> Iterator[Finding]:
    """The faults of one preloaded library."""
    for soname in binary.needed(library):
        if not _OF_LIBC.match(soname):
            yield Finding(library.name, f"{soname} is needed", _WHY, _TODO)
    for name in binary.undefined(library):
        if _OF_CPP.search(name):
            yield Finding(library.name, f"{name} is left to the program", _WHY, _TODO)


def check(place: Place) -> Outcome:
    """The preloaded libraries below a folder (--build) need libc, and nothing of a C++ library."""
    is_build = (place.build / "CMakeCache.txt").exists()
    folder = place.build / "lib" if is_build else place.build
    findings: list[Finding] = []
    counts: list[str] = []
    for name in PRELOADED:
        libraries = sorted(folder.rglob(name))
        for library in libraries:
            findings += complaints(library)
            counts.append(f"what {name} needs")
        if not libraries and is_build:
            counts.append(f"no {name} yet: not looked at")
        elif not libraries:
            findings.append(
                Finding(name, "it is missing", f"it is not below {folder}", "Install it.")
            )
    return Outcome(", ".join(counts), findings)


if __name__ == "__main__":
    sys.exit(run(check))
