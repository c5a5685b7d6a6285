"""A small project to run checks on."""

from pathlib import Path

import pytest

from checks.report import Place

TABLE = """
[[layer]]
name = "base"
uses = []
[[layer]]
name = "ports"
uses = ["base"]
[[layer]]
name = "pattern"
uses = ["base"]
test_uses = ["ports"]
pure = true
[[layer]]
name = "engine"
uses = ["base"]
[[layer]]
name = "adapters/mpi"
uses = ["ports"]
families = true
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A tree with layers.toml, in which the layers have no files yet."""
    (tmp_path / "layers.toml").write_text(TABLE)
    return Place(tmp_path, tmp_path / "build")
