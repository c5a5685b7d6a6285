"""Gives a wheel the tag that it deserves, manylinux_2_28, and says what it needs of a machine.

Usage: check_wheel.py WHEEL (in an environment that has auditwheel)

The interposer is linked to no MPI: whichever the program brings serves. The benchmarks' programs
are MPI programs, each of which needs its own MPI; that is the user's, and is not packed into the
wheel. `auditwheel repair` is told so, and refuses the tag if anything needs newer symbols than it
allows. (`auditwheel show` cannot be told: it counts the MPI of this machine, and what that needs.)

The wheel may be for another processor than this machine's: its name says which.
"""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

THE_USERS_OWN = ("libmpi", "libmpich", "libopen-", "libfuse3")
OF_CPP = ("libstdc++", "libgcc_s")
SIZE_MAX = 25 * 2**20
"""Bytes of a wheel."""
LINKED_TO_NO_MPI = ("libforebay_mpi.so", "libforebay_core_mpich.so", "libforebay_core_openmpi.so")
OF_STANDARD_ABI = "libforebay_core_abi.so"
# auditwheel takes the platforms of the processor that it runs on only, but knows those of others.
AUDITWHEEL = """
import platform, sys
processor = sys.argv.pop(1)
platform.machine = lambda: processor
from auditwheel.main import main
sys.exit(main())
"""


def needed(file: Path) -> list[str]:
    """Sonames that an ELF file asks for."""
    shown = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=False)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", shown.stdout)


def complaints(files: list[Path], processor: str) -> Iterator[str]:
    # Cross-compiling finds no MPI that has the standard ABI.
    cores = [*LINKED_TO_NO_MPI, *([OF_STANDARD_ABI] if processor == "x86_64" else [])]
    for name in cores:
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


def processor_of(wheel: Path) -> str:
    """The last part of its tag, of which a wheel from pip says linux_PROCESSOR."""
    return wheel.stem.partition("-linux_")[2]


def main(wheel: Path) -> int:
    processor = processor_of(wheel)
    with TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        archive.extractall(scratch)
        files = [path for path in Path(scratch).rglob("forebay/lib/**/*") if path.is_file()]
        wrong = list(complaints(files, processor))
        outside = {soname for file in files for soname in needed(file)}
    if wrong:
        print(f"{wheel.name}: {' '.join(wrong)}", file=sys.stderr)
        return 1
    theirs = sorted(name for name in outside if name.startswith(THE_USERS_OWN))
    excluded = [word for name in theirs for word in ("--exclude", name)]
    words = [
        "repair",
        "--only-plat",
        "--plat",
        f"manylinux_2_28_{processor}",
        *excluded,
        "--wheel-dir",
        str(wheel.parent),
        str(wheel),
    ]
    subprocess.run([sys.executable, "-c", AUDITWHEEL, processor, *words], check=True)
    wheel.unlink()
    (made,) = wheel.parent.glob(f"forebay-*_{processor}.whl")
    print(f"{made} ({made.stat().st_size / 2**20:.1f} MiB)")
    if made.stat().st_size > SIZE_MAX:
        print(f"{made} has more than {SIZE_MAX / 2**20:.0f} MiB.", file=sys.stderr)
        return 1
    print(f"its benchmarks need of the machine: {', '.join(theirs)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
