"""Checks sanitizers' reports about the processes of a test: the daemon, and every program that has
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
ON_ANOTHER_STACK = "WARNING: ASan is ignoring requested __asan_handle_no_return"
FOUND = ("ERROR: ", "runtime error: ", "ThreadSanitizer")
"""Every report has one of these; the note above, which programs with a stack of their own cause,
has none."""


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
    shutil.rmtree(folder)


def _said(folder: Path) -> str:
    reports = [path.read_text(errors="replace") for path in sorted(folder.iterdir())]
    found = [text for text in reports if not _is_a_note(text)]
    if not found:
        return ""
    return f"{len(found)} reports of a sanitizer in {folder}, the first:\n{found[0][:SAID_MAX]}"


def _is_a_note(text: str) -> bool:
    return ON_ANOTHER_STACK in text and not any(word in text for word in FOUND)
