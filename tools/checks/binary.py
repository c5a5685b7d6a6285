"""Archives and shared libraries as binutils show them."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


def tool(*command: str | Path) -> str:
    """Output of a binutils program."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def demangle(names: Sequence[str]) -> list[str]:
    """C++ names as people write them, in the same order."""
    if not names:
        return []
    shown = subprocess.run(
        ["c++filt"], input="\n".join(names) + "\n", check=True, capture_output=True, text=True
    )
    return shown.stdout.splitlines()


def defined(archive: Path) -> frozenset[str]:
    """Symbols that an archive defines, mangled."""
    return frozenset(name for name, _ in _definitions(archive))


def owned(archive: Path) -> frozenset[str]:
    """Symbols that only this archive can define: global, and not an inline function's copy."""
    return frozenset(name for name, kind in _definitions(archive) if kind in "TDBR")


_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")


def needed(library: Path) -> list[str]:
    """Sonames of the libraries that a shared library asks the loader for."""
    return _NEEDED.findall(tool("readelf", "-d", library))


def undefined(library: Path) -> list[str]:
    """Symbols, with their versions, that a shared library looks for elsewhere, mangled."""
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
    """An object file of an archive mentions a symbol in one of its sections."""

    member: str
    section: str
    symbol: str


_SECTION = re.compile(r"^RELOCATION RECORDS FOR \[(.+)\]:")
_RECORD = re.compile(r"^[0-9a-f]+ \S+\s+(\S+)")
_ADDEND = re.compile(r"[+-]0x[0-9a-f]+$")


def references(archive: Path) -> Iterator[Reference]:
    """Every reference from code or data of an archive, debug information left out."""
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
    """A named object of an archive and the section it lives in."""

    member: str
    section: str
    name: str


_OBJECT = re.compile(r"^[0-9a-f]{16} (.{7}) (\.\S+)\s+([0-9a-f]+) (?:\.hidden )?(\S+)$")


def data_symbols(archive: Path) -> Iterator[DataSymbol]:
    """Objects (not functions, not sections) of an archive, mangled."""
    for member, line in _dumped("-tw", archive):
        if found := _OBJECT.match(line):
            flags, section, _, name = found.groups()
            per_thread = section.startswith((".tbss", ".tdata")) and "d" not in flags
            if "O" in flags or per_thread:
                yield DataSymbol(member, section, name)
