"""A tier of fast storage behind a mount: programs of every kind write to replicas, and what they
wrote is in the files when the tier has ended, whatever happened meanwhile."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite.file_systems import until
from suite.on import FULL
from suite.ordinary_user import IS_ROOT, ordinary_user
from suite.tiers import KEPT, MIB, Tier
from suite.tiers import bytes_of as _bytes
from suite.tiers import order as _order
from suite.tiers import state_of as _state
from suite.tiers import status_of as _status
from suite.tiers import stop as _stop
from suite.tiers import until_moved as _until_moved
from suite.verdict import ensure

OBSERVER = m.ROOT / "tests" / "posix" / "mount_observer.py"
LEDGER_WRITER = m.ROOT / "tests" / "posix" / "tier_ledger.py"
NOT_MOVED = 3
KILLS = 20
FEW_KILLS = 6

pytestmark = mo.needs_mount
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root mounts a tmpfs")


@pytest.fixture
def small_tier(tier: Tier) -> Iterator[Tier]:
    """Its fast place has 8 MiB."""
    size = "size=8m,mode=0700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "fast", tier.fast], check=True)
    try:
        yield tier
    finally:
        subprocess.run(["umount", "-l", tier.fast], check=True)


def test_every_call_gives_what_it_gives_below(tier: Tier, tmp_path: Path) -> None:
    words = (sys.executable, str(OBSERVER))
    plain = json.loads(mo.run_in(tmp_path, *words).stdout)
    with tier.started() as mount:
        through = json.loads(mount.run(*words).stdout)
        ensure(_status(tier.folder)["made"] > 0, "no call came to the tier")
    # A replica's record may take a block of its own.
    through["holes"][2] -= 8 if through["holes"][2] == plain["holes"][2] + 8 else 0
    # The file's st_ctime moves when a replica is moved to it, and not with a write to the replica.
    through["change_times"][0] = True
    wrong = {
        name: (found, through[name])
        for name, found in plain.items()
        if through[name] != found and through[name] != mo.DIFFERENT.get(name)
    }
    ensure(not wrong, f"below and through the tier: {wrong}")


STATIC = r"""
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    int file = open(words[1], O_CREAT | O_TRUNC | O_WRONLY, 0644);
    char line[4096];
    memset(line, 'c', sizeof line);
    for (int i = 0; i < 1000; ++i)
        if (write(file, line, sizeof line) != sizeof line) return 1;
    return count == 2 && close(file) == 0 ? 0 : 2;
}
"""

MAPPER = """
import mmap, sys
with open(sys.argv[1], "w+b") as file:
    file.truncate(3 << 20)
    with mmap.mmap(file.fileno(), 3 << 20) as pages:
        for at in range(0, 3 << 20, 4096):
            pages[at : at + 3] = b"map"
