"""Program files on disk: where a command's name leads, how the file is linked, and to which MPI."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from forebay.common.files.commands import answer_of, unloaded_environment
from forebay.common.files.elf import ElfFacts, read_elf
from forebay.common.model.program import (
    Family,
    Linkage,
    ProgramFacts,
    counts_ranks,
    family_of_soname,
)

_LDD_SECONDS_MAX = 20
_LDD_LINE = re.compile(r"^\s*(\S+)(?: => (\S+))?")


class ProgramFiles:
    """The port Programs, over real files."""

    def locate(self, word: str) -> Path | None:
        """The file that a shell would run for `word`, or None."""
        found = shutil.which(word)
        return None if found is None else Path(found)

    def inspect(self, path: Path) -> ProgramFacts:
        """How `path` is linked."""
        elf = read_elf(path)
        privileged = _is_privileged(path)
        if elf is None:
            linkage = Linkage.SCRIPT if _is_script(path) else Linkage.UNREADABLE
            return ProgramFacts(path=path, linkage=linkage, is_privileged=privileged)
        if not elf.has_interpreter and not elf.needed:
            return ProgramFacts(path=path, linkage=Linkage.STATIC, is_privileged=privileged)
        library, family = mpi_of(path, elf)
        return ProgramFacts(
            path=path,
            linkage=Linkage.DYNAMIC,
            mpi_library=library,
            family=family,
            mpi_is_static=library is None and elf.defines_mpi,
            counts_ranks_by=next(filter(counts_ranks, elf.needed), None),
            is_privileged=privileged,
            is_of_other_libc=not _is_of_glibc(elf.interpreter),
        )


def _is_of_glibc(interpreter: str) -> bool:
    """Whether the dynamic linker is glibc's, by its name. A library names none, and passes."""
    name = Path(interpreter).name
    return not interpreter or (name.startswith(("ld-linux", "ld64.so", "ld.so")))


def mpi_of(path: Path, elf: ElfFacts) -> tuple[str | None, Family | None]:
    """The MPI that the file needs, directly or through one of its libraries: soname and family."""
    direct = _first_mpi(elf.needed)
    if direct[0] is not None:
        return direct
    return _first_mpi(soname for soname, _ in linked_libraries(path))


def linked_libraries(path: Path) -> list[tuple[str, str | None]]:
    """All libraries that would be loaded, as ldd lists them: the soname, and the file or None if
    it is not found."""
    words = ["ldd", str(path.resolve())]
    done = answer_of(words, environment=unloaded_environment(), seconds_max=_LDD_SECONDS_MAX)
    if done is None:
        return []
    found = []
    for line in done.stdout.splitlines():
        match = _LDD_LINE.match(line)
        if match:
            file = match[2] if match[2] and match[2].startswith("/") else None
            found.append((Path(match[1]).name, file))
    return found


def _first_mpi(sonames: Iterable[str]) -> tuple[str | None, Family | None]:
    for soname in sonames:
        family = family_of_soname(soname)
        if family is not None:
            return soname, family
    return None, None


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _is_privileged(path: Path) -> bool:
    """Whether the dynamic linker would ignore LD_PRELOAD (secure-execution mode): the file is
    set-user-ID or set-group-ID for another, or has capabilities."""
    try:
        facts = path.stat()
        if facts.st_mode & stat.S_ISUID and facts.st_uid != os.getuid():
            return True
        if facts.st_mode & stat.S_ISGID and facts.st_gid != os.getgid():
            return True
        return "security.capability" in os.listxattr(path) and os.getuid() != 0
    except OSError:
        return False
