"""Puts the packages of pyproject.toml that an installed tree needs beside its `forebay` package,
compiles all of them, and makes them readable by everyone.

Usage: dependencies.py PYPROJECT FOLDER [EXTRA]...

pip comes from a venv that lives no longer than this program, so that Debian's Python without pip
will do. pip's own settings (PIP_INDEX_URL, PIP_FIND_LINKS, PIP_NO_INDEX …) count. Where an extra
cannot be had, the tree does without it, which is said: the last one named is given up first.
Nothing is done where the folder has all of them already.
"""

import compileall
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

_STAMP = ".requirements"
_LOST = {
    "html": "--html",
    "tuning": "`forebay probe`, and `forebay report` and `advise` of Darshan logs,",
}
"""Commands that need an extra."""


def requirements(pyproject: Path, extras: Sequence[str]) -> list[str]:
    """The project's dependencies with those of the extras."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    found = list(project["dependencies"])
    for extra in extras:
        found += project["optional-dependencies"][extra]
    return list(dict.fromkeys(found))


def install(packages: Sequence[str], folder: Path) -> None:
    """Raises CalledProcessError when pip cannot have them."""
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True, symlinks=True)
        environment = {**os.environ, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        pip = [f"{scratch}/bin/python", "-m", "pip", "install", "--quiet", "--upgrade"]
        into = ["--target", str(folder), "--no-compile"]
        subprocess.run([*pip, *into, *packages], env=environment, check=True)
    shutil.rmtree(folder / "bin", ignore_errors=True)  # scripts of a venv that is gone


def install_what_can_be_had(
    pyproject: Path,
    extras: Sequence[str],
    folder: Path,
    *,
    by: Callable[[Sequence[str], Path], None] = install,
) -> tuple[str, ...]:
    """The extras that are missing then. Raises what `by` does where not even the project's own
    dependencies can be had."""
    for count in range(len(extras), -1, -1):
        try:
            by(requirements(pyproject, extras[:count]), folder)
        except (OSError, subprocess.CalledProcessError):
            if count == 0:
                raise
            continue
        return tuple(extras[count:])
    raise AssertionError("the last of them returns or raises")


def make_readable(folder: Path) -> None:
    """Whatever umask it was made under."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if path.is_dir() or mode & 0o100 else 0o444))


def main(words: Sequence[str]) -> int:
    pyproject, folder, extras = Path(words[0]), Path(words[1]), words[2:]
    wanted = requirements(pyproject, extras)
    stamp = folder / _STAMP
    state = f"{sys.version}\n" + "\n".join(wanted) + "\n"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != state:
        print(f"-- Installing: {', '.join(wanted)} in {folder}", flush=True)
        try:
            missing = install_what_can_be_had(pyproject, extras, folder)
        except (OSError, subprocess.CalledProcessError) as error:
            print(
                f"cannot install what the command needs ({error}). See above; give pip a place to "
                "find it (PIP_INDEX_URL, PIP_FIND_LINKS), or configure with "
                "-DFOREBAY_PYTHON_PACKAGES=OFF and have typer and rich on the users' Python.",
                file=sys.stderr,
            )
            return 1
        if missing:
            print(
                f"-- Without the extras {', '.join(missing)} (pip cannot have them; see above): "
                + "; ".join(f"{_LOST[one]} will not work" for one in missing if one in _LOST)
                + ". The next installation tries again.",
                flush=True,
            )
        else:
            stamp.write_text(state, encoding="utf-8")
    # By content: whoever copies the tree changes its times.
    compileall.compile_dir(
        folder, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
    )
    make_readable(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
