"""Thousands of random operations by several processes, against a model."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

PROGRAM = pooled.SOURCES / "random_operations.py"
MIDDLING: Mapping[str, str] = {"pool_quiet": "3", "pool_window": "2 MiB", "pool_cap": "64 MiB"}
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "kept": pooled.KEPT,
    "eager": pooled.EAGER,
    "middling": MIDDLING,
}


def _runs() -> Iterator[ParameterSet]:
    for seed in range(1, 10):
        for name, settings in SETTINGS.items():
            full = seed > 1
            yield pytest.param(
                *(seed, 20_000 if full else 3000, settings),
                id=f"{name}-{seed}",
                marks=FULL if full else (),
            )


@pytest.mark.parametrize(("seed", "count", "settings"), list(_runs()))
def test_operations(seed: int, count: int, settings: Mapping[str, str], folder: Path) -> None:
    command = [sys.executable, PROGRAM, seed, count, folder / "expected"]
    with pooled.pool(folder, settings) as served:
        said = pooled.run(command, served.folder, served.environment(), seconds_max=600)
        ensure(said.split() == ["ok"], said)
        ensure(served.taken() > 0, "nothing was deposited")
    found, expected = served.folder, folder / "expected"
    names = {path.name for path in found.iterdir()} | {path.name for path in expected.iterdir()}
    for name in sorted(names):
        ensure((found / name).exists() and (expected / name).exists(), f"{name} is not in both")
        same = (found / name).read_bytes() == (expected / name).read_bytes()
        ensure(same, f"{name} has other bytes than it should have")


def test_model(folder: Path) -> None:
    """The model is right: plain files behave like that."""
    plain = folder / "plain"
    plain.mkdir()
    said = pooled.run([sys.executable, PROGRAM, 7, 4000, folder / "expected"], plain, {})
    ensure(said.split() == ["ok"], said)
