"""The fast place of a tier breaks while programs use it: its server dies, or all calls fail. Files
without newer bytes there are read from the parallel file system, what is written goes there, and a
file whose newest bytes are lost fails with EIO, alone and by name."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.file_systems import served_file_system
from suite.tiers import Tier, bytes_of, new_tier, order, state_of, stop
from suite.verdict import ensure

NOT_MOVED = 3
MOVED, WAITING, NEW = (bytes_of(300_000, seed) for seed in range(3))

pytestmark = pytest.mark.skipif(
    not mo.can_mount(), reason="no forebay-mount, or no right to /dev/fuse. Build it; be root."
)


@contextlib.contextmanager
def _breakable(how: str) -> Iterator[tuple[Tier, Callable[[], None]]]:
    """A tier, and what breaks its fast place."""
    with new_tier() as tier:
        served = tier.root / "served"
        served.mkdir()
        fail = tier.root / "fail"
        with served_file_system(served, "attribute_fs.c", fail) as (mount, server):

            def break_it() -> None:
                if how == "killed":
                    server.kill()
                    server.wait()
                else:
                    fail.write_text(f"{getattr(errno, how)}\n", encoding="ascii")

            fast = mount / "place"
            fast.mkdir(mode=0o700)
            yield Tier(folder=tier.folder, fast=fast, root=tier.root), break_it


def _fails(act: Callable[[], object]) -> None:
    with pytest.raises(OSError, match="Input/output") as failed:
        act()
    ensure(failed.value.errno == errno.EIO, f"it failed with {failed.value}")


def _moved(file: Path) -> Path:
    file.write_bytes(MOVED)
    order(file, "move")
    ensure(state_of(file) == "clean", f"{file.name} is not moved")
    return file


@pytest.mark.parametrize("how", ["killed", "ESTALE", "ESHUTDOWN", "EROFS"])
def test_the_fast_place_breaks(how: str) -> None:
    with _breakable(how) as (tier, break_it), tier.started("write preload move=manual") as mount:
        moved, again, lost, anew, open_anew = (
            tier.folder / name for name in ("moved", "again", "lost", "anew", "open-anew")
        )
        for one in (lost, anew, open_anew):
            one.write_bytes(WAITING)
        _moved(again)
        with (
            _moved(moved).open("rb", buffering=0) as reader,
            (tier.folder / "written").open("w+b", buffering=0) as writer,
            lost.open("rb", buffering=0) as lost_reader,
            open_anew.open("rb", buffering=0) as anew_reader,
        ):
            writer.write(MOVED)
            order(tier.folder / "written", "move")
            ensure(state_of(tier.folder / "written") == "clean", "it is not moved")
            ensure(reader.read(1000) == MOVED[:1000], "before it broke")
            break_it()
            ensure(reader.read() == MOVED[1000:], "an open clean file")
            ensure(moved.read_bytes() == MOVED and again.read_bytes() == MOVED, "clean files")
            ensure(writer.write(NEW) == len(NEW), "a short write")
            _fails(lambda: lost_reader.read(10))
            ensure(lost.stat().st_size == len(WAITING), f"its size is {lost.stat().st_size}")
            _fails(lost.read_bytes)
            for one in (anew, open_anew):
                one.write_bytes(NEW)
                ensure(one.read_bytes() == NEW, f"{one.name}, written anew")
            ensure(os.pread(anew_reader.fileno(), len(NEW), 0) == NEW, "by an older descriptor")
        (tier.folder / "new").write_bytes(NEW)
        ensure((tier.folder / "written").read_bytes() == MOVED + NEW, "written while it broke")
        ensure((tier.folder / "new").read_bytes() == NEW, "a new file")
        ensure(mount.below("written").read_bytes() == MOVED + NEW, "the file below")
        said = stop(mount, NOT_MOVED)
        for one in (anew, open_anew, tier.folder / "new"):
            ensure(one.read_bytes() == NEW, f"{one.name}, without the tier")
        ensure(f"{lost} is not moved" in said, said)
        ensure(f"{anew} is not moved" not in said and str(moved) not in _ends(said), said)


def _ends(said: str) -> str:
    """The lines that name what was not moved."""
    return "\n".join(line for line in said.splitlines() if "is not moved" in line)


def test_a_fast_place_that_came_back_is_believed_where_the_file_is_as_it_was() -> None:
    """Bytes that were written while it was gone are newer than a replica that waits there."""
    with _breakable("ESTALE") as (tier, break_it):
        with tier.started("write move=manual") as mount:
            for name in ("kept", "anew"):
                (tier.folder / name).write_bytes(WAITING)
            break_it()
            (tier.folder / "anew").write_bytes(NEW)
            stop(mount, NOT_MOVED)
        (tier.root / "fail").unlink()
        with tier.started("write") as mount:
            ensure((tier.folder / "kept").read_bytes() == WAITING, "what waited there")
            ensure((tier.folder / "anew").read_bytes() == NEW, "what was written since")
            stop(mount)
        ensure([one.read_bytes() for one in tier.rescued()] == [WAITING], "nothing is thrown away")
