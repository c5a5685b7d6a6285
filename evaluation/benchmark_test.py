"""Tests the command line of the benchmarks whose parts are chosen by name."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.benchmark import Benchmark, Part, parse, run_benchmark
from evaluation.mount.__main__ import BENCHMARK as MOUNT
from evaluation.output.__main__ import BENCHMARK as OUTPUT
from evaluation.pool.__main__ import BENCHMARK as POOL
from evaluation.pool.places import PLACE_NAMES
from evaluation.tables import TextTable
from evaluation.tier.__main__ import BENCHMARK as TIER

ALL = (MOUNT, OUTPUT, POOL, TIER)


def _table(prepared: str, chosen: argparse.Namespace) -> TextTable:
    row = (prepared, ",".join(chosen.on), str(chosen.pairs), str(chosen.size))
    return TextTable(
        title="What was chosen", header=("prepared", "on", "pairs", "size"), rows=(row,)
    )


SOME = Benchmark[str](
    name="some",
    description="Measures nothing.",
    prepare=lambda folder: "yes" if folder.is_dir() else "no",
    parts={
        "anywhere": Part(measure=_table, on=("fuse", "tmpfs")),
        "here": Part(measure=_table),
    },
    add_options=lambda parser: _add_size(parser),
    quick={"size": 1},
)


def _add_size(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=int, default=100)


def _row(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert run_benchmark(SOME, words) == 0
    return capsys.readouterr().out.splitlines()[-1].strip("| ").split(" | ")


def test_a_part_has_its_usual_file_systems_or_those_that_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _row(capsys, "anywhere") == ["yes", "fuse,tmpfs", "6", "100"]
    assert _row(capsys, "anywhere", "--on", "disk,loop") == ["yes", "disk,loop", "6", "100"]


def test_quick_changes_defaults_and_not_what_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert _row(capsys, "here", "--quick") == ["yes", "", "1", "1"]
    assert _row(capsys, "here", "--quick", "--size", "7", "--pairs", "2") == ["yes", "", "2", "7"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere",), "invalid choice: 'nowhere'"),
        (("here", "--on", "tmpfs"), "here has a place of its own"),
        (("anywhere", "--on", "floppy"), "No file system floppy (known are limited50,"),
        (("anywhere", "--on", "ceph"), "Name it with --ceph"),
        (("anywhere", "--pairs", "0"), "--pairs below 1"),
    ],
)
def test_what_cannot_be_measured_is_said_before(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run_benchmark(SOME, words)
    assert message in capsys.readouterr().err


def test_a_report_is_printed_and_put_into_a_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bench:some_here -->\nold\n<!-- /bench:some_here -->\nafter\n")
    assert run_benchmark(SOME, ["here", "--format", "json", "--docs", str(page)]) == 0
    told = json.loads(capsys.readouterr().out)
    command = f"python -m evaluation.some here --format json --docs {page}"
    assert told["schema"] == "forebay.bench_tables/1"
    assert told["circumstances"]["command"] == command
    assert told["circumstances"]["machine"]["cores"] >= 1
    (table,) = told["tables"]
    assert table["rows"] == [["yes", "", "6", "100"]]
    text = page.read_text()
    assert "old" not in text
    for part in ("before", command, "Commit `", "load before ", "**What was chosen**", "after"):
        assert part in text


def test_a_document_without_a_place_is_told_of_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    for expected in (f"No document {page}", "No place for some_here"):
        assert run_benchmark(SOME, ["here", "--docs", str(page)]) == 1
        said = capsys.readouterr()
        assert expected in said.err
        assert said.out == ""
        page.write_text("no markers\n")


@pytest.mark.parametrize("benchmark", ALL, ids=lambda one: str(one.name))
def test_each_benchmark_describes_its_parts_and_knows_the_options_that_quick_changes(
    benchmark: Benchmark[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, part in benchmark.parts.items():
        assert f"\n{name} " in benchmark.description or f"\n{name}\n" in benchmark.description
        assert set(part.on) <= set(PLACE_NAMES)
        usual, quick = (vars(parse(benchmark, [name, *more])) for more in ([], ["--quick"]))
        changed = {key for key in usual if usual[key] != quick[key]}
        assert changed == {"quick", "pairs", *benchmark.quick}
    with pytest.raises(SystemExit, match="0"):
        run_benchmark(benchmark, ["--help"])
    assert "exit status: 0 done" in capsys.readouterr().out
