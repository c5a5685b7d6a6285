"""Explains the field's words where a report's text uses them for the first time."""

from __future__ import annotations

import re

_MEANINGS = {
    "aggregator": (
        "a rank that reads or writes on behalf of others",
        "ranks that read or write on behalf of others",
    ),
    "OST": ("a storage target of Lustre", "storage targets of Lustre"),
    "ROMIO": ("the part of MPI libraries that does MPI-IO",) * 2,
}
"""For a word, its meaning in the singular and in the plural."""
_WORDS = re.compile(rf"\b({'|'.join(_MEANINGS)})(s?)\b(?!_)")


class Explained:
    """Texts of one report, one after the other. A word that is followed by a parenthesis is
    explained by that."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, text: str) -> str:
        """The text with the meaning behind each word that no earlier text had."""
        return _WORDS.sub(self._explain, text)

    def _explain(self, found: re.Match[str]) -> str:
        word, plural = found.groups()
        if word in self._known:
            return found.group()
        self._known.add(word)
        if found.string[found.end() :].startswith(" ("):
            return found.group()
        return f"{found.group()} ({_MEANINGS[word][bool(plural)]})"