"""


def test_programs_of_every_kind_write_to_replicas(tier: Tier, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_bytes(_bytes(5 * MIB + 17))
    program = tmp_path / "program"
    (tmp_path / "program.c").write_text(STATIC)
    mo.run_in(tmp_path, "cc", "-O1", "-static", "-o", str(program), "program.c")
    expected = {
        "shell": b"one\ntwo\n" * 100,
        "copied": given.read_bytes(),
        "dd": given.read_bytes(),
        "static": b"c" * 4096 * 1000,
        "mapped": (b"map" + bytes(4093)) * 768,
    }
    with tier.started(KEPT) as mount:
        mount.run("sh", "-c", "for i in $(seq 100); do echo one >> shell; echo two >> shell; done")
        mount.run("cp", str(given), "copied")
        mount.run("dd", f"if={given}", "of=dd", "bs=7k", "status=none")
        mount.run(str(program), "static")
        mount.run(sys.executable, "-c", MAPPER, "mapped")
        for name, content in expected.items():
            ensure((tier.folder / name).read_bytes() == content, f"{name} is wrong meanwhile")
            ensure(_state(tier.folder / name) == "dirty", f"{name} did not come to the tier")
            ensure(mount.below(name).stat().st_size == 0, f"{name} was written below")
        _order(tier.folder, "move")
        _stop(mount)
    for name, content in expected.items():
        ensure((tier.folder / name).read_bytes() == content, f"{name} is wrong afterwards")


@needs_root
def test_a_loop_over_more_files_than_fit_evicts_nothing(small_tier: Tier) -> None:
    """Four programs read twice as much as fast storage has, again and again: what is there stays,
    and the rest is read from the files themselves."""
    contents = {f"file.{one}": _bytes(MIB, one) for one in range(16)}
    for name, content in contents.items():
        (small_tier.folder / name).write_bytes(content)
    with small_tier.started("preload"):

        def read(names: Sequence[str]) -> bool:
            return all((small_tier.folder / one).read_bytes() == contents[one] for one in names)

        with ThreadPoolExecutor(4) as readers:
            parts = [sorted(contents)[one::4] * 3 for one in range(4)]
            ensure(all(readers.map(read, parts)), "a file has other bytes")
        status = _status(small_tier.folder)
        ensure(status["evicted"] == 0, f"replicas went: {status}")
        ensure(3 <= status["filled"] <= 7, f"not as many as fit: {status}")
        ensure(not any(Path(small_tier.fast, "new").iterdir()), "a fill was given up, and stays")


@needs_root
def test_the_coldest_leave_where_fast_storage_is_full(small_tier: Tier) -> None:
    """The moved files that were used least leave fast storage; none that is in use does."""
    files = [small_tier.folder / f"file.{one}" for one in range(8)]
    with small_tier.started("write"):
        for one, file in enumerate(files[:7]):
            file.write_bytes(_bytes(MIB, one))
        _until_moved(small_tier.folder)
        for _ in range(3):
            ensure(files[0].read_bytes() == _bytes(MIB, 0), "it has other bytes")
        with files[1].open("rb"):
            files[7].write_bytes(_bytes(MIB, 7))
            gone = [_state(file) == "none" for file in files[:7]]
            ensure(not gone[0], "the one that was used most has left")
            ensure(not gone[1], "one that is open has left")
            ensure(gone[2] and gone[3], f"the coldest stay: {gone}")
            ensure(not any(gone[5:]), f"more have left than need to: {gone}")
        for one, file in enumerate(files):
            ensure(file.read_bytes() == _bytes(MIB, one), f"{file.name} has other bytes")


def test_the_end_moves_what_waits_for_the_job(tier: Tier) -> None:
    with tier.started("write move=job") as mount:
        (tier.folder / "x").write_bytes(_bytes(MIB))
        ensure(_status(tier.folder)["waiting"] == 1, "it did not wait")
        _stop(mount)
    ensure((tier.folder / "x").read_bytes() == _bytes(MIB), "it was not moved")


def test_what_a_policy_leaves_to_the_user_is_named_at_the_end(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(b"new")
        said = _stop(mount, NOT_MOVED)
    ensure(f"{tier.folder}/x is not moved" in said, said)
    tier.tool("sync", str(tier.fast), str(tier.folder), str(tier.folder / "x"))
    ensure((tier.folder / "x").read_bytes() == b"new", "it was not moved by hand")


def test_a_file_moves_after_the_last_close(tier: Tier) -> None:
    with tier.started() as mount:
        with (tier.folder / "x").open("wb") as file:
            file.write(_bytes(MIB))
            file.flush()
            ensure(mount.below("x").stat().st_size == 0, "it was moved while it was written")
        _until_moved(tier.folder)
        ensure(mount.below("x").read_bytes() == _bytes(MIB), "the file lacks bytes")
        ensure(_state(tier.folder / "x") == "clean", "the replica is gone")


def test_stat_is_right_from_the_first_write(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        file = tier.folder / "x"
        file.write_bytes(_bytes(MIB))
        ensure(file.stat().st_size == MIB, "its size is that below")
        ensure(file.stat().st_blocks * 512 >= MIB, "its blocks are those below")
        ensure(mount.below("x").stat().st_size == 0, "it was written below")
        os.utime(file, (1e9, 1e9))
        ensure(file.stat().st_mtime == 1e9, "its time cannot be set")
        os.truncate(file, 1000)
        ensure(file.stat().st_size == 1000, "truncation went elsewhere")
        os.utime(file, (1e9, 1e9))
        file.chmod(0o640)
        _order(file, "move")
        _stop(mount)
    found = (tier.folder / "x").stat()
    ensure((found.st_size, found.st_mtime) == (1000, 1e9), f"afterwards {found}")
    ensure(found.st_mode & 0o777 == 0o640, "its mode")


def test_names_change_and_replicas_follow(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        folder = tier.folder / "a"
        folder.mkdir()
        (folder / "x").write_bytes(b"x" * 100)
        (folder / "y").write_bytes(b"y" * 100)
        (folder / "gone").write_bytes(b"z" * 100)
        (folder / "x").rename(folder / "x2")
        folder.rename(tier.folder / "b")
        (tier.folder / "b" / "gone").unlink()
        ensure(len(tier.replicas()) == 2, "the replica of a removed file is kept")
        (tier.folder / "b" / "x2").replace(tier.folder / "b" / "y")
        ensure(len(tier.replicas()) == 1, "the replica of a replaced file is kept")
        ensure((tier.folder / "b" / "y").read_bytes() == b"x" * 100, "another file's bytes")
        _order(tier.folder, "move")
        _stop(mount)
    ensure((tier.folder / "b" / "y").read_bytes() == b"x" * 100, "it was moved elsewhere")
    ensure(not tier.rescued(), "something was rescued")


def test_an_open_file_that_is_removed_is_used_to_its_end(tier: Tier) -> None:
    with tier.started() as mount:
        with (tier.folder / "x").open("w+b") as file:
            file.write(b"before")
            file.flush()
            (tier.folder / "x").unlink()
            file.write(b" after")
            file.seek(0)
            ensure(file.read() == b"before after", "its bytes")
        ensure(until(lambda: not tier.replicas(), mo.SECONDS_MAX), "its replica is kept")
        _stop(mount)


def test_a_file_with_two_names_may_lose_one(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(b"x" * 100)
        (tier.folder / "y").hardlink_to(tier.folder / "x")
        (tier.folder / "x").unlink()
        ensure((tier.folder / "y").read_bytes() == b"x" * 100, "its bytes")
        _stop(mount)
    ensure((tier.folder / "y").read_bytes() == b"x" * 100, "its bytes afterwards")
    ensure(not tier.rescued(), "it was not found, and rescued")


def test_numbers_of_removed_files_are_used_again(tier: Tier) -> None:
    """A file system gives a new file the inode number of a removed one."""
    with tier.started(KEPT) as mount:
        numbers = set()
        for one in range(20):
            file = tier.folder / "x"
            with file.open("w+b") as opened:
                opened.write(b"%d" % one)
                numbers.add(file.stat().st_ino)
                if one % 2:
                    file.unlink()
            if one % 2 == 0:
                ensure(file.read_bytes() == b"%d" % one, "its bytes")
                ensure(_state(file) == "dirty", f"round {one}: it has no replica")
                file.unlink()
        ensure(
            until(lambda: not tier.replicas(), mo.SECONDS_MAX), "replicas of removed files are kept"
        )
        ensure(len(numbers) < 20, "no number was used again")
        _stop(mount)


def test_a_change_of_attributes_leaves_a_replica_as_it_is(tier: Tier) -> None:
    file = tier.folder / "x"
    file.write_bytes(_bytes(MIB))
    os.utime(file, (1e9, 1e9))  # one that was changed just now would be compared all the same
    with tier.started("preload") as mount:
        ensure(file.read_bytes() == _bytes(MIB), "its bytes")
        file.chmod(0o640)
        os.setxattr(file, "user.mine", b"1")
        file.rename(tier.folder / "y")
        (tier.folder / "z").hardlink_to(tier.folder / "y")
        # Different bytes, which a comparison would find: it must not be made.
        tier.replicas()[0].write_bytes(b"*" * MIB)
        ensure((tier.folder / "y").read_bytes() == b"*" * MIB, "the replica was compared")
        ensure(_status(tier.folder)["evicted"] == 0, "the replica was dropped")
        _stop(mount)


def test_a_file_whose_newest_bytes_are_gone_is_not_read(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(b"new")
        (tier.folder / "y").write_bytes(b"new")
        _stop(mount, NOT_MOVED)
    for replica in tier.replicas():
        replica.unlink()
    with tier.started("off") as mount:
        with pytest.raises(OSError, match="Input/output"):
            (tier.folder / "x").read_bytes()
        (tier.folder / "y").write_bytes(b"newer")
        ensure((tier.folder / "y").read_bytes() == b"newer", "it cannot be written anew")
        said = _stop(mount)
    ensure(f"cannot open {tier.folder}/x (the replica with its newest bytes is gone)" in said, said)


def test_an_existing_file_is_written_in_place(tier: Tier) -> None:
    (tier.folder / "x").write_bytes(b"old" * 1000)
    with tier.started("write preload") as mount:
        ensure((tier.folder / "x").read_bytes() == b"old" * 1000, "reading")
        ensure(_state(tier.folder / "x") == "clean", "it was not preloaded")
        with (tier.folder / "x").open("r+b") as file, (tier.folder / "x").open("rb") as reader:
            file.write(b"new")
            file.flush()
            ensure(reader.read(6) == b"newold", "a reader sees old bytes")
        ensure(mount.below("x").read_bytes()[:6] == b"newold", "it was not written in place")
        ensure((tier.folder / "x").read_bytes()[:6] == b"newold", "an old replica was read")
        _stop(mount)


def test_a_large_file_is_read_from_its_replica_once_it_is_filled(tier: Tier) -> None:
    content = _bytes(6 * MIB)
    (tier.folder / "x").write_bytes(content)
    with tier.started("preload") as mount:
        ensure((tier.folder / "x").read_bytes() == content, "while it is filled")
        ensure(until(lambda: len(tier.replicas()) == 1, mo.SECONDS_MAX), "it is not filled")
        replica = tier.replicas()[0]
        ensure(replica.read_bytes() == content, "the replica")
        until(lambda: _status(tier.folder)["filled"] == 1, mo.SECONDS_MAX)
        ensure((tier.folder / "x").read_bytes() == content, "from the replica")
        _stop(mount)


def test_folders_have_policies(tier: Tier) -> None:
    for name in ("on", "off", "on/off"):
        (tier.folder / name).mkdir()
    tier.tool("policy", "set", str(tier.folder / "on"), "write", "move=manual", "except=*.tmp")
    tier.tool("policy", "set", str(tier.folder / "on" / "off"), "off")
    with tier.started("off") as mount:
        for name in ("x", "on/x", "on/x.tmp", "on/off/x"):
            (tier.folder / name).write_bytes(b"new")
        states = {
            name: _state(tier.folder / name) for name in ("x", "on/x", "on/x.tmp", "on/off/x")
        }
        _order(tier.folder, "move")
        _stop(mount)
    expected = {"x": "none", "on/x": "dirty", "on/x.tmp": "none", "on/off/x": "none"}
    ensure(states == expected, f"{states}")


def test_copies_get_no_marks_of_the_tier(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        file, copy = tier.folder / "x", tier.folder / "copy"
        file.write_bytes(b"1" * 1000)
        os.setxattr(file, "user.mine", b"kept")
        mount.run("cp", "-a", "x", "copy")
        ensure(os.listxattr(copy) == ["user.mine"], f"the copy has {os.listxattr(copy)}")
        with pytest.raises(OSError, match="not permitted"):
            os.setxattr(file, "user.forebay.tier", b"mine")
        ensure(copy.read_bytes() == b"1" * 1000, "the copy")
        _order(tier.folder, "move")
        _stop(mount)


@needs_root
@pytest.mark.parametrize("how", ["write", "mapped", "fallocate", "append", "copied"])
def test_a_full_fast_place_is_no_error(small_tier: Tier, tmp_path: Path, how: str) -> None:
    content = _bytes(20 * MIB, 2)
    given = tmp_path / "given"
    given.write_bytes(content)
    with small_tier.started("write move=job") as mount:
        (small_tier.folder / "other").write_bytes(content[: 3 * MIB])
        file = small_tier.folder / "x"
        if how == "write":
            mount.run("dd", f"if={given}", "of=x", "bs=1M", "status=none")
        elif how == "append":
            mount.run(
                "sh", "-c", f"head -c {10 * MIB} {given} >> x; tail -c +{10 * MIB + 1} {given} >> x"
            )
        elif how == "copied":
            mount.run("sh", "-c", f"cat {given} > y && cp y x && rm y")
        else:
            with file.open("w+b") as opened:
                if how == "fallocate":
                    os.posix_fallocate(opened.fileno(), 0, 20 * MIB)
                for at in range(0, 20 * MIB, MIB):
                    opened.write(content[at : at + MIB])
        ensure(file.read_bytes() == content, "its bytes meanwhile")
        ensure(_status(small_tier.folder)["given_up"] > 0, "the fast place was not full")
        _stop(mount)
    ensure(file.read_bytes() == content, "its bytes afterwards")
    ensure((small_tier.folder / "other").read_bytes() == content[: 3 * MIB], "the other file")


def test_a_file_that_was_changed_outside_is_not_written_over(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(b"ours")
        mount.below("x").write_bytes(b"theirs, later")
        with pytest.raises(OSError, match="Input/output"):
            _order(tier.folder / "x", "move")
        ensure((tier.folder / "x").read_bytes() == b"theirs, later", "theirs is lost")
        said = _stop(mount)
    kept = tier.rescued()
    ensure([one.read_bytes() for one in kept] == [b"ours"], "ours is lost")
    ensure(f"{tier.folder}/x was changed by somebody else" in said and str(kept[0]) in said, said)


def test_a_replica_of_a_file_that_was_changed_outside_is_not_read(tier: Tier) -> None:
    with tier.started() as mount:
        (tier.folder / "x").write_bytes(b"ours")
        _until_moved(tier.folder)
        below = mount.below("x")
        below.write_bytes(b"new!")
        ensure((tier.folder / "x").read_bytes() == b"new!", "old bytes are read")
        (tier.folder / "y").write_bytes(b"ours")
        _until_moved(tier.folder)
        with (tier.folder / "y").open("rb") as opened:
            ensure(opened.read() == b"ours", "the first reader")
            mount.below("y").write_bytes(b"new!!")
            ensure((tier.folder / "y").read_bytes() == b"new!!", "a later reader has old bytes")
        ensure(not tier.rescued(), "a clean replica was rescued")
        _stop(mount)


def test_a_killed_tier_is_finished_by_the_tool(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(_bytes(MIB))
        mount.process.kill()
        mount.process.wait()
        mo.unmount(tier.folder)
    ensure((tier.folder / "x").stat().st_size == 0, "it was moved")
    # The list is made again.
    for one in tier.fast.glob("list.sqlite*"):
        one.unlink()
    tier.tool("finish", str(tier.fast), str(tier.folder))
    ensure((tier.folder / "x").read_bytes() == _bytes(MIB), "the bytes are lost")


def test_a_tier_goes_on_where_a_killed_one_ended(tier: Tier) -> None:
    with tier.started(KEPT) as mount:
        (tier.folder / "x").write_bytes(_bytes(MIB))
        mount.process.kill()
        mount.process.wait()
        mo.unmount(tier.folder)
    with tier.started() as mount:
        ensure((tier.folder / "x").read_bytes() == _bytes(MIB), "the newest bytes are not read")
        _stop(mount)
    ensure((tier.folder / "x").read_bytes() == _bytes(MIB), "they are not moved")


@pytest.mark.parametrize(
    "seed",
    [*range(FEW_KILLS), *(pytest.param(some, marks=FULL) for some in range(FEW_KILLS, KILLS))],
)
def test_a_kill_loses_nothing_that_was_acknowledged(tier: Tier, seed: int) -> None:
    """The writer keeps a ledger elsewhere: what each file has, once it was synced or closed."""
    ledger = tier.root / "ledger"
    with tier.started("write" if seed % 2 else "write move=idle:1s") as mount:
        words = [sys.executable, str(LEDGER_WRITER), str(tier.folder), str(ledger), str(seed)]
        writer = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        lines = random.Random(seed).randrange(3, 60)
        until(lambda: ledger.exists() and ledger.read_text().count("\n") >= lines, 60)
        mount.process.kill()
        writer.kill()  # it would go on below the mount once that is gone, as somebody else
        mount.process.wait()
        mo.until_unmounted(tier.folder)
        writer.wait()
    tier.tool("finish", str(tier.fast), str(tier.folder))
    ensure(not tier.rescued(), "something was rescued, though nobody else wrote")
    book = [json.loads(line) for line in ledger.read_text().splitlines()]
    ensure(book, "nothing was written before the kill")
    for one in book:
        found = (tier.folder / one["name"]).read_bytes()
        ensure(found == random.Random(one["seed"]).randbytes(one["bytes"]), f"{one}: {len(found)}")
    log = (tier.folder / "log").read_text().splitlines()
    ensure(log[: len(book)] == [str(one["seed"]) for one in book], f"the log has {len(log)} lines")


def test_a_second_tier_on_one_fast_place_is_refused(tier: Tier) -> None:
    other = tier.root / "other"
    other.mkdir()
    with tier.started() as mount:
        words = [str(mo.PROGRAM), *tier.options("write"), str(other)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=180, check=False)
        ensure(done.returncode == 1 and "another process has it" in done.stderr, done.stderr)
        _stop(mount)


def test_a_fast_place_within_the_folder_is_refused(tier: Tier) -> None:
    inner = tier.folder / "fast"
    inner.mkdir(mode=0o700)
    words = [str(mo.PROGRAM), "--fast", str(inner), str(tier.folder)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=180, check=False)
    ensure(done.returncode == 1 and "one is within the other" in done.stderr, done.stderr)


@needs_root
def test_a_fast_place_of_another_user_is_refused(tier: Tier) -> None:
    with ordinary_user() as user:
        folder = user.new_folder("files")
        done = user.run(mo.PROGRAM, *tier.options("write"), folder, check=False)
        ensure(done.returncode == 1 and "cannot" in done.stderr, done.stdout + done.stderr)


def test_direct_io_works(tier: Tier, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_bytes(_bytes(MIB))
    with tier.started(KEPT) as mount:
        mount.run("dd", f"if={given}", "of=x", "bs=64k", "oflag=direct", "status=none")
        mount.run("dd", "if=x", "of=y", "bs=64k", "iflag=direct", "status=none")
        ensure(_state(tier.folder / "x") == "dirty", "it did not come to the tier")
        _order(tier.folder, "move")
        _stop(mount)
    ensure((tier.folder / "y").read_bytes() == given.read_bytes(), "its bytes")


def test_files_without_policy_leave_no_trace(tier: Tier) -> None:
    with tier.started("off") as mount:
        (tier.folder / "x").write_bytes(b"plain")
        ensure(_status(tier.folder)["made"] == 0 and not tier.replicas(), "a replica was made")
        ensure(mount.below("x").read_bytes() == b"plain", "it was not written below")
        _stop(mount)
    ensure(not os.listxattr(tier.folder / "x"), "it has marks of the tier")
