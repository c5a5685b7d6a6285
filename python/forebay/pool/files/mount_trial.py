"""Tries the ways to mount, over a new folder that is removed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from forebay.common.files.servers import is_ready, without_preload
from forebay.pool.files.mounts import HELPER, PROGRAM_NAME
from forebay.pool.model.mounting import MountWay

_FOLDER_PREFIX = ".forebay-doctor-"
_SECONDS_MAX = 20.0
_ROOT, _PRIVATE = "root", "private namespace"


def try_ways(program: Path, folder: Path) -> Sequence[MountWay]:
    """Root's mount(2), fusermount3, and a private namespace. Nothing is tried that this user never
    needs: root needs no fusermount3."""
    if not program.is_file():
        why = f"{program} is missing: Forebay was built without libfuse"
        return [MountWay(name=name, obstacle=why) for name in (_ROOT, HELPER, _PRIVATE)]
    if os.geteuid() == 0:
        usual = [
            MountWay(name=_ROOT, obstacle=_tried(program, folder)),
            MountWay(name=HELPER, obstacle="root does without it"),
        ]
    else:
        usual = [
            MountWay(name=_ROOT, obstacle="you are not root"),
            MountWay(name=HELPER, obstacle=_tried(program, folder)),
        ]
    return [*usual, MountWay(name=_PRIVATE, obstacle=_tried(program, folder, "--private"))]


def _tried(program: Path, folder: Path, *options: str) -> str | None:
    """Why forebay-mount does not mount over a new folder in `folder`, or None if it does."""
    try:
        made = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=folder))
    except OSError as error:
        return f"cannot make a folder in {folder} to try it: {error.strerror}"
    try:
        return _tried_over(program, made.resolve(), options)
    finally:
        with contextlib.suppress(OSError):
            made.rmdir()


def _tried_over(program: Path, made: Path, options: Sequence[str]) -> str | None:
    words = [str(program), *options, str(made)]
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=without_preload(os.environ),
            )
        except OSError as error:
            return f"{program}: {error.strerror}"
        mounted = is_ready(process, _SECONDS_MAX)
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_MAX)
        if mounted:
            return None
        errors.seek(0)
        lines = errors.read().decode("utf-8", "replace").splitlines()
    return lines[-1].removeprefix(f"{PROGRAM_NAME}: ") if lines else "it ended without a message"
