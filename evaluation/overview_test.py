"""Tests that the overview agrees with the tables, and that the committed one is up to date."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from evaluation import overview
from evaluation.model import BenchError

DOCS = Path(__file__).parent.parent / "docs"
TABLE = """\
**Interleaved regions on disk: Forebay**

| pattern | ranks | op | best incumbent | its MiB/s | Forebay's best MiB/s | MPICH 5.0.2 | \
Open MPI 4.1.4 | with open, sync, close | of limit | asked |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| 256 B c | 4 | write | MPICH 4.0.2 | 100 (90-110) | 400 (1-2) on Open MPI 4.1.4 | 3.00 (n=1) ~ | \
4.00 [3.50, 4.60] ✓ | 2.00 | 78 % of 5272 | ≥ 2.00× |
| 256 B nc | 8 | write | MPICH 4.0.2 | 50 | 100 on MPICH 5.0.2 | 2.00 (1.90-2.10, n=2) ✓ | - | - | \
71 % of 5272 | ≥ 2.00× |

**Interleaved regions on disk: incumbents, MiB/s**

| pattern | ranks | op | MPICH 4.0.2 |
| --- | --- | --- | --- |
| 256 B c | 4 | write | **100 (90-110)** |
"""


def test_a_ratio_is_of_the_mpi_that_was_the_fastest_with_forebay() -> None:
    first, second = overview.measured(TABLE)
    assert (first.ratio, first.low, first.high) == (4.0, 3.5, 4.6)
    assert (second.ratio, second.low, second.high) == (2.0, 1.9, 2.1)
    assert (first.incumbent, first.ours, first.share, first.storage) == (100, 400, 78, "disk")


def test_rows_that_differ_in_memory_alone_become_one() -> None:
    (row,) = overview.speed_table(list(overview.measured(TABLE))).rows
    assert row == ("256 B regions, interleaved", "write", "50.0 – 100", "100 – 400",
                   "2.00 – 4.00", "71 – 78 %")  # fmt: skip


def test_the_committed_overview_is_made_of_the_committed_tables(tmp_path: Path) -> None:
    folder = shutil.copytree(DOCS, tmp_path / "docs")
    overview.write(folder)
    for name in ("performance.md", "performance.svg"):
        made, committed = (f / name for f in (folder, DOCS))
        assert made.read_text() == committed.read_text(), (
            f"{name}: run python -m evaluation.overview"
        )


def test_the_picture_has_a_dot_for_every_measurement() -> None:
    picture = ElementTree.fromstring((DOCS / "performance.svg").read_text())
    dots = [one for one in picture.iter() if one.tag.endswith("circle")]
    texts = [(DOCS / "performance" / f"{name}.md").read_text() for name in overview.SUITES]
    assert len(dots) == 2 + sum(1 for text in texts for _ in overview.measured(text))  # legend: 2


def test_no_table_is_said(tmp_path: Path) -> None:
    (tmp_path / "performance").mkdir()
    for name in (*overview.SUITES, "memory", "open_close"):
        (tmp_path / "performance" / f"{name}.md").write_text("nothing")
    with pytest.raises(BenchError, match="No table"):
        overview.overview(tmp_path)
