"""Cases that the capture alone did wrong once, through the mount: the same words and bytes as in a
plain folder, from programs that are captured in the mount and from those that are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import pool as daemon
from suite import pooled
from suite.file_systems import mounted_tmpfs
from suite.mount_programs_test import KINDS, ensure_same
from suite.mount_programs_test import mount as mount
from suite.on import FULL
from suite.posix_inside_test import INSIDE, LINKED, NUMBERS
from suite.posix_ioctls_test import CASES
from suite.posix_limits_test import with_little_to_lock
from suite.posix_room_test import REFILLED
from suite.posix_tables_test import SHARED
from suite.verdict import ensure

pytestmark = mo.needs_mount

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="mounts. Run as root.")


@pytest.mark.parametrize(
    ("source", "case"),
    [
        *(pytest.param("ioctls.c", case) for case in CASES if case != "flags"),  # RWF_DONTCACHE
        *(pytest.param("tables.c", case) for case in SHARED),
        *(pytest.param("inside.c", case) for case in (*INSIDE, *LINKED)),
        *(pytest.param("numbers.c", case) for case in NUMBERS),
        pytest.param("vectors.c", ""),
        pytest.param("mounts.c", "", marks=AS_ROOT),
    ],
)
def test_programs(source: str, case: str, mount: mo.Mounted, tmp_path: Path) -> None:
    program = pooled.program(source, "-pthread")
    ensure_same(mount, tmp_path, [program, *([case] if case else [])])


@pytest.mark.parametrize("case", ["early", "late", "current", "future", "on_fault", "too_much"])
def test_a_program_that_may_lock_little_memory(
    case: str, mount: mo.Mounted, tmp_path: Path
) -> None:
    ensure_same(mount, tmp_path, with_little_to_lock(case))


def _built(folder: Path, words: Sequence[str]) -> Path:
    """A program that writes a file and reads it, by that compiler."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}. Install it.")
    source = folder / "source.c"
    source.write_text(WRITES_AND_READS)
    program = folder / "program"
    subprocess.run([*words, "-o", program, source], check=True)
    return program


WRITES_AND_READS = """
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static char bytes[1 << 20], back[1 << 20];
int main(void) {
    struct stat status;
    int fd = open("file", O_RDWR | O_CREAT, 0644);
    memset(bytes, 'x', sizeof bytes);
    if (fd < 0 || write(fd, bytes, sizeof bytes) != sizeof bytes) return 1;
    if (pread(fd, back, sizeof back, 0) != sizeof back) return 2;
    if (memcmp(bytes, back, sizeof back) != 0) return 3;
    close(fd);
    FILE* stream = fopen("file", "a");
    fputs("the end", stream);
    fclose(stream);
    if (stat("file", &status) != 0) return 4;
    printf("%ld bytes\\n", (long)status.st_size);
    return 0;
}
"""


@pytest.mark.parametrize(
    "words",
    [
        ["musl-gcc"],
        ["musl-gcc", "-static"],
        ["gcc", "-static-pie"],
        ["gcc", "-fsanitize=address"],
        ["clang-19", "-fsanitize=address"],
    ],
    ids=" ".join,
)
def test_programs_of_other_compilers(
    words: Sequence[str], mount: mo.Mounted, tmp_path: Path
) -> None:
    # By a captured shell, which sees what it starts.
    ensure_same(mount, tmp_path, ["sh", "-c", '"$0"; echo $?', _built(tmp_path, words)])


@FULL
def test_a_program_under_valgrind(mount: mo.Mounted, tmp_path: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind. Install it.")
    program = _built(tmp_path, ["gcc", "-g"])
    ensure_same(mount, tmp_path, ["valgrind", "-q", "--error-exitcode=9", program])


@FULL
def test_as_many_files_are_open_as_may_be(mount: mo.Mounted, tmp_path: Path) -> None:
    script = """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (1500, 1500))
opened = []
try:
    while True:
        fd = os.open(f"file.{len(opened)}", os.O_RDWR | os.O_CREAT)
        opened.append(fd)
        os.write(fd, str(fd).encode())
except OSError as error:
    print(len(opened), error)
print(all(os.pread(fd, 9, 0) == str(fd).encode() for fd in opened))
"""
    ensure_same(mount, tmp_path, [sys.executable, "-c", script])


@AS_ROOT
@pytest.mark.parametrize("captures", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("piece", [pytest.param(1024, marks=FULL), 100_000])
def test_a_disk_that_has_room_again_is_not_full(piece: int, captures: bool, tmp_path: Path) -> None:
    """The mount still had files open that had been closed and unlinked: ENOSPC."""
    words = [sys.executable, "-c", REFILLED.replace("PIECE", str(piece))]
    with mounted_tmpfs(tmp_path / "plain", "8m") as plain:
        expected = pooled.run(words, plain, {})
    folder = tmp_path / "small" / "folder"
    with mounted_tmpfs(folder.parent, "8m"):
        folder.mkdir()
        options = [mo.CAPTURES] if captures else []
        with daemon.pool(folder, {}) as pool, mo.served(folder, pool, options) as mount:
            said = mount.run(*words).stdout
    ensure(said == expected, f"{said}\nand plain\n{expected}")


def test_a_file_that_is_opened_to_be_read_is_emptied(mount: mo.Mounted, tmp_path: Path) -> None:
    """EINVAL; and, for a program that runs, not ETXTBSY."""
    script = """
import os
for text in (b"text", b"text" * 500_000):
    other = os.open("file", os.O_RDWR | os.O_CREAT)
    os.write(other, text)
    fd = os.open("file", os.O_RDONLY | os.O_TRUNC)
    print(os.fstat(fd).st_size, os.pread(other, 9, 0))
    os.write(other, b"behind")
"""
    ensure_same(mount, tmp_path, [sys.executable, "-c", script])
