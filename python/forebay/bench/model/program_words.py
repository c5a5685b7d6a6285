"""Reads the two facts that Forebay must know from a benchmark's own words: the file for the result,
and whether some ranks stay out. Everything else in them is the program's business."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from forebay.bench.model.command_line import Tool

JSON_OPTION = "--json"
RESULT_OPTION = "--result"
"""As the program's first word: --json for us, which it leaves out of the command that it shows."""
HPIO_FLAGS = "BehkE"
FlagLetters = Mapping[Tool, str]
"""Letters of options without a value: they may stand before another one in its word, as in
-wO json=f."""


def json_file(tool: Tool, words: Sequence[str], letters: FlagLetters) -> Path | None:
    """Where the program will write its result; None when the words do not say. The last one
    counts, for the programs, too."""
    given = None
    for word, following in _options(words):
        for value in _json_values(tool, word, following, letters):
            given = Path(value)
    return given


def leaves_ranks_out(tool: Tool, words: Sequence[str], letters: FlagLetters) -> bool:
    """Whether fewer ranks than were started may take part: IOR's -N, and what may say the same
    (-O, scripts)."""
    return tool is Tool.IOR and any(
        word.lower().startswith(("--numtasks", "--scriptfile"))
        or _letter(letters[tool], "[NOf]", word)
        for word, _ in _options(words)
    )


def _options(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Each word with the one behind it; what stands behind -- is no option."""
    end = list(words).index("--") if "--" in words else len(words)
    for at in range(end):
        yield words[at], words[at + 1] if at + 1 < len(words) else None


def _json_values(
    tool: Tool, word: str, following: str | None, letters: FlagLetters
) -> Iterator[str]:
    name, equals, attached = word.partition("=")
    value = attached if equals else following
    if value is not None and (name.lower() if tool is Tool.IOR else name) == JSON_OPTION:
        yield value
    if tool is Tool.IOR:
        yield from _json_directives(_value_of(letters[tool], "O", word, following) or "")
    if tool is Tool.HPIO:
        folder = value if name == "--output_dir" else _value_of(letters[tool], "o", word, following)
        if folder is not None:
            yield f"{folder}/hpio.json"


def _json_directives(text: str) -> Iterator[str]:
    for directive in text.split(","):
        name, equals, value = directive.partition("=")
        if equals and name.strip().lstrip("-").lower() == "json":
            yield value.strip()


def _value_of(flags: str, letter: str, word: str, following: str | None) -> str | None:
    found = _letter(flags, letter, word)
    if found is None:
        return None
    return found[1] if found[1] or word.endswith("=") else following


def _letter(flags: str, letter: str, word: str) -> re.Match[str] | None:
    return re.fullmatch(rf"-[{flags}]*?{letter}=?(.*)", word, re.DOTALL)
