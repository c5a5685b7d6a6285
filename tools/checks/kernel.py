"""The libraries that programs load make file calls through src/foundation/kernel, never through
libc, where a capturing library would see them."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from checks import binary, layer_table
from checks.report import Finding, Outcome, Place, run

LOADED = ("collective/mpi", "pool/capture")
"""The layers of those libraries. The layers that they use are loaded with them, so the check covers
these, too, and the linked libraries."""
KERNEL = "foundation/kernel"
NO_ARCHIVE = frozenset({"foundation/ports"})
"""Layers that consist of headers only."""

# The file calls of libc that a preloaded library may capture, with all their symbol names.
_CAPTURED = re.compile(
    r"^(__)?("
    r"(open_by_handle_at|pidfd_getfd|sendm{1,2}sg"
    r"|syscall|open|openat|creat|close|close_range|dup[23]?|fcntl|ioctl|lseek"
    r"|p?readv?2?|p?writev?2?|preadv2?|pwritev2?|aio_\w+|lio_listio"
    r"|fsync|fdatasync|sync_file_range|syncfs|f?truncate|(posix_)?fallocate|(posix_)?fadvise"
    r"|[fl]?x?stat|fx?statat|statx|f?statfs|f?access|faccessat|readlink(at)?"
    r"|[fl]?(get|set|list|remove)xattr|rename(at2?)?|unlink(at)?|link(at)?|symlink(at)?|remove"
    r"|mkdir(at)?"
    r"|mmap|munmap|msync|madvise|memfd_create|sendfile|splice|copy_file_range|getcwd"
    r"|f(open|dopen|reopen|read|close)|tmpfile|mkostemp|mkstemp)(64)?(_chk|_2)?"
    r"|std::(basic_filebuf|basic_[io]?fstream|filesystem::).*"
    r")$"
)
# The C++ library that is linked into the cores waits for a futex by syscall, and writes a line
# before it ends a process that has called a pure virtual function.
_LINKED_IN = frozenset({"syscall", "write"})
# Copies of inline functions of std and {fmt}; the linker drops those that nobody calls.
_OUTSIDE = re.compile(r"^\.text\._ZNK?(St|3fmt)")


def findings(archive: Path, layer: str) -> Iterator[Finding]:
    """The calls to libc in one archive."""
    own = binary.defined(archive)
    wanted = sorted(
        {
            (reference.member, reference.symbol)
            for reference in binary.references(archive)
            if reference.symbol not in own and not _OUTSIDE.match(reference.section)
        }
    )
    names = binary.demangle([symbol for _, symbol in wanted])
    for (member, _), name in zip(wanted, names, strict=True):
        if _CAPTURED.match(name):
            yield _finding(f"{archive.name}({member})", name, layer)


def library_findings(library: Path) -> Iterator[Finding]:
    """The undefined symbols of a shared library that the dynamic linker would bind to libc."""
    lines = binary.tool("nm", "-D", "--undefined-only", library).splitlines()
    wanted = {line.split()[-1].partition("@")[0] for line in lines}
    if library.name.startswith("libforebay_core_"):
        wanted -= _LINKED_IN
    for name in binary.demangle(sorted(wanted)):
        if _CAPTURED.match(name):
            yield _finding(library.name, name, "it")


def _finding(where: str, name: str, loaded: str) -> Finding:
    return Finding(
        where,
        f"calls libc's {name}",
        f"{loaded} is loaded into programs whose libc calls are captured",
        "Call the function of the same name in src/foundation/kernel/calls.hpp.",
    )


def check(place: Place) -> Outcome:
    """Check that libraries that programs load make file calls through src/foundation/kernel
    only."""
    layers = layer_table.read(place.root / "layers.toml")
    loaded = set(LOADED).union(*(layer_table.closure(layers, name) for name in LOADED))
    wanted = [layers[name] for name in sorted(loaded - {KERNEL})]
    built = layer_table.archives_in(place.build / "archives", wanted)
    archives = [(layer.name, archive) for layer, archive in built]
    libraries = sorted((place.build / "lib").glob("libforebay_*.so"))
    found = [finding for name, archive in archives for finding in findings(archive, name)]
    found += [finding for library in libraries for finding in library_findings(library)]
    missing = sorted(loaded - {KERNEL} - {name for name, _ in archives} - NO_ARCHIVE)
    for name in [f"layer {name}" for name in missing] + ["the libraries"] * (not libraries):
        found.append(
            Finding(
                name,
                "was not looked at",
                f"there is nothing of it in {place.build}",
                "Build it, or name another folder with --build.",
            )
        )
    return Outcome(f"file calls of {len(archives)} archives, {len(libraries)} libraries", found)


if __name__ == "__main__":
    sys.exit(run(check))
