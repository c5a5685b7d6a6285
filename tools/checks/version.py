"""One place says the version, python/forebay/__init__.py. What has to repeat it, because nobody
reads that file there, says the same; nothing else that is built or shipped has it."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from checks.report import Finding, Outcome, Place, run

SOURCE = "python/forebay/__init__.py"
REPEATS = {
    "CHANGELOG.md": r"^## (\S+) ",
    "CITATION.cff": r"^version: (\S+)$",
    "packaging/conda/recipe.yaml": r"^  version: (\S+)$",
    "packaging/easybuild/forebay.eb": r"^version = '(.*)'$",
    "packaging/rpm/forebay.spec": r"^Version: +(\S+)$",
    "packaging/spack/spack_repo/forebay/packages/forebay/package.py": r'^    version\("(\d[^"]*)"',
}
"""Files that leave this tree, and the line in each that has the version. The first one counts."""

SHIPPED = ("CMakeLists.txt", "CMakePresets.json", "Makefile", "pyproject.toml")
_FOLDERS = ("benchmarks", "cmake", "include", "packaging", "python", "src", "tools")
_OTHERS_DATA = re.compile(r"(^|/)(tests|reference)/|_test\.(py|cpp)$")
_OWN = re.compile(r'^__version__ = "(\d+\.\d+\.\d+)"$', re.MULTILINE)
_TODO = f"Read it from {SOURCE}, or add the file to tools/checks/version.py."


def version_of(root: Path) -> str | None:
    """The project's version. None if it is not said."""
    path = root / SOURCE
    found = _OWN.search(path.read_text(encoding="utf-8")) if path.exists() else None
    return found[1] if found else None


def repeated(root: Path, version: str) -> Iterator[Finding]:
    """The repeats that are missing or differ."""
    for name, pattern in REPEATS.items():
        path = root / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        found = re.search(pattern, text, re.MULTILINE)
        if found is None:
            yield Finding(name, "no version", f"{pattern} is nowhere in it", "Write it there.")
        elif found[1] != version:
            why = f"{SOURCE} says {version}"
            yield Finding(name, f"version {found[1]}", why, f"Write {version}.")


def shipped(root: Path) -> Iterator[Path]:
    """The files in which no version is to be found."""
    for path in (*(root / name for name in SHIPPED), *_below(root)):
        name = path.relative_to(root).as_posix()
        if name != SOURCE and name not in REPEATS and not _OTHERS_DATA.search(name):
            yield path


def _below(root: Path) -> Iterator[Path]:
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def second_ones(name: str, text: str, version: str) -> Iterator[Finding]:
    """The lines of a file that have the version, or give the project another one."""
    number = re.compile(rf"(?<![\d.]){re.escape(version)}(?![\d.]|-)")
    own = re.compile(r"^\s*project\([^)]*VERSION \d|^__version__ =")
    of_the_wheel = re.compile(r"^version = ") if name == "pyproject.toml" else None
    for at, line in enumerate(text.splitlines(), start=1):
        if number.search(line) or own.search(line) or (of_the_wheel and of_the_wheel.search(line)):
            yield Finding(f"{name}:{at}", "a second version", f"{SOURCE} has it", _TODO)


def check(place: Place) -> Outcome:
    """The version is said once, and repeated rightly."""
    version = version_of(place.root)
    if version is None:
        why = 'a line as __version__ = "1.2.3" is missing'
        return Outcome("no version", [Finding(SOURCE, "no version", why, "Write one.")])
    findings = list(repeated(place.root, version))
    for path in shipped(place.root):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue  # no text
        findings += second_ones(path.relative_to(place.root).as_posix(), text, version)
    return Outcome(f"version {version}, repeated in {len(REPEATS)} files", findings)


if __name__ == "__main__":
    sys.exit(run(check))
