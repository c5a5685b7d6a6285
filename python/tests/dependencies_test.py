"""The packages that an installed tree gets beside the command, where pip can have them and where
not."""

import importlib.util
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location(
    "dependencies", ROOT / "packaging" / "dependencies.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
dependencies = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(dependencies)

PROJECT = ROOT / "pyproject.toml"
EXTRAS = ("html", "tuning")


class Pip:
    """Has all packages but some, and notes what it was asked for."""

    def __init__(self, *lacking: str) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._lacking = lacking

    def __call__(self, packages: Sequence[str], folder: Path) -> None:
        self.asked.append(tuple(packages))
        if any(one.startswith(self._lacking) for one in packages if self._lacking):
            raise subprocess.CalledProcessError(1, ["pip"])


def names(packages: Sequence[str]) -> set[str]:
    return {one.partition(">")[0] for one in packages}


def test_the_extra_of_tuning_has_what_reports_of_darshan_logs_need() -> None:
    assert {"typer", "rich", "numpy", "darshan", "jinja2"} <= names(
        dependencies.requirements(PROJECT, EXTRAS)
    )


def test_the_installed_tree_asks_for_both_extras() -> None:
    text = (ROOT / "cmake" / "install.cmake").read_text(encoding="utf-8")
    assert "set(FOREBAY_INSTALL_EXTRAS html tuning" in text


def test_all_is_asked_for_at_once(tmp_path: Path) -> None:
    pip = Pip()
    assert dependencies.install_what_can_be_had(PROJECT, EXTRAS, tmp_path, by=pip) == ()
    assert len(pip.asked) == 1


def test_a_machine_without_pydarshans_library_gets_all_the_rest(tmp_path: Path) -> None:
    pip = Pip("darshan")
    missing = dependencies.install_what_can_be_had(PROJECT, EXTRAS, tmp_path, by=pip)
    assert missing == ("tuning",)
    assert "jinja2" in names(pip.asked[-1])


def test_the_command_itself_has_to_be_had(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        dependencies.install_what_can_be_had(PROJECT, EXTRAS, tmp_path, by=Pip("typer"))
