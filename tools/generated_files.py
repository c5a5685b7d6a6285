"""Code that the generators share: they take a table and the folder of what is made of it."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")


def arguments_of(description: str | None) -> argparse.ArgumentParser:
    """With the table and the folder; a generator may have more."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("table", type=Path)
    parser.add_argument("folder", type=Path)
    return parser


def write_files(folder: Path, made: Mapping[str, Callable[[_T], str]], rows: _T) -> None:
    """Each file by its function of the table's rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in made.items():
        (folder / name).write_text(make(rows), encoding="utf-8")
