"""Tests what the measurements of the mount compute and make, without a mount."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.mount import costs, fast, languages, loads, served, start
from evaluation.mount.__main__ import BENCHMARK
from evaluation.pool.places import ROOT

SIZES = replace(loads.QUICK, files=7, cloned=3, sources=2, commits=1, transactions=2)
PAGE = ROOT / "docs" / "performance" / "mount.md"


@pytest.fixture(scope="module")
def everyday(tmp_path_factory: pytest.TempPathFactory) -> dict[str, loads.TimedLoad]:
    """All loads but pgbench, of small sizes."""
    sources = loads.make_sources(tmp_path_factory.mktemp("sources"), SIZES)
    return {load.name: load for load in loads.everyday(SIZES, sources)}


def test_exposed_time_is_what_each_way_takes_longer_than_one_that_writes_nothing() -> None:
    plain, mounted = fast.exposed([[2.0, 5.0, 2.5], [3.0, 5.0, 3.25]])
    assert plain == [3.0, 2.0]
    assert mounted == [0.5, 0.25]


def test_no_exposed_time_is_a_millisecond_so_that_ratios_exist() -> None:
    (mounted,) = fast.exposed([[2.0, 1.9]])
    assert mounted == [fast.EXPOSED_S_MIN]


@pytest.mark.parametrize(
    ("unit", "per", "seconds", "text"),
    [
        ("s", 1, 12.345, "12.35"),
        ("ms a file", 4000, 0.4, "0.100"),
        ("µs a call", 1, 14.1e-6, "14.10"),
        ("MB/s", 512e6, 0.25, "2048"),
    ],
)
def test_seconds_are_shown_in_the_unit_of_the_row(
    unit: str, per: float, seconds: float, text: str
) -> None:
    load = loads.TimedLoad(name="some", command=(), shown_in=unit, per=per)
    assert loads.shown(load, seconds) == text


def test_what_is_asked_depends_on_the_file_system() -> None:
    load = loads.TimedLoad(name="some", command=(), asked_in_memory="this", asked_on_disk="that")
    assert loads.asked(load, in_memory=True) == "this"
    assert loads.asked(load, in_memory=False) == "that"
    assert loads.asked(replace(load, asked="both"), in_memory=False) == "both"


def test_every_load_does_its_work_in_an_empty_folder(
    everyday: dict[str, loads.TimedLoad], tmp_path: Path
) -> None:
    for number, load in enumerate(everyday.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        load.prepare(folder)
        assert loads.run(load, folder) > 0, load.name
        assert any(folder.iterdir()), load.name


def test_a_load_that_fails_is_named(tmp_path: Path) -> None:
    load = loads.TimedLoad(name="some work", command=("sh", "-c", "echo why >&2; exit 3"))
    with pytest.raises(RuntimeError, match=r"some work ended with 3: why"):
        loads.run(load, tmp_path)


def test_the_archive_has_small_files_of_two_kilobytes(tmp_path: Path) -> None:
    sources = loads.make_sources(tmp_path, SIZES)
    with tarfile.open(sources.tar) as archive:
        sizes = [member.size for member in archive if member.isfile()]
    assert sizes == [loads.SMALL_BYTES] * SIZES.files


@pytest.mark.parametrize("name", ["prog > file", "prog >> file", "dd bs=1M", "cp", "appending C"])
def test_a_program_writes_all_its_steps_and_nothing_beside_the_null_device(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "_languages", lambda _: ())
    compiled, written = tmp_path / "compiled", tmp_path / "written"
    for folder in (compiled, written):
        folder.mkdir()
    found, _ = languages.outputs(compiled, mebibytes=1)
    (command,) = (one.command for one in found if one.name == name)
    for target in ("/dev/null", str(written / "out")):
        assert not list(written.iterdir())
        subprocess.run([*command, target, "2", "1", "1"], cwd=written, check=True)
    assert sum(path.stat().st_size for path in written.iterdir()) == 2 * languages.MIB


def test_a_language_without_its_compiler_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        languages,
        "_languages",
        lambda _: (
            languages.CompiledLanguage(name="Some", compiler="no-such", words=(), command=()),
        ),
    )
    found, left_out = languages.outputs(tmp_path, mebibytes=1)
    assert "Some (no no-such)" in left_out
    assert "Some" not in [one.name for one in found]


def test_processor_time_is_that_of_the_program_with_its_children(tmp_path: Path) -> None:
    busy = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(10**6))'])"
    one = start._started([sys.executable, "-c", busy], tmp_path)
    assert one.processor_s > 0
    with pytest.raises(RuntimeError, match="ended with 1"):
        start._started([sys.executable, "-c", "raise ValueError"], tmp_path)


def test_a_folder_is_not_a_mount(tmp_path: Path) -> None:
    assert not served.is_mounted(tmp_path)
    assert served.is_mounted(Path("/proc"))


def test_a_time_is_taken_in_a_new_folder_that_is_gone_behind(tmp_path: Path) -> None:
    load = loads.TimedLoad(name="some", command=("touch", "file"))
    assert costs.timed(load, tmp_path, through=costs.plain) > 0
    assert not list(tmp_path.iterdir())


def test_the_page_has_a_place_for_each_table() -> None:
    for part in BENCHMARK.parts:
        assert f"<!-- bench:{BENCHMARK.marker(part)} -->" in PAGE.read_text()
