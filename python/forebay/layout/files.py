"""The port Layouts, over the native program forebay-layout, which is beside the libraries."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forebay.common.files.decoding import decoded
from forebay.common.model.errors import LayoutError, SetupError, UsageError
from forebay.layout.model import Layout, LayoutChange, WantedLayout
from forebay.ports import LibraryFinder

PROGRAM_NAME = "forebay-layout"
SCHEMA = "forebay.layout/1"
_SECONDS_MAX = 60
_ANSWERED = {0, 1}
_WRONG_ARGUMENTS = 2


class LayoutProgram:
    """The port Layouts, over the native program."""

    def __init__(self, libraries: LibraryFinder) -> None:
        self._libraries = libraries

    def show(self, path: Path) -> Layout:
        """The layout of a file, or that of new files in a directory."""
        return _layout(self._ask("show", str(path)))

    def set(self, path: Path, wanted: WantedLayout) -> LayoutChange:
        """Sets the layout of `path`, and creates a missing file."""
        numbers = (wanted.stripe_count, wanted.stripe_bytes, wanted.first_ost)
        line = self._ask("set", str(path), *(str(number) for number in numbers), wanted.pool)
        return decoded(LayoutChange, line, layout=_layout(line))

    def _ask(self, *words: str) -> Mapping[str, Any]:
        program = self._libraries.find().folder / PROGRAM_NAME
        try:
            done = subprocess.run(
                [str(program), *words],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS_MAX,
                check=False,
            )
        except FileNotFoundError as error:
            raise SetupError(
                f"cannot look at layouts ({program} is missing). Build it (`make build`)."
            ) from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LayoutError(
                f"cannot look at the layout of {words[1]} ({error}). Does its file system answer?"
            ) from error
        return _answer(done, words[1])


def _answer(done: subprocess.CompletedProcess[str], path: str) -> Mapping[str, Any]:
    try:
        line = json.loads(done.stdout) if done.returncode in _ANSWERED else None
    except ValueError:
        line = None
    if not isinstance(line, dict) or line.get("schema") != SCHEMA:
        said = done.stderr.strip().removeprefix(f"{PROGRAM_NAME}: ") or f"status {done.returncode}"
        if done.returncode == _WRONG_ARGUMENTS and done.stderr:
            raise UsageError(said)
        raise LayoutError(
            f"cannot look at the layout of {path} ({PROGRAM_NAME}: {said}). "
            "Is it of the same version?"
        )
    if "error" in line:
        raise LayoutError(str(line["error"]))
    return line


def decode_layout(text: str) -> Layout:
    """Decodes a line of forebay-layout. Raises LayoutError if it says why there is no layout."""
    return _layout(_answer(subprocess.CompletedProcess([], 0, text, ""), ""))


def _layout(line: Mapping[str, Any]) -> Layout:
    return decoded(Layout, line, names={"origin": "from"})
