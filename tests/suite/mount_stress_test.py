"""fio, which verifies what it wrote, and stress-ng, which judges what calls return, in a mount."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import pooled
from suite.on import FULL
from suite.posix_stress_test import FIO, FIO_WORDS, stressors_as_plain
from suite.verdict import ensure

pytestmark = pytest.mark.skipif(
    not mo.can_mount(), reason="no forebay-mount, or no right to /dev/fuse. Build it; be root."
)
CAPTURED = pytest.mark.parametrize(
    "captures", [pytest.param(False, id="mounted"), pytest.param(True, marks=FULL, id="captured")]
)
PAST_THE_POOL = ("mmap", "pvsync", "pvsync2")
"""Files that are mapped, or synced after each little write, are aside."""
QUICK = ("io_uring", "mmap")
IMPOSSIBLE = frozenset({"fiemap"})
VERIFIED_ONCE = ("append", "mixed", "pvsync", "sparse")


@pytest.mark.skipif(shutil.which("fio") is None, reason="there is no fio. Install it.")
@pytest.mark.parametrize(
    "mode", [pytest.param(mode, marks=() if mode in QUICK else FULL) for mode in FIO]
)
@CAPTURED
def test_fio(mode: str, captures: bool) -> None:
    words = [*FIO_WORDS, *FIO[mode]]
    with mo.mounted(before_pool=True, captures=captures, settings=pooled.EAGER) as mount:
        for more in ([], ["--verify_only"])[: 1 if mode in VERIFIED_ONCE else 2]:
            said = mount.run(*words, *more).stdout
            ensure("verify:" not in said and "error=" not in said, said[-1500:])
        taken = mount.pool.taken() if mount.pool else 0
        ensure(mode in PAST_THE_POOL or taken > 0, "nothing was deposited")


@FULL
@CAPTURED
def test_stress_ng(captures: bool, tmp_path: Path) -> None:
    with mo.mounted(before_pool=True, captures=captures, settings=pooled.EAGER) as mount:
        environment = mount.captured() if captures else {}
        stressors_as_plain(tmp_path, mount.folder, environment, skipped=IMPOSSIBLE)
        ensure(mount.pool is not None and mount.pool.taken() > 0, "nothing was deposited")
