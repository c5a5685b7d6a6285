"""The tables of docs/internals/simulation.md come from here: every row has a shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.simulated import Run, Settings, size

ROOT = Path(__file__).resolve().parents[1]


def imagined(platform: str, variant: str, settings: Settings) -> Callable[[], Run]:
    """A run that took no time."""
    ranks = settings["nodes"] * settings["ranks_per_node"]
    said = {"seconds": 1.0, "bytes": 1, "messages": 0, "targets": 0, "ranks": int(ranks)}
    return lambda: Run(said=said, wall_seconds=0.0, peak_bytes=0)


def test_every_row_about_size_can_be_simulated_anew(capsys: pytest.CaptureFixture[str]) -> None:
    size(imagined)
    text = (ROOT / "docs" / "internals" / "simulation.md").read_text(encoding="utf-8")
    _, _, chapter = text.partition("\n## Size\n")
    rows = r"^\| (\d+) \| (\d+) \|"
    told = re.findall(rows, chapter, re.MULTILINE)
    assert told
    assert set(told) <= set(re.findall(rows, capsys.readouterr().out, re.MULTILINE))
