"""Tests that every row of the tables in docs/internals/simulation.md can be simulated again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.simulated import Run, Runner, Settings, size
from forebay.common.model.errors import SimulationError

ROOT = Path(__file__).resolve().parents[1]


def imagined(platform: str, variant: str, settings: Settings) -> Callable[[], Run]:
    """A run that took no time."""
    ranks = settings["nodes"] * settings["ranks_per_node"]
    said = {"seconds": 1.0, "bytes": 1, "messages": 0, "targets": 0, "ranks": int(ranks)}
    return lambda: Run(said=said, wall_seconds=0.0, processor_seconds=0.0, peak_bytes=0)


def test_every_row_about_size_can_be_simulated_anew(capsys: pytest.CaptureFixture[str]) -> None:
    size(imagined)
    text = (ROOT / "docs" / "internals" / "simulation.md").read_text(encoding="utf-8")
    _, _, chapter = text.partition("\n## Size\n")
    rows = r"^\| (\d+) \| (\d+) \|"
    told = re.findall(rows, chapter, re.MULTILINE)
    assert told
    assert set(told) <= set(re.findall(rows, capsys.readouterr().out, re.MULTILINE))


def run_instead(script: str, *, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The Runner's result if the simulator is the shell script `script`."""
    program = folder / "sim"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("FOREBAY_SIM", str(program))
    return Runner()("laptop", "forebay", {})


def test_a_simulator_that_complains_at_length_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # timeout(1) ends a script that would hang, before it prints its last words.
    script = (
        "exec timeout 20 sh -c 'yes complaint | head -c 200000 >&2; echo last words >&2; exit 3'"
    )
    with pytest.raises(SimulationError, match="last words"):
        run_instead(script, folder=tmp_path, monkeypatch=monkeypatch)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('{"error": "Input/output error", "wrong_bytes": 0}', "Input/output error"),
        ('{"error": "", "wrong_bytes": 3}', "3 bytes"),
    ],
)
def test_a_run_that_failed_is_not_in_a_table(
    said: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SimulationError, match=why):
        run_instead(f"echo '{said}'", folder=tmp_path, monkeypatch=monkeypatch)
