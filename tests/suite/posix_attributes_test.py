"""What a program sets of a file after its last write is as it set it once the file is drained."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from suite import pooled
from suite.conversation import Conversation, conversation, opened
from suite.pool import pool
from suite.verdict import ensure

HOW = pytest.mark.parametrize("settings", [pooled.KEPT, pooled.EAGER], ids=["kept", "eager"])
ROOT = os.geteuid() == 0
# Draining as root keeps set-user-ID bits: this daemon has no right to.
UNPRIVILEGED: Sequence[str] = ("setpriv", "--bounding-set=-fsetid") if ROOT else ()
CAPABILITY = struct.pack("<IIIII", 0x02000000 | 1, 1 << 13, 0, 0, 0)  # cap_net_raw, effective
BYTES = 200_000


def written(program: Conversation, path: Path, count: int = BYTES) -> int:
    fd = opened(program, path)
    ensure(program.ask(f"os.write({fd}, bytes([7]) * {count})") == str(count), "it is not written")
    return fd


@pytest.mark.skipif(not ROOT, reason="only root gives files capabilities")
@HOW
@pytest.mark.parametrize("way", ["{path!r}", "{fd}", "{path!r}, follow_symlinks=False"])
def test_draining_took_file_capabilities_away(
    way: str, settings: Mapping[str, str], folder: Path
) -> None:
    with pooled.pool(folder, settings) as one, conversation(one) as program:
        path = one.folder / "program"
        fd = written(program, path)
        target, *rest = way.format(path=str(path), fd=fd).split(", ")
        words = ", ".join([target, "'security.capability'", repr(CAPABILITY), *rest])
        ensure(program.ask(f"os.setxattr({words})") == "None", "it cannot be set")
    ensure(path.read_bytes() == bytes([7]) * BYTES, "other bytes")
    ensure(os.getxattr(path, "security.capability") == CAPABILITY, "it was taken away")


@HOW
@pytest.mark.parametrize("way", ["os.chmod({path!r}, ", "os.fchmod({fd}, ", "os.chmod('program', "])
def test_draining_took_set_id_bits_away(
    way: str, settings: Mapping[str, str], folder: Path
) -> None:
    below = folder / "pool"
    below.mkdir()
    with pool(below, settings, front=UNPRIVILEGED) as one, conversation(one) as program:
        path = one.folder / "program"
        program.ask(f"os.chdir({str(one.folder)!r})")
        fd = written(program, path)
        said = program.ask(way.format(path=str(path), fd=fd) + "0o6755)")
        ensure(said == "None", f"it cannot be set: {said}")
    ensure(path.read_bytes() == bytes([7]) * BYTES, "other bytes")
    ensure(path.stat().st_mode & 0o7777 == 0o6755, f"the mode is {path.stat().st_mode:o}")
