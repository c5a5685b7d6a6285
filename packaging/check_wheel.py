"""Gives a wheel the tag that it deserves, manylinux_2_28, and says what it needs of a machine.

Usage: check_wheel.py WHEEL (in an environment that has auditwheel)

The interposer is linked to no MPI: whichever the program brings serves. The benchmarks' programs
are MPI programs, each of which needs its own MPI; that is the user's, and is not packed into the
wheel. `auditwheel repair` is told so, and refuses the tag if anything needs newer symbols than it
allows. (`auditwheel show` cannot be told: it counts the MPI of this machine, and what that needs.)
"""

import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

THE_USERS_OWN = ("libmpi", "libmpich", "libopen-", "libfuse3")
OF_CPP = ("libstdc++", "libgcc_s")
PLATFORM = f"manylinux_2_28_{platform.machine()}"
LINKED_TO_NO_MPI = ("libforebay_mpi.so", "libforebay_core_mpich.so", "libforebay_core_openmpi.so")


def needed(file: Path) -> list[str]:
    """Sonames that an ELF file asks for."""
    shown = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=False)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", shown.stdout)


def complaints(files: list[Path]) -> Iterator[str]:
    for name in LINKED_TO_NO_MPI:
        found = [file for file in files if file.name == name]
        if not found:
            yield f"{name} is missing. Is its MPI installed here?"
        for file in found:
            if any(soname.startswith("libmpi") for soname in needed(file)):
                yield f"{name} is linked to an MPI, and would serve no other."
    for file in files:
        for soname in needed(file):
            if soname.startswith(OF_CPP):
                yield f"{file.name} needs {soname}, of which programs may have an older one."


def main(wheel: Path) -> int:
    with TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        archive.extractall(scratch)
        files = [path for path in Path(scratch).rglob("forebay/lib/**/*") if path.is_file()]
        wrong = list(complaints(files))
        outside = {soname for file in files for soname in needed(file)}
    if wrong:
        print(f"{wheel.name}: {' '.join(wrong)}", file=sys.stderr)
        return 1
    theirs = sorted(name for name in outside if name.startswith(THE_USERS_OWN))
    excluded = [word for name in theirs for word in ("--exclude", name)]
    auditwheel = [sys.executable, "-m", "auditwheel"]
    words = [
        "repair",
        "--only-plat",
        "--plat",
        PLATFORM,
        *excluded,
        "--wheel-dir",
        str(wheel.parent),
        str(wheel),
    ]
    subprocess.run([*auditwheel, *words], check=True)
    wheel.unlink()
    for made in wheel.parent.glob("forebay-*.whl"):
        print(f"{made} ({made.stat().st_size / 2**20:.1f} MiB)")
    print(f"its benchmarks need of the machine: {', '.join(theirs)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
