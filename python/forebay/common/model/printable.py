"""Escapes names and programs' output for display, as `ls -b` does: a name may hold any byte but "/"
and zero, also those that steer a terminal (native: src/foundation/base/printable.hpp)."""

import shlex
from collections.abc import Sequence
from pathlib import PurePath

_LETTERS = {7: "a", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t", 11: "v"}


def printable(text: str) -> str:
    """A text with names in it, without what would steer a terminal."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def printable_lines(text: str) -> str:
    """The same of several lines, which stay lines."""
    return "\n".join(printable(line) for line in text.split("\n"))


def printable_name(name: str | PurePath) -> str:
    """A name as `ls -b` shows it: blanks and backslashes are escaped, too, so that it can be told
    where it ends and which bytes it has."""
    text = str(name).replace("\\", "\\\\").replace(" ", "\\ ")
    return printable(text)


def shell_words(words: Sequence[str]) -> str:
    """A command that can be given to a shell, also one with names that cannot be shown."""
    return " ".join(
        shlex.quote(word) if word.isprintable() else f"$'{_in_quotes(word)}'" for word in words
    )


def _in_quotes(word: str) -> str:
    return printable(word.replace("\\", "\\\\").replace("'", "\\'"))


def _escaped(one: str) -> str:
    try:
        data = one.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, from JSON
        data = one.encode("utf-8", "surrogatepass")
    return "".join(f"\\{_LETTERS[byte]}" if byte in _LETTERS else f"\\{byte:03o}" for byte in data)
