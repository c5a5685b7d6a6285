"""Calls that reach a file past libc's usual functions are captured all the same: libc's functions
that open, look at, read or write files inside, calls by number, libc's own handle, and the
loader."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled
from suite.verdict import ensure

BOTH_WAYS = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
INSIDE = ("printed", "traced", "walked", "mounted", "spawned", "expanded", "logged")
LINKED = ("linked", "linked_and_walked")
NUMBERS = ("stated", "moved", "opened", "changed", "forked", "mapped", "cancelled")
HANDLES = ("named", "others")


@BOTH_WAYS
@pytest.mark.parametrize("case", INSIDE)
def test_what_libc_does_inside(case: str, settings: Mapping[str, str], folder: Path) -> None:
    """Lines of dprintf were lost, nftw told sizes without deposits, and the like."""
    program = pooled.program("inside.c")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)


@pytest.mark.parametrize("case", INSIDE)
def test_what_libc_does_inside_of_a_fortified_program(case: str, folder: Path) -> None:
    """It calls `__dprintf_chk` and the like."""
    pooled.Twice(command=[pooled.fortified("inside.c"), case]).ensure_same(folder)


@BOTH_WAYS
@pytest.mark.parametrize("case", LINKED)
def test_what_libc_does_by_a_name_outside_of_the_pool(
    case: str, settings: Mapping[str, str], folder: Path
) -> None:
    """In a process that had not connected yet, the file was not found by its inode: an entry that
    updwtmp added was lost."""
    program = pooled.program("inside.c")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)


def test_a_child_of_a_process_without_memory_for_the_pool_reads_what_was_written(
    folder: Path,
) -> None:
    """Nothing was drained for a file that is opened in another folder of a process to be."""
    with pooled.pool(folder) as served:
        program = pooled.program("inside.c")
        said = pooled.run([program, "spawned_outside"], served.folder, served.environment())
        ensure("address space" in said, f"it has mapped the pool:\n{said}")
        ensure("heard: what the child reads" in said, said)


@BOTH_WAYS
@pytest.mark.parametrize("case", NUMBERS)
def test_calls_by_number(case: str, settings: Mapping[str, str], folder: Path) -> None:
    """syscall(2) went past the pool: libuv's statx told sizes without deposits."""
    program = pooled.program("numbers.c", "-pthread")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)


@BOTH_WAYS
def test_node(settings: Mapping[str, str], folder: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node. Install nodejs.")
    script = """
const fs = require('fs');
const fd = fs.openSync('file', 'w');
fs.writeSync(fd, Buffer.alloc(100000, 7));
console.log(fs.fstatSync(fd).size);
fs.closeSync(fd);
console.log(fs.statSync('file').size, fs.lstatSync('file').size, fs.readFileSync('file').length);
fs.appendFileSync('file', 'more');
fs.copyFileSync('file', 'copy');
console.log(fs.statSync('copy').size);
fs.promises.writeFile('other', 'x'.repeat(5000)).then(async () => {
    console.log((await fs.promises.stat('other')).size);
    console.log((await fs.promises.readFile('other')).length);
});
"""
    pooled.Twice(command=[node, "-e", script]).ensure_same(folder, settings)


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_a_sanitizer_that_asks_for_functions_before_we_have_begun(
    sanitizer: str, folder: Path
) -> None:
    """It ended by SIGSEGV: dlsym compared names by its strcmp, which it had not found yet."""
    flags = [*m.C_FLAGS, f"-fsanitize={sanitizer}"]
    source = str(pooled.SOURCES / "inside.c")
    bin_folder = m.BUILD / "bin" / "posix"
    program = m.build_with(["cc", *flags], source, bin_folder, target=f"inside-{sanitizer}")
    options = "verify_asan_link_order=0:detect_leaks=0"
    pooled.Twice(
        command=[program, "printed"],
        environment={"ASAN_OPTIONS": options},
    ).ensure_same(folder)


@BOTH_WAYS
def test_libcs_own_handle(settings: Mapping[str, str], folder: Path) -> None:
    """As JNA has it, too. Bytes that its functions wrote were lost."""
    script = """
import ctypes, os
libc = ctypes.CDLL('libc.so.6', use_errno=True)
fd = os.open('file', os.O_RDWR | os.O_CREAT)
os.write(fd, b'first ')
print(libc.write(fd, b'second ', 7))
os.write(fd, b'third')
print(os.pread(fd, 100, 0), libc.lseek(fd, 0, 2))
other = os.open('other', os.O_RDWR | os.O_CREAT)
os.write(other, b'x' * 20000)
print(libc.fallocate(other, 3, ctypes.c_long(0), ctypes.c_long(8192)), os.pread(other, 3, 100))
os.write(other, b'end')
third = libc.open(b'third', os.O_RDWR | os.O_CREAT, 0o644)
print(libc.write(third, b'by libc', 7), os.stat('third').st_size, libc.dprintf(third, b' %d', 5))
print(libc.write(99, b'none', 4), ctypes.get_errno(), libc.close(third))
"""
    pooled.Twice(command=[sys.executable, "-c", script]).ensure_same(folder, settings)


@BOTH_WAYS
@pytest.mark.parametrize("case", HANDLES)
def test_functions_by_name(case: str, settings: Mapping[str, str], folder: Path) -> None:
    """By libc's handle they went past the pool. A caller that asks for the next one still gets
    that."""
    program = pooled.program("handles.c")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)


