"""Escapes names and programs' output for display, as `ls -b` does. A name may hold any byte but "/"
and NUL, also terminal control sequences (native twin: src/foundation/base/printable.hpp)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath

_LETTERS = {7: "a", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t", 11: "v"}


def printable(text: str) -> str:
    """The text with non-printable characters escaped, so that it cannot control the terminal."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def printable_lines(text: str) -> str:
    """As `printable`, but the text stays divided into lines."""
    return "\n".join(printable(line) for line in text.split("\n"))


def printable_name(name: str | PurePath) -> str:
    """A name as `ls -b` shows it: blanks and backslashes are escaped as well, so that its end and
    its bytes are unambiguous."""
    text = str(name).replace("\\", "\\\\").replace(" ", "\\ ")
    return printable(text)


def shell_words(words: Sequence[str]) -> str:
    """A command line for a shell, which may contain non-printable names."""
    return " ".join(
        shlex.quote(word) if word.isprintable() else f"$'{_in_quotes(word)}'" for word in words
    )


def _in_quotes(word: str) -> str:
    return printable(word.replace("\\", "\\\\").replace("'", "\\'"))


def _escaped(one: str) -> str:
    try:
        data = one.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone UTF-16 surrogate, from JSON
        data = one.encode("utf-8", "surrogatepass")
    return "".join(f"\\{_LETTERS[byte]}" if byte in _LETTERS else f"\\{byte:03o}" for byte in data)
