"""Finds where a document says that a file defines a symbol (`symbol` in `path`, `symbol` (`path`)),
and whether the file does."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_SYMBOL = r"`[A-Za-z_][\w:.]*(?:\(\))?`"
_SAID = re.compile(
    rf"((?:{_SYMBOL},\s+)*(?:{_SYMBOL}\s+(?:and|or)\s+)?{_SYMBOL})"
    r"\s+(?:in\s+|\()`([\w./-]+/[\w.-]+\.(?:cpp|hpp|h|c|py))`"
)
_NAME = re.compile(r"`([\w:.]+)(?:\(\))?`")
_SUFFIX = re.compile(r"\.(?:cpp|hpp|h|c|py|sh|toml)$")
# A line of C++ at namespace level that opens a definition, and not a call or a declaration.
_NO_DEFINITION = re.compile(r"^(?:\s|//|#|return\b|using namespace\b|\})")


def said(text: str) -> Iterator[tuple[str, str]]:
    """Each symbol of which the text says that a file defines it, and that file's path. Only paths
    with a folder count: a file's name alone stands for one beside another."""
    for symbols, path in _SAID.findall(text):
        for name in _NAME.findall(symbols):
            if not _SUFFIX.search(name):
                yield name, path


def files_of(root: Path, path: str) -> Sequence[Path]:
    """The files that a document may mean: a path from the root, from src/, or from a product's
    folder below it (which of them, the text around it says)."""
    bases = (root, root / "src", *sorted((root / "src").glob("*/")))
    return [base / path for base in bases if (base / path).is_file()]


def _in_python(name: str, lines: Sequence[str]) -> bool:
    """A function, class, variable or field, or a text that begins so and serves as a name."""
    variable = rf"^\s*{name}(?::.*)? =|^\s*{name}: "
    opening = re.compile(rf"^\s*(?:(?:async )?def|class) {name}\b|{variable}|\"{name}\"")
    return any(opening.search(line) for line in lines)


def _in_source(name: str, lines: Sequence[str]) -> bool:
    word = re.compile(rf"\b{name}\b")
    definitions = (line for line in lines if not _NO_DEFINITION.match(line))
    return any(word.search(line) and not line.rstrip().endswith(";") for line in definitions)


def _in_header(name: str, lines: Sequence[str]) -> bool:
    word = re.compile(rf"\b{name}\b")
    return any(word.search(line) for line in lines if not line.lstrip().startswith("//"))


def defines(file: Path, symbol: str) -> bool:
    """Whether the file defines the symbol. In a C++ source that is a line at namespace level with
    the last part of the symbol; in a header, any line that is no comment."""
    *scopes, name = re.split(r"::|\.", symbol)
    text = file.read_text(encoding="utf-8")
    if not all(re.search(rf"\b{scope}\b", text) for scope in scopes):
        return False
    found = {".py": _in_python, ".cpp": _in_source, ".c": _in_source}.get(file.suffix, _in_header)
    return found(name, text.splitlines())


def missing(root: Path, text: str) -> Iterator[tuple[str, str]]:
    """Each symbol that a document puts into a file that does not define it, and the path."""
    for symbol, path in said(text):
        if not any(defines(file, symbol) for file in files_of(root, path)):
            yield symbol, path
