"""Layouts: the example that both languages decode, and the command with an imagined program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forebay.common.files.native_libraries import STUB_NAME, LibraryFolders
from forebay.common.model.errors import LayoutError, SetupError, UsageError
from forebay.layout.files import PROGRAM_NAME, LayoutProgram, decode_layout
from forebay.layout.model import WantedLayout


@pytest.fixture
def example(root: Path) -> list[str]:
    return (root / "schema" / "examples" / "layout-1.jsonl").read_text().splitlines()


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    folder = tmp_path / "libraries"
    folder.mkdir()
    (folder / STUB_NAME).touch()
    return folder


def put_program(libraries: Path, answer: str, status: int = 0) -> Path:
    """Answers always the same; leaves its arguments in `asked`."""
    asked = libraries / "asked"
    (libraries / "answer").write_text(answer)
    program = libraries / PROGRAM_NAME
    program.write_text(
        f'#!/bin/sh\nprintf "%s|" "$@" > {asked}\ncat {libraries}/answer\nexit {status}\n'
    )
    program.chmod(0o755)
    return asked


def command(libraries: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "forebay", "layout", *words],
        env={**os.environ, "FOREBAY_LIBDIR": str(libraries)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_example_is_decoded(example: list[str]) -> None:
    layout = decode_layout(example[0])
    assert (layout.file_system, layout.targets, layout.stripe_bytes) == ("lustre", 3, 1 << 20)
    first, second = layout.components
    assert (first.placement, first.end, first.chosen) == ("metadata", 1 << 20, False)
    assert (second.osts, second.pool, second.end) == ((4, 1, 7), "flash", None)
    with pytest.raises(LayoutError, match="cannot look at /nowhere"):
        decode_layout(example[1])


def test_newer_formats_are_refused(example: list[str]) -> None:
    with pytest.raises(LayoutError, match="same version"):
        decode_layout(example[0].replace("layout/1", "layout/2"))


def test_show_as_text(libraries: Path, example: list[str]) -> None:
    put_program(libraries, example[0])
    done = command(libraries, "show", "/scratch/restart")
    assert done.returncode == 0, done.stderr
    assert "lustre: 3 targets, stripes of 1 MiB" in done.stdout
    assert "with the metadata" in done.stdout
    assert "4,1,7" in done.stdout


def test_show_as_json_keeps_every_key(libraries: Path, example: list[str]) -> None:
    put_program(libraries, example[0])
    shown = json.loads(command(libraries, "show", "/x", "--format", "json").stdout)
    wanted = json.loads(example[0])
    assert {**shown, "made": True, "complaint": wanted["complaint"]} == wanted


def test_set_asks_and_complains(libraries: Path, example: list[str]) -> None:
    asked = put_program(libraries, example[0], status=1)
    done = command(libraries, "set", "-c", "8", "-S", "1m", "/scratch/restart")
    assert done.returncode == 1
    assert asked.read_text() == "set|/scratch/restart|8|1048576|-1||"
    assert "3 stripes instead of 8 stripes" in done.stderr
    assert "3 targets" in done.stdout


def test_set_over_all_targets(libraries: Path, example: list[str]) -> None:
    asked = put_program(libraries, example[0].replace("/scratch/restart is not", "no"))
    command(libraries, "set", "-c", "all", "-i", "2", "--pool", "flash", "f")
    assert asked.read_text() == "set|f|-1|0|2|flash|"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set", "f"), "none is asked for"),
        (("set", "-c", "0", "f"), "not a count of targets"),
        (("set", "-c", "many", "f"), "not a count of targets"),
        (("set", "-S", "big", "f"), "not a size"),
        (("set", "-c", "99999999999", "f"), "Give 1 to 65536, or all"),
        (("set", "-c", "9" * 5000, "f"), "Give 1 to 65536, or all"),
        (("set", "-S", "99999999999999999999", "f"), "from 64k to below 4g"),
        (("set", "-S", "4g", "f"), "from 64k to below 4g"),
        (("set", "-i", "99999999999", "f"), "Give 0 to 65534, or -1 for any"),
        (("set", "-i", "-2", "f"), "Give 0 to 65534"),
        (("set", "-c", "2", ""), "it is empty"),
        (("show", ""), "it is empty"),
    ],
)
def test_wrong_options(libraries: Path, words: tuple[str, ...], said: str) -> None:
    done = command(libraries, *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_what_cannot_be_asked(libraries: Path, example: list[str]) -> None:
    finder = LibraryFolders(environment={"FOREBAY_LIBDIR": str(libraries)})
    layouts = LayoutProgram(finder)
    with pytest.raises(SetupError, match="forebay-layout is missing"):
        layouts.show(Path("/x"))
    put_program(libraries, "Segmentation fault", status=139)
    with pytest.raises(LayoutError, match="status 139"):
        layouts.show(Path("/x"))
    (libraries / "errors").write_text("forebay-layout: cannot use X (it is 7). Give 1.\n")
    (libraries / PROGRAM_NAME).write_text(f"#!/bin/sh\ncat {libraries}/errors >&2\nexit 2\n")
    with pytest.raises(UsageError, match=r"^cannot use X \(it is 7\)\. Give 1\.$"):
        layouts.show(Path("/x"))
    put_program(libraries, example[1], status=1)
    with pytest.raises(LayoutError, match="No such file"):
        layouts.set(Path("/nowhere"), WantedLayout(stripe_count=3))
