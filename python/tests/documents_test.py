"""Every `forebay …` line that the documents show has options that there are."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import typer

from forebay.application import application
from forebay.bench.model.command_line import (
    LAUNCHING,
    SHOWING,
    Tool,
    configuration,
    split,
    two_sides,
)
from forebay.common.files.native_libraries import LibraryFolders
from forebay.common.model.errors import SetupError
from forebay.common.model.program import Family

ROOT = Path(__file__).resolve().parents[2]
GOOD, REFUSED = 0, 5  # by the budget: this machine may lack the room
_FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def shown() -> list[str]:
    """The lines of all shell blocks, without comments."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    blocks = [found for path in documents for found in _FENCE.findall(path.read_text("utf-8"))]
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return sorted({line for line in lines if line.startswith("forebay ")})


def test_there_are_such_lines() -> None:
    assert len(shown()) > 5


@pytest.mark.parametrize("line", shown())
def test_the_command_takes_its_words(line: str, tmp_path: Path) -> None:
    words = shlex.split(line, comments=True)[1:]
    ends = (at for at, word in enumerate(words) if word in {">", ">>", "|", "&"})
    words = words[: next(ends, len(words))]
    if words[0] == "bench":
        dry_run(words[1:], tmp_path)
        return
    command = typer.main.get_command(application())
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context("forebay", words)


def dry_run(words: list[str], folder: Path) -> None:
    """The native programs say what they would do."""
    if words[0] == "compare":
        sides = two_sides(words[words.index("ior") :])
    else:
        ours = split(words, {**LAUNCHING, **SHOWING})
        sides = (configuration(ours.rest, side="A"),)
    for side in sides:
        placed = [word.replace("/scratch", str(folder)) for word in side.words]
        done = subprocess.run(
            [program(side.tool), "--dry-run", *placed],
            capture_output=True,
            text=True,
            cwd=folder,
            check=False,
        )
        assert "stimate" in done.stdout, done.stderr
        assert done.returncode in (GOOD, REFUSED)


def program(tool: Tool) -> Path:
    """For any MPI: a single rank needs no launcher."""
    try:
        folder = LibraryFolders().find().folder
    except SetupError as error:
        pytest.skip(str(error))
    for family in (Family.MPICH, Family.OPEN_MPI):
        if (folder / family.value / tool.program).is_file():
            return folder / family.value / tool.program
    pytest.skip(f"no {tool.program} is built here")
