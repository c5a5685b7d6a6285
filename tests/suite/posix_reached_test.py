"""Which functions of libc reach a file past the capture: each is run on a file with deposits under
ptrace (tests/posix/tracer.c), and what libc itself asks the kernel of that file has to be allowed
below. docs/internals/posix.md says the same for readers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled
from suite.verdict import ensure

TELLS_NO_CONTENT: Mapping[str, frozenset[str]] = {
    "euidaccess": frozenset({"newfstatat"}),
    "faccessat": frozenset({"newfstatat"}),
    "fchmodat": frozenset({"openat", "newfstatat"}),
    "lchmod": frozenset({"openat", "newfstatat"}),
    "glob": frozenset({"newfstatat"}),
    "fdopendir": frozenset({"newfstatat"}),
    "isatty": frozenset({"ioctl"}),
    "ttyname": frozenset({"ioctl"}),
}
"""Modes, kinds and terminals: the same with deposits as without."""
AFTER_IT_WAS_DRAINED: Mapping[str, frozenset[str]] = {
    "futimens": frozenset({"utimensat"}),
    "posix_fallocate": frozenset({"fallocate"}),
    "sendfile": frozenset({"sendfile"}),
    "splice": frozenset({"splice"}),
    "copy_file_range": frozenset({"copy_file_range"}),
    "catopen": frozenset({"openat", "newfstatat", "mmap"}),
    "dlopen": frozenset({"openat", "newfstatat", "read", "pread64", "mmap"}),
    "backtrace_symbols_fd": frozenset({"writev"}),
    "setmntent": frozenset({"openat", "newfstatat", "read"}),
    "updwtmp": frozenset({"openat", "newfstatat", "lseek", "read", "write"}),
    "fgetwc": frozenset({"newfstatat", "read", "lseek"}),
    "perror": frozenset({"newfstatat", "write", "lseek"}),
    "aio_read": frozenset({"pread64"}),
    "aio_write": frozenset({"pwrite64"}),
}
"""The captured function has drained the file, or made it leave, and goes on to libc's by a jump."""
ALLOWED = {**TELLS_NO_CONTENT, **AFTER_IT_WAS_DRAINED}
SEEN = {"in_line": frozenset({"pread64"})}
"""A system call of the program's own: else the tracer is blind."""

KINDS = frozenset(
    "open creat openat openat2 stat lstat newfstatat statx truncate utimensat utime utimes"
    " futimesat fstat read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2"
    " lseek ftruncate fallocate fsync fdatasync sync_file_range sendfile copy_file_range splice"
    " mmap ioctl".split()
)
"""The system calls that the tracer reports."""


@pytest.mark.parametrize("built", [pooled.program, pooled.fortified], ids=["plain", "fortified"])
def test_no_function_of_libc_reaches_a_file_past_the_capture(
    built: Callable[[str], Path], folder: Path
) -> None:
    """dprintf, nftw, fts, updwtmp, catopen, setmntent, dlopen, syscall and dlsym did."""
    reached = built("reached.c")
    tracer = pooled.program("tracer.c")
    names = pooled.run([reached], folder, {}).split()
    ensure(len(names) > 80, f"only {names}")
    wrong: list[str] = []
    with pooled.pool(folder) as served:
        environment = {**served.environment()}
        library = environment.pop("LD_PRELOAD").split()[-1].split(":")[-1]
        file = served.folder / "data"
        for name in names:
            file.unlink(missing_ok=True)
            command = [tracer, library, file, reached, name]
            said = pooled.run(command, served.folder, environment, status=None)
            if "PTRACE_SETOPTIONS" in said:
                pytest.skip("ptrace is not allowed here")
            lines = frozenset(said.split()) & KINDS
            expected = SEEN.get(name, frozenset())
            if not expected <= lines or lines - expected - ALLOWED.get(name, frozenset()):
                wrong.append(f"{name}: {sorted(lines)}")
    ensure(not wrong, f"past the capture: {wrong}")


def test_functions_that_are_system_calls_are_captured_by_number() -> None:
    """A row of the table without its number is seen by libc's function only, not by syscall(2)."""
    rows = tomllib.loads((m.ROOT / "src/pool/capture/functions.toml").read_text())["function"]
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("the kernel's numbers are not known here")
    kinds = ("numbers", "older_numbers", "newer_numbers")
    numbered = {number for row in rows for kind in kinds for number in row.get(kind, [])}
    known = set(re.findall(r"#define __NR_(\w+)", header.read_text()))
    wrong = sorted(row["name"] for row in rows if row["name"] in known - numbered)
    ensure(not wrong, f"no numbers: {wrong}")
