"""Symbols and relocations of archives and shared libraries, read with binutils."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


def tool(*command: str | Path) -> str:
    """Runs a program of binutils and returns its output. Raises CalledProcessError if it fails."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def demangle(names: Sequence[str]) -> list[str]:
    """The demangled C++ names, in the same order."""
    if not names:
        return []
    shown = subprocess.run(
        ["c++filt"], input="\n".join(names) + "\n", check=True, capture_output=True, text=True
    )
    return shown.stdout.splitlines()


def defined(archive: Path) -> frozenset[str]:
    """The mangled symbols that an archive defines."""
    return frozenset(name for name, _ in _definitions(archive))


def owned(archive: Path) -> frozenset[str]:
    """The symbols that only this archive can define: global, and no inline function's weak copy."""
    return frozenset(name for name, kind in _definitions(archive) if kind in "TDBR")


_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")


def needed(library: Path) -> list[str]:
    """The sonames that a shared library depends on (DT_NEEDED)."""
    return _NEEDED.findall(tool("readelf", "-d", library))


def undefined(library: Path) -> list[str]:
    """The undefined symbols of a shared library, mangled, with their versions."""
    lines = tool("nm", "-D", "--undefined-only", library).splitlines()
    return [line.split()[-1] for line in lines]


def _definitions(archive: Path) -> Iterator[tuple[str, str]]:
    for line in tool("nm", "--defined-only", archive).splitlines():
        if len(words := line.split()) == 3:
            yield words[2], words[1]


_MEMBER = re.compile(r"^(\S+):\s+file format")


def _dumped(what: str, archive: Path) -> Iterator[tuple[str, str]]:
    """The lines of objdump about an archive, each with the object file that it is about."""
    member = ""
    for line in tool("objdump", what, archive).splitlines():
        if found := _MEMBER.match(line):
            member = found[1]
        else:
            yield member, line


@dataclass(frozen=True)
class Reference:
    """A relocation: in `section` of the object file `member`, `symbol` is referred to."""

    member: str
    section: str
    symbol: str


_SECTION = re.compile(r"^RELOCATION RECORDS FOR \[(.+)\]:")
_RECORD = re.compile(r"^[0-9a-f]+ \S+\s+(\S+)")
_ADDEND = re.compile(r"[+-]0x[0-9a-f]+$")


def references(archive: Path) -> Iterator[Reference]:
    """All references from code or data of an archive, without those of debug information."""
    section = ""
    for member, line in _dumped("-r", archive):
        if found := _SECTION.match(line):
            section = found[1]
        elif section.startswith((".debug", ".eh_frame", ".stab")):
            continue
        elif found := _RECORD.match(line):
            yield Reference(member, section, _ADDEND.sub("", found[1]))


@dataclass(frozen=True)
class DataSymbol:
    """A data object in an archive, and its section."""

    member: str
    section: str
    name: str


_OBJECT = re.compile(r"^[0-9a-f]{16} (.{7}) (\.\S+)\s+([0-9a-f]+) (?:\.hidden )?(\S+)$")


def data_symbols(archive: Path) -> Iterator[DataSymbol]:
    """The data objects of an archive (no functions, no sections), mangled."""
    for member, line in _dumped("-tw", archive):
        if found := _OBJECT.match(line):
            flags, section, _, name = found.groups()
            per_thread = section.startswith((".tbss", ".tdata")) and "d" not in flags
            if "O" in flags or per_thread:
                yield DataSymbol(member, section, name)
