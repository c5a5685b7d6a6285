"""What a sanitizer says of the processes of a test: of the daemon, and of every program that has
instrumented libraries loaded (tools/ci/pool_sanitized.sh)."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from suite import mpi as m
from suite.verdict import Failed

VARIABLES = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
IS_ON = bool(os.environ.get("FOREBAY_SANITIZED"))
SAID_MAX = 4000


@contextlib.contextmanager
def judged(name: str) -> Iterator[None]:
    """Around a test: a report of a sanitizer fails it, whatever the test thinks of itself."""
    folder = m.BUILD / "work" / f"{name}.reports"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    folder.chmod(0o1777)  # some programs run without root
    before = {variable: os.environ.get(variable, "") for variable in VARIABLES}
    for variable, options in before.items():
        os.environ[variable] = f"{options}:log_path={folder}/report"
    try:
        yield
    except Exception as error:
        if found := _said(folder):
            error.add_note(found)
        raise
    finally:
        os.environ.update(before)
    if found := _said(folder):
        raise Failed(found)
    folder.rmdir()


def _said(folder: Path) -> str:
    reports = sorted(folder.iterdir())
    if not reports:
        return ""
    text = reports[0].read_text(errors="replace")[:SAID_MAX]
    return f"{len(reports)} reports of a sanitizer in {folder}, the first:\n{text}"
