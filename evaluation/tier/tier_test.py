"""Tests what the measurements of a tier compute and make; with a tier, if one can be mounted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from evaluation.mount.served import PROGRAM
from evaluation.tier import catalogue, requests, whole_files
from evaluation.tier.tiers import tier

needs_tier = pytest.mark.skipif(
    os.geteuid() != 0 or not PROGRAM.exists() or not Path("/dev/fuse").exists(),
    reason="no forebay-mount, /dev/fuse or root. Be root.",
)


def test_the_table_has_what_was_promised() -> None:
    """+55 and +141 %, +163 and +209 %, × 3.6 and × 1.3."""
    asked = {(one.rw, one.shared): one.asked for one in requests.TABLE}
    assert asked == {
        ("read", False): 1.55, ("write", False): 2.41,
        ("randread", False): 2.63, ("randwrite", False): 3.09,
        ("write", True): 3.6, ("read", True): 1.3,
    }  # fmt: skip


def test_a_row_has_speeds_ratios_and_times_until_all_is_safe() -> None:
    amount = requests.Amount(processes=4, mebibytes=1000)
    times = [requests.Timed(done_s=done, safe_s=2 * done) for done in (8.0, 2.0, 1.0)]
    row = requests._row(requests.TABLE[0], amount, [times])
    name, processes, slow, tiered, fast, by_slow, asked, by_fast, safe_slow, safe_tier = row
    assert (name, processes) == ("128 KiB sequential write", "4")
    assert (slow, tiered, fast) == ("131", "524", "1049")
    assert by_slow.startswith("4.00")
    assert by_fast.startswith("0.50")
    assert (asked, safe_slow, safe_tier) == ("≥ 2.41", "16.0", "4.00")


@needs_tier
def test_replicas_that_are_made_by_hand_are_those_of_a_tier(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "global"
    folder.mkdir()
    files = catalogue.make(folder, tmp_path / "fast", 5)
    with tier(folder, tmp_path / "fast", "write") as mounted:
        assert mounted.status()["replicas"] == len(files) == 5
        assert mounted.resident_bytes() > 0
        assert catalogue.lookup_seconds(files) > 0
        for replica in (tmp_path / "fast" / "replicas").iterdir():
            replica.write_bytes(b"*")
        assert files[0].read_bytes() == b"*"  # it is what is read


@needs_tier
def test_the_tool_says_what_it_took(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "global"
    folder.mkdir()
    files = catalogue.make(folder, tmp_path / "fast", 5)
    places = (str(tmp_path / "fast"), str(folder))
    for words in (("status", *places), ("stat", *places, *map(str, files))):
        took = catalogue.run_tool(*words)
        assert took.seconds > 0
        assert took.resident_bytes > 1_000_000
    with pytest.raises(RuntimeError, match="forebay-tier stat ended with 1"):
        catalogue.run_tool("stat", *places, str(folder / "none"))


@needs_tier
@pytest.mark.skipif(shutil.which("fio") is None, reason="no fio. Install it.")
def test_fio_makes_one_file_or_one_for_each_process(tmp_path: Path) -> None:
    amount = requests.Amount(processes=2, mebibytes=2)
    for one, count in ((requests.TABLE[0], 2), (requests.TABLE[4], 1)):
        folder = tmp_path / str(count)
        folder.mkdir()
        assert requests.fio(one, amount, folder) > 0
        sizes = [file.stat().st_size for file in folder.iterdir()]
        assert len(sizes) == count
        assert sum(sizes) == 2 * requests.MIB


def test_files_have_the_size_that_they_are_called_by(tmp_path: Path) -> None:
    files = whole_files.Files(count=2, mebibytes=1)
    assert files.name == "2 of 1 MiB"
    if os.geteuid() == 0:
        assert [path.stat().st_size for path in files.make(tmp_path)] == [whole_files.MIB] * 2
