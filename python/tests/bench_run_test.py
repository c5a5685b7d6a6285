"""`forebay bench` with the real programs, where these are built."""

import subprocess
import sys
from pathlib import Path

import pytest

from forebay.common.files.native_libraries import LibraryFolders
from forebay.common.model.errors import SetupError


def bench(*words: str, root: Path, folder: Path) -> str:
    """The output of a benchmark with one rank."""
    try:
        LibraryFolders().find()
    except SetupError:
        pytest.skip("no native libraries")
    done = subprocess.run(
        [
            sys.executable,
            str(root / "python" / "forebay"),
            "bench",
            words[0],
            "-np",
            "1",
            *words[1:],
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 125:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ior -t 64k -b 64k -o f", "Command line        : forebay-ior -t 64k -b 64k -o f\n"),
        ("meta -n 1 -d md", "Command line used: forebay-meta -n 1 -d md\n"),
        ("hpio -n 1111 -m 11 -c 4 -s 64 -d .", " : forebay-hpio -n 1111 -m 11 -c 4 -s 64 -d .\n"),
    ],
)
def test_the_command_line_shows_no_path_of_ours(
    line: str, told: str, tmp_path: Path, root: Path
) -> None:
    printed = bench(*line.split(), root=root, folder=tmp_path)
    assert told in printed
    assert "--result" not in printed


def test_one_repetition_has_no_coverage(tmp_path: Path, root: Path) -> None:
    words = ("ior", "-t", "64k", "-b", "64k", "-o", "f")
    assert "coverage" not in bench(*words, root=root, folder=tmp_path)
    assert "coverage" in bench(*words, "-i", "2", root=root, folder=tmp_path)
