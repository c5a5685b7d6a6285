"""Tests release.sh on a small repository of its own: the files that say the version."""

import shutil
import subprocess
from pathlib import Path

import pytest
from checks import version

ROOT = Path(__file__).resolve().parents[1]
DATED = "## 0.1.0 (2020-02-29)\nThe first one.\n"


def git(tree: Path, *words: str) -> str:
    own = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(tree), *own, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that release.sh looks at, as version 0.1.0 with a date, and committed."""
    for name in (version.SOURCE, *version.REPEATS, "tools/release.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / version.SOURCE).write_text('__version__ = "0.1.0"\n')
    for name in version.REPEATS:
        path = tmp_path / name
        text = path.read_text().replace(_version_here(), "0.1.0")
        path.write_text(text.replace("forebay.invalid", "forebay.example.org"))
    (tmp_path / "CHANGELOG.md").write_text(DATED)
    for name in version.SHIPPED:
        (tmp_path / name).write_text("\n")
    shutil.copytree(ROOT / "tools/checks", tmp_path / "tools/checks")
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def _version_here() -> str:
    here = version.version_of(ROOT)
    assert here is not None
    return here


def commit(tree: Path) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "Make it")


def release(tree: Path, *words: str) -> tuple[int, str]:
    command = [str(tree / "tools/release.sh"), "--tests", "true", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_what_is_ready_is_tagged_once_and_only_when_told_to(tree: Path) -> None:
    status, said = release(tree)
    assert status == 0, said
    assert git(tree, "tag") == ""
    status, said = release(tree, "--tag")
    assert status == 0, said
    assert git(tree, "tag") == "v0.1.0\n"
    status, said = release(tree, "--tag")
    assert status == 1
    assert "NOT: there is no tag v0.1.0 yet" in said


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("CHANGELOG.md", "## 0.1.0 (not released yet)\n", "CHANGELOG.md has this version's date"),
        ("CHANGELOG.md", "## 0.1.0 (2999-01-01)\n", "2999-01-01 is to come"),
        ("CITATION.cff", "version: 0.0.9\n", "CITATION.cff: version 0.0.9"),
        (
            "CMakeLists.txt",
            "project(forebay VERSION 0.0.9)\n",
            "CMakeLists.txt:1: a second",
        ),
        ("packaging/rpm/forebay.spec", "URL: https://forebay.invalid\n", "stand for addresses"),
    ],
)
def test_what_is_not_ready_is_named(tree: Path, file: str, text: str, told: str) -> None:
    (tree / file).write_text(text)
    commit(tree)
    status, said = release(tree)
    assert status == 1
    assert told in said


def test_neither_uncommitted_changes_nor_failing_tests_are_released(tree: Path) -> None:
    (tree / "new").touch()
    assert "?? new" in release(tree)[1]
    (tree / "new").unlink()
    status, said = release(tree, "--tests", "echo it broke; false", "--tag")
    assert (status, git(tree, "tag")) == (1, "")
    assert "it broke" in said


def test_an_older_version_is_not_released(tree: Path) -> None:
    git(tree, "tag", "v0.10.0")
    assert "there is v0.10.0 already" in release(tree)[1]