def test_a_library_behind_that_asks_libcs_handle_is_given_libcs_own(folder: Path) -> None:
    """It called itself for ever, if it was given ours, which calls what is behind."""
    pooled.ensure_called(pooled.library("handle_behind.c"), folder)


def test_a_library_that_binds_to_libc_first_makes_files_leave(folder: Path) -> None:
    """RTLD_DEEPBIND: its calls are libc's own, and what they wrote was lost."""
    library = pooled.library("deep.c")
    script = f"""
import ctypes, os
before = os.open('before', os.O_RDWR | os.O_CREAT)
os.write(before, b'first ')
deep = ctypes.CDLL({str(library)!r}, os.RTLD_NOW | os.RTLD_DEEPBIND)
behind = os.open('behind', os.O_RDWR | os.O_CREAT)
for fd in (before, behind):
    os.write(fd, b'second ')
    print(deep.say(fd, b'third '))
    os.write(fd, b'last')
    print(os.pread(fd, 100, 0))
"""
    pooled.Twice(command=[sys.executable, "-c", script]).ensure_same(folder)


LIBRARY = """
int answer(void) { return 42; }
"""
PROGRAM = """
#include <stdio.h>
int answer(void);
int main(void) { printf("%d\\n", answer()); return 0; }
"""


def _libraries(folder: Path) -> tuple[Path, Path]:
    """A library, and a program that looks for it in the folder where it is started."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "answer.c").write_text(LIBRARY)
    (folder / "program.c").write_text(PROGRAM)
    library = folder / "libanswer.so"
    pooled.run(["cc", "-shared", "-fPIC", "-o", library, folder / "answer.c"], folder, {})
    program = folder / "program"
    linked = [f"-L{folder}", "-lanswer", "-Wl,-rpath,."]
    pooled.run(["cc", "-o", program, folder / "program.c", *linked], folder, {})
    return library, program


@BOTH_WAYS
def test_a_library_that_was_just_written_is_loaded(
    settings: Mapping[str, str], folder: Path
) -> None:
    """Without x bits, as unpackers and caches make them: the loader said "file too short"."""
    library, program = _libraries(folder / "made")
    script = f"""
import ctypes, os, shutil, subprocess
content = open({str(library)!r}, 'rb').read()
with open('closed.so', 'wb') as made:
    made.write(content)
print(ctypes.CDLL('./closed.so').answer())
made = open('open.so', 'wb')
made.write(content)
made.flush()
print(ctypes.CDLL(os.path.abspath('open.so')).answer())
with open('libanswer.so', 'wb') as made:
    made.write(content[:3000])
    made.write(content[3000:])
print(subprocess.run([{str(program)!r}], capture_output=True).stdout)
fd = os.open('backwards.so', os.O_WRONLY | os.O_CREAT)
os.pwrite(fd, content[3000:], 3000)
os.pwrite(fd, content[:3000], 0)
os.close(fd)
os.rename('backwards.so', 'moved.so')
print(ctypes.CDLL('./moved.so').answer())
"""
    pooled.Twice(command=[sys.executable, "-c", script]).ensure_same(folder, settings)
