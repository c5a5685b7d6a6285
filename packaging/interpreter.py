"""Prints the Python that an installed tree runs with: the first that every user may execute, of
the candidates given, the Python that this one's environment was made from, and those on PATH.

A venv below a checkout or a Python below somebody's home serves nobody else.
"""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_FACTS = "import sys, sysconfig; print(sys.version_info >= (3, 11), sysconfig.get_path('stdlib'))"
_NAMES = ("python3", "python3.14", "python3.13", "python3.12", "python3.11")


def may_be_read_by_all(path: Path) -> bool:
    """Whether everyone may reach and read `path`, and each folder and link on the way to it."""
    for step in (path, path.resolve()):
        for place in (step, *step.parents):
            mode = place.stat().st_mode
            wanted = stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
            if not mode & wanted:
                return False
    return True


def serves_everyone(interpreter: Path) -> bool:
    """Whether it is a Python of at least 3.11 that everyone may run with its own library."""
    try:
        if not may_be_read_by_all(interpreter):
            return False
        done = subprocess.run(
            [str(interpreter), "-I", "-c", _FACTS], capture_output=True, text=True, check=False
        )
        is_new_enough, _, library = done.stdout.strip().partition(" ")
        return is_new_enough == "True" and may_be_read_by_all(Path(library))
    except OSError:
        return False


def candidates(given: Sequence[str]) -> Iterator[Path]:
    """In the order of preference."""
    for word in given:
        yield Path(word)
    yield Path(getattr(sys, "_base_executable", sys.executable))
    for name in _NAMES:
        for folder in os.environ.get("PATH", "").split(os.pathsep):
            if folder:
                yield Path(folder) / name


def main(given: Sequence[str]) -> int:
    for interpreter in dict.fromkeys(candidates(given)):
        if interpreter.is_file() and serves_everyone(interpreter):
            print(interpreter)
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
