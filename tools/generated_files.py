"""The common part of the code generators: each reads a table and writes files into a folder."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")


def arguments_of(description: str | None) -> argparse.ArgumentParser:
    """A parser for the arguments that all generators have: the table and the folder."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("table", type=Path)
    parser.add_argument("folder", type=Path)
    return parser


def write_files(folder: Path, made: Mapping[str, Callable[[_T], str]], rows: _T) -> None:
    """Writes the files in `made`, each with the text that its function makes of `rows`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in made.items():
        (folder / name).write_text(make(rows), encoding="utf-8")
