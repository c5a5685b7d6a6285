"""What reaches a file past libc's usual calls, and is captured all the same: libc's functions that
open, look at, read or write files inside, and the loader."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import pooled

BOTH_WAYS = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
INSIDE = ("printed", "traced", "walked", "mounted", "spawned", "expanded", "logged")


@BOTH_WAYS
@pytest.mark.parametrize("case", INSIDE)
def test_what_libc_does_inside(case: str, settings: Mapping[str, str], folder: Path) -> None:
    """Lines of dprintf were lost, nftw told sizes without deposits, and the like."""
    program = pooled.program("inside.c")
    pooled.Twice(command=[program, case]).ensure_same(folder, settings)


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
